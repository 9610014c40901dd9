"""What the engine remembers of a cluster between ticks. Losing it loses nothing but time: it is all made again from
the journal and from looking."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.journal.fold import Fold
from schemas.journal import ClusterStatus
from schemas.plan import Plan
from schemas.resource import Observed
from schemas.values import JsonObject

UNREAD = "unread"  # no notes commit has this name


@dataclass(kw_only=True)
class Memory:
    """`tip`: the notes commit that `fold` has read. `absent_looks`: looks in which an op left no trace. `backoff`:
    refusals in a row per op, `not_before` until when it rests. `certain`: ops whose newest sending certainly did
    nothing; `outcomes`: what replies said that is not in the journal yet; `problems`: ticks in a row in which
    nothing could be done; `last_sent`: when any other was sent last, as far as this process knows, which began at
    `born`. `missing_since`: since when something that the journal says we made is not to be seen. `looked`: when
    the newest complete look ended (simulated epoch seconds), `seen` what it saw. `confirmed`: the newest journal
    that was read whole or written; `lost`: why it no longer is all there, until the journal itself says so;
    `lost_tip`: the commit that holds what was lost, until somebody puts it back or orders to go on without it.
    `unknown_told`: stages that are Unknown, with each reason that was told. `nothing_left`:
    the revision without the folder at which nothing of ours was found."""

    cluster: str
    tip: str | None = None
    fold: Fold
    absent_looks: dict[str, int] = field(default_factory=dict[str, int])
    backoff: dict[str, int] = field(default_factory=dict[str, int])
    not_before: dict[str, str] = field(default_factory=dict[str, str])
    certain: set[str] = field(default_factory=set[str])
    outcomes: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    problems: int = 0
    last_sent: dict[str, float] = field(default_factory=dict[str, float])
    missing_since: dict[str, float] = field(default_factory=dict[str, float])
    born: float = 0.0
    failed_looks: int = 0
    unseen_since: float | None = None
    unknown_told: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    looked: float | None = None
    seen: dict[str, Observed] = field(default_factory=dict[str, Observed])
    plan: Plan | None = None
    wake: float = 0.0
    head: str | None = None
    confirmed: str | None = None
    lost: str | None = None
    lost_tip: str | None = None
    nothing_left: str | None = None

    def status(self) -> ClusterStatus:
        return self.fold.status()

    def distrust(self) -> None:
        """The fold may be ahead of the journal: read it again before anything is built on it."""
        self.tip = UNREAD

    def forget_ended(self) -> None:
        """Only open ops need to be remembered."""
        open_ops = self.fold.open_ops.keys()
        for kept in (self.absent_looks, self.backoff, self.not_before, self.last_sent, self.outcomes):
            for op in kept.keys() - open_ops:
                del kept[op]
        self.certain &= open_ops
