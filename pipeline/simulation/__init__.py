"""Discrete events on a virtual clock that drive the queue's own scripts, and the bounds that must come out."""
