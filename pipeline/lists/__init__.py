"""Lists of words: read, checked, kept in versions, published, and followed by every process that screens."""
