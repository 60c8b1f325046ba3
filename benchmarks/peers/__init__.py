"""What people would use instead of fairlane, each a small honest application of its own: `bench_peers` measures them.

Every one screens the same texts by the same detector and stores what fairlane stores of a result in one row, through
the same database layer (`work`); what differs is how a text comes to a worker. Each is set up as its documents advise.
"""
