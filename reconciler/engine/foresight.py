"""What would be done if a commit were the branch's head: look and plan as a tick does, without writing or sending
anything, and without touching what the ticks remember.

The policy is the one in force now, never the commit's own: a change cannot loosen what judges it.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections.abc import Iterable

from reconciler.engine import gate
from reconciler.engine import open as opening
from reconciler.engine.approvals import Approvals
from reconciler.engine.memory import Memory
from reconciler.engine.scope import Scope
from reconciler.engine.tick import Engine
from reconciler.plan.gates import Fleet, fleet_of
from schemas.errors import InstantStartError

log = logging.getLogger(__name__)


def foresee(engine: Engine, clusters: Iterable[str], commit: str, policy_at: str) -> dict[str, Scope]:
    """A scope for each of these clusters, looked at, planned and gated; `problem` says why one could not be."""
    approvals = engine.approvals.all()
    engine.repo.clusters_ever(policy_at)  # once the branch's line is known, a commit beside it costs one step
    scopes: dict[str, Scope] = {}
    for cluster in clusters:
        scope = _open(engine, cluster, commit)
        scope.policy_at = policy_at
        scope.approvals = approvals
        scopes[cluster] = scope
    list(engine.pool.map(_see, itertools.repeat(engine), scopes.values()))
    together = fleet(scopes.values())
    for scope in scopes.values():
        gate.gate(scope, together, engine.clock.now())
    return scopes


def fleet(scopes: Iterable[Scope]) -> Fleet:
    """What they do together, as one revision. A cluster that was never Ready is only born."""
    planned = {scope.cluster: scope for scope in scopes if scope.plan is not None}
    plans = {name: scope.plan for name, scope in planned.items() if scope.plan is not None}
    observed = {name: scope.observed for name, scope in planned.items()}
    new = frozenset(name for name, scope in planned.items() if scope.memory.fold.ready is None)
    return fleet_of(plans, observed, new)


def _open(engine: Engine, cluster: str, commit: str) -> Scope:
    with engine.lock:  # a tick that writes what it remembers is not copied in the middle
        known = engine.memories.get(cluster)
        memories: dict[str, Memory] = {} if known is None else {cluster: known.copied()}
    return opening.open_scope(engine.repo, cluster, commit, memories, engine.clock)


def _see(engine: Engine, scope: Scope) -> None:
    try:
        engine.see(scope)
    except InstantStartError as error:
        scope.problem = f"{error.reason}: {error.message}"
    except Exception as error:
        log.exception("looking ahead at %s broke", scope.cluster)
        scope.problem = f"InternalError: {error!r}"


def gated(engine: Engine, scopes: Iterable[Scope], approvals: Approvals) -> dict[str, Scope]:
    """The same scopes with what these approvals let pass. Nothing is looked at again."""
    again = [dataclasses.replace(scope, approvals=approvals, held={}) for scope in scopes]
    together = fleet(again)
    for scope in again:
        gate.gate(scope, together, engine.clock.now())
    return {scope.cluster: scope for scope in again}
