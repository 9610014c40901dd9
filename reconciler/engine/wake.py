"""When a cluster is worth looking at again: at once after something moved, soon while something is under way, by the
poll interval otherwise. The longer a thing has taken, the longer the next pause, so that little of it is lost."""

from __future__ import annotations

from datetime import datetime

from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from schemas.journal import Condition, Phase, StageState

SHORTEST = 2.0
LONGEST = 15.0
PATIENCE = 50.0  # a pause is this part of the time already waited


def next_wake(scope: Scope, clock: Clock, poll: float) -> float:
    """Seconds."""
    status = scope.status
    if scope.moved:
        return 0.0 if scope.sent or status.condition is not Condition.READY else min(poll, SHORTEST)
    if status.condition in (Condition.READY, Condition.GONE):
        return poll
    if scope.world is None or scope.plan is None:
        return poll
    pauses = [poll]
    now = clock.now()
    for op in status.open_ops():
        until = scope.memory.not_before.get(op.op, op.next)
        if until is not None and op.phase in (Phase.REFUSED, Phase.INTENT):
            pauses.append(max(SHORTEST, (datetime.fromisoformat(until) - now).total_seconds()))
        elif op.phase is not Phase.UNKNOWN:
            pauses.append(_part_of((now - datetime.fromisoformat(op.at)).total_seconds()))
    for stage in status.stages.values():
        if stage.state in (StageState.PROGRESSING, StageState.WAITING) and stage.at:
            pauses.append(_part_of((now - datetime.fromisoformat(stage.at)).total_seconds()))
    return min(pauses)


def _part_of(waited: float) -> float:
    return min(max(waited / PATIENCE, SHORTEST), LONGEST)
