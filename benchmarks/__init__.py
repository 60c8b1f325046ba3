"""What things cost, measured: never in the default run, but each is run once, tiny, by the tests."""
