"""What happens around every task, in this order; `before` hooks run down the list, `after` hooks up.

1. survivor      gives up what a worker held that died here, which need not wait until our engine is warm
2. warm_up       the engine stands before the worker is announced or claims anything
3. backpressure  measures the host before it is announced; before lease: what it hands back was never started
4. capability    holds what this worker cannot do, by what was measured, before it is announced
5. presence      announces the worker, and stops claiming first when it shuts down
6. lease         starts the attempt; a lease that is gone by now skips the rest
7. traces        below lease, which tells whose trace it is; above outcome, whose writes belong to the span
8. forced_stop   has no hook around a task; it stands with the lease, whose end it is
9. counting      counts what outcome has decided
10. outcome      decides with the cost known: on the way out it comes after measure
11. measure      closest to the work, so that it times the work alone
"""

from pipeline.middleware.backpressure import Backpressure
from pipeline.middleware.capability import Capability
from pipeline.middleware.counting import Counting
from pipeline.middleware.forced_stop import ForcedStop
from pipeline.middleware.lease import LeaseRenewal
from pipeline.middleware.measure import Measure
from pipeline.middleware.outcome import Outcome, RetryRules
from pipeline.middleware.presence import Presence
from pipeline.middleware.survivor import Survivor
from pipeline.middleware.traces import AttemptTraces
from pipeline.middleware.warm_up import WarmUp

__all__ = [
    "AttemptTraces",
    "Backpressure",
    "Capability",
    "Counting",
    "ForcedStop",
    "LeaseRenewal",
    "Measure",
    "Outcome",
    "Presence",
    "RetryRules",
    "Survivor",
    "WarmUp",
]
