"""When a cluster is worth looking at again: at once after something moved, soon while something is under way, by the
poll interval otherwise. The longer a thing has taken, the longer the next pause, so that little of it is lost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from reconciler.config_repo.errors import RemoteAuthFailed
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import open as opening
from reconciler.engine.memory import Memory
from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from schemas.errors import InstantStartError
from schemas.journal import Condition, Phase, StageState

SHORTEST = 2.0
LONGEST = 15.0
PATIENCE = 50.0  # a pause is this part of the time already waited
NOBODY = 600.0  # before it is tried again to see whether a cluster that nobody tells of has left something
AFTER_PROBLEM = 5.0  # before a cluster that could not be worked on is tried again; longer every time
LONGEST_DENIED = 900.0


def is_due(repo: ConfigRepo, memory: Memory, head: str, now: float) -> bool:
    """Its time has come, or main wants something else of it."""
    if now >= memory.wake:
        return True
    if memory.head == head:
        return False
    status = memory.status()
    return opening.revision_at(repo, memory.cluster, head, status) != status.rev


def soonest(wakes: Iterable[float], now: float, poll: float) -> float:
    """Seconds until the first of them."""
    return max(0.0, min([poll, *(wake - now for wake in wakes)]))


def pause(scope: Scope, clock: Clock, poll: float) -> float:
    """Seconds, after a tick that is over; whether it came through is remembered."""
    if scope.nothing_here:
        return NOBODY
    if scope.problem is None:
        scope.memory.problems, scope.memory.trouble = 0, None
        return next_wake(scope, clock, poll)
    return poll if scope.status.broken is not None else rest(scope.memory, poll)


def rest(memory: Memory, poll: float) -> float:
    """Whoever refuses (a remote, a broken handler) is not asked every few seconds for ever."""
    memory.problems += 1
    return min(AFTER_PROBLEM * 2.0 ** min(memory.problems - 1, 16), poll)


class Denials:
    """A credential that is refused again and again locks accounts: the remote is asked less and less often."""

    def __init__(self) -> None:
        self._times = 0  # in a row

    def over(self) -> None:
        self._times = 0

    def pause(self, error: InstantStartError, poll: float) -> float:
        """Seconds."""
        if not isinstance(error, RemoteAuthFailed):
            return poll
        self._times += 1
        return min(poll * 2.0 ** min(self._times - 1, 10), max(poll, LONGEST_DENIED))


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
