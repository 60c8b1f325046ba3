"""Bytes of an image in, lines of text with boxes out; the engine runs in a child process.

Nothing is imported here: a child starts faster when it loads only what it runs, and the web process needs
`images` without an engine.
"""
