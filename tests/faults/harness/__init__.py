"""Faults on purpose against a running fairlane, and a count of everything from the outside afterwards."""
