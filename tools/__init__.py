"""Programs for those who work on fairlane; none of them is needed to run it."""
