"""What the engine remembers of a cluster between ticks. Losing it loses nothing but time: it is all made again from
the journal and from looking."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar, cast

from reconciler.engine.trouble import Trouble
from reconciler.journal.fold import Fold
from schemas.journal import ClusterStatus
from schemas.plan import Plan
from schemas.resource import Observed
from schemas.values import JsonObject

UNREAD = "unread"  # no notes commit has this name
_Record = TypeVar("_Record", bound=Any)


@dataclass(kw_only=True)
class Memory:
    """`tip`: the notes commit that `fold` has read; `durable`: the fold without the lines that were written since and
    that the journal has not taken, where there are any. `trouble`: why it was left alone in the newest tick.
    `absent_looks`: looks in which an op left no trace. `backoff`:
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
    durable: Fold | None = None
    trouble: Trouble | None = None
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
        """What the journal says, whatever a tick has written meanwhile; and of a cluster that could not be worked on,
        that, before anything green."""
        told = (self.durable or self.fold).status()
        return told if self.trouble is None else self.trouble.over(told, self.problems)

    def feed(self, line: str) -> None:
        """Take a line that was written and that the journal does not have yet."""
        self.durable = self.durable or shallow(self.fold)
        self.fold.feed(line)

    def accepted(self, tip: str | None) -> None:
        """The journal has taken all of them; it stands at `tip` now."""
        self.tip = self.confirmed = tip
        self.durable = None

    def distrust(self) -> None:
        """What was written counts for nothing, and others may have written: the journal is read again before
        anything is built on it."""
        self.fold, self.durable = self.durable or self.fold, None
        self.tip = UNREAD

    def copied(self) -> Self:
        """One of its own for somebody who looks ahead."""
        return shallow(dataclasses.replace(self, fold=shallow(self.fold)))

    def forget_ended(self) -> None:
        """Only open ops need to be remembered."""
        open_ops = self.fold.open_ops.keys()
        for kept in (self.absent_looks, self.backoff, self.not_before, self.last_sent, self.outcomes):
            for op in kept.keys() - open_ops:
                del kept[op]
        self.certain &= open_ops


def shallow(record: _Record) -> _Record:
    """The same dataclass with its own dicts, lists and sets; what is in them never changes."""
    own: dict[str, Any] = {}
    for each in dataclasses.fields(record):
        value: Any = getattr(record, each.name)
        if isinstance(value, dict | list | set):
            own[each.name] = copy.copy(cast("Any", value))
    return dataclasses.replace(record, **own)
