"""Runs the processes of the Procfile on one machine: starts, watches, restarts and stops them."""
