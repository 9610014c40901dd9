"""What the engine remembers of a cluster between ticks. Losing it loses nothing but time: it is all made again from
the journal and from looking."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.journal.fold import Fold
from schemas.journal import ClusterStatus
from schemas.plan import Plan
from schemas.resource import Observed


@dataclass(kw_only=True)
class Memory:
    """`tip`: the notes commit that `fold` has read. `absent_looks`: looks in which an op left no trace. `backoff`:
    refusals in a row per op, `not_before` until when it rests. `looked`: when the newest complete look ended
    (simulated epoch seconds), `seen` what it saw."""

    cluster: str
    tip: str | None = None
    fold: Fold
    absent_looks: dict[str, int] = field(default_factory=dict[str, int])
    backoff: dict[str, int] = field(default_factory=dict[str, int])
    not_before: dict[str, str] = field(default_factory=dict[str, str])
    failed_looks: int = 0
    unseen_since: float | None = None
    looked: float | None = None
    seen: dict[str, Observed] = field(default_factory=dict[str, Observed])
    plan: Plan | None = None
    wake: float = 0.0
    head: str | None = None
    highest_seq: int = 0

    def status(self) -> ClusterStatus:
        return self.fold.status()
