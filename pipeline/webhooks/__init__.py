"""Announcements over HTTP: signed as Standard Webhooks asks, sent to checked addresses only."""
