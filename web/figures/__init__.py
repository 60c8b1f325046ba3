"""What `/metrics` tells, read from what all processes share: the queue, the database, the counts of all processes."""
