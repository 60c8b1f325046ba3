"""`python -m pipeline` is `fairlane`."""

from pipeline.cli import main

if __name__ == "__main__":
    main()
