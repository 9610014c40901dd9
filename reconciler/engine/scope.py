"""One cluster in one tick: the record that every step of the tick reads and fills.

`journal_at`: of the newest line that was read. `nothing_here`: there is neither folder nor journal, and nothing of ours
was seen; nothing is written about it. `intended`: when the intents of this tick were written.
`policy_at`: the commit whose policy judges, where that is not `head`: then nothing of this scope is kept for the next.
`passing`: what was approved for this cluster and has not expired.
Who sets what: `open` cluster, head, revision, input, memory; `load` folder, desired, previous, policy; `look` world,
observed; `planning` plan; `gate` held; `act` drafts; `record` lines.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.desired.build import Desired
from reconciler.engine.approvals import Approvals
from reconciler.engine.library import Folder
from reconciler.engine.memory import Memory
from reconciler.engine.trouble import Trouble
from reconciler.journal.lines import Pen
from reconciler.plan.approvals import Passing
from reconciler.plan.gates import Fleet, Held, Limits
from reconciler.plan.once import Due
from reconciler.resources.handler import World
from schemas.errors import InstantStartError
from schemas.journal import ClusterStatus
from schemas.once import Operation
from schemas.plan import Plan
from schemas.resource import Observed, Resource
from schemas.secrets import mask_secrets

LATE = 45.0  # with a call's timeout less than any settle time
_TOLD = frozenset({"msg", "why", "subject", "by", "do"})


@dataclass(kw_only=True)
class Scope:
    """See the module. `input` None: the folder is not there. `desired` None: nothing may be planned (problems)."""

    cluster: str
    head: str
    revision: str
    input: str | None
    memory: Memory
    pen: Pen
    journal_at: str = ""
    rewritten: bool = False
    folder: Folder | None = None
    desired: Desired | None = None
    previous: dict[str, Resource] = field(default_factory=dict[str, Resource])
    moved_fields: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    baseline: frozenset[str] = frozenset()
    account: str = ""
    region: str = ""
    earlier: dict[str, Operation] = field(default_factory=dict[str, Operation])
    unprotected: bool = False
    limits: Limits = field(default_factory=Limits)
    hold_counts: bool = False
    policy_at: str | None = None
    policy_problem: str | None = None
    world: World | None = None
    observed: dict[str, Observed] = field(default_factory=dict[str, Observed])
    blind: InstantStartError | None = None
    due: Due = field(default=Due(keys=frozenset(), late=()))
    plan: Plan | None = None
    fleet: Fleet = field(default_factory=Fleet)
    approvals: Approvals | None = None
    passing: Passing = field(default_factory=Passing)
    held: dict[str, Held] = field(default_factory=dict[str, Held])
    undrafted: dict[str, InstantStartError] = field(default_factory=dict[str, InstantStartError])
    problem: str | None = None
    nothing_here: bool = False
    intended: tuple[float, float] | None = None
    sent: int = 0
    moved: bool = False

    @property
    def is_late(self) -> bool:
        """More than LATE real seconds since the intents of this tick were written. The world's clock may have stood
        still with the machine, so both count."""
        if self.intended is None or self.world is None:
            return False
        clock, (then, really) = self.world.clock, self.intended
        return (clock.now().timestamp() - then) / clock.rate > LATE or time.time() - really > LATE

    def mark_intents(self) -> None:
        if self.world is not None:
            self.intended = self.world.clock.now().timestamp(), time.time()

    @property
    def status(self) -> ClusterStatus:
        """The journal folded, the lines of this tick included."""
        return self.memory.fold.status()

    def write(self, t: str, say: str, *, revision: str | None = None, **fields: Any) -> Mapping[str, Any]:
        """Add a line to this tick's lines and take it into the fold at once. What others said (an error, a person's
        why) may hold what looks like a secret; it never gets into a note."""
        told = {k: mask_secrets(v) if k in _TOLD and isinstance(v, str) else v for k, v in fields.items()}
        line = self.pen.write(revision or self.revision, t, mask_secrets(say), **told)
        self.memory.feed(self.pen.lines[-1][1])
        self.moved = True
        return line

    def give_up(self, trouble: Trouble) -> None:
        """Nothing of this tick is written or sent for this cluster, its status says why, and its journal is read
        again."""
        self.problem = str(trouble)
        self.pen.lines = []
        self.memory.distrust()
        self.memory.trouble = trouble

    def resource(self, key: str) -> Resource | None:
        """A resource wanted now, or wanted before."""
        wanted = self.desired.resources.get(key) if self.desired is not None else None
        return wanted or self.previous.get(key)
