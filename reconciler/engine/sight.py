"""What the newest tick saw of a cluster and decided about it, in a record that never changes: readers take it without
waiting for a tick, and nothing they do reaches the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from reconciler.engine.doubt import doubt
from reconciler.engine.library import Folder
from reconciler.engine.scope import Scope
from reconciler.live.clock import iso
from reconciler.plan.gates import Held
from schemas.journal import ClusterStatus
from schemas.plan import Plan
from schemas.resource import Observed, Resource


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """Equal to itself only. `at`: when the tick was over (simulated UTC). `status`: what the journal says and, where
    the tick left it alone, that it did. `certain`: when everything in sight was last seen without a failing look,
    `unseen_since`: since when something cannot be. `blind`: why (reason, message). `problem`: why the tick left the
    cluster alone."""

    cluster: str
    head: str
    revision: str
    at: str
    status: ClusterStatus
    folder: Folder | None
    account: str
    region: str
    desired: Mapping[str, Resource] = field(default_factory=dict[str, Resource])
    previous: Mapping[str, Resource] = field(default_factory=dict[str, Resource])
    observed: Mapping[str, Observed] = field(default_factory=dict[str, Observed])
    plan: Plan | None = None
    held: Mapping[str, Held] = field(default_factory=dict[str, Held])
    certain: str | None = None
    unseen_since: str | None = None
    blind: tuple[str, str] | None = None
    problem: str | None = None
    doubt: str | None = None


def of(scope: Scope, at: str) -> Sight:
    """Taken when the tick is over: a scope is made anew for each, so what is referred to here stays as it is."""
    memory = scope.memory
    return Sight(
        cluster=scope.cluster,
        head=scope.head,
        revision=scope.revision,
        at=at,
        status=memory.status(),
        folder=scope.folder,
        account=scope.account,
        region=scope.region,
        desired=scope.desired.resources if scope.desired is not None else {},
        previous=scope.previous,
        observed=scope.observed,
        plan=scope.plan,
        held=scope.held,
        certain=_moment(memory.looked),
        unseen_since=_moment(memory.unseen_since),
        blind=(scope.blind.reason, scope.blind.message) if scope.blind is not None else None,
        problem=scope.problem,
        doubt=doubt(scope) if scope.world is not None else None,
    )


def left_alone(known: Sight, status: ClusterStatus, problem: str, at: str) -> Sight:
    """What was known, for a tick that did not come as far as looking."""
    return replace(known, status=status, problem=problem, at=at, held={})


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else iso(datetime.fromtimestamp(seconds, UTC))
