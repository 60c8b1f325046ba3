"""Find sensitive words in a text; every hit points into the text as it was given."""
