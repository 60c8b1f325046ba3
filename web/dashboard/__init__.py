"""The dashboard: files that a browser runs, which ask the same HTTP interface as every other client."""
