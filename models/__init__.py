"""The tables and everything that asks them; the only code that talks to the database."""
