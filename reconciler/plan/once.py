"""Which once-only things have their turn. Pure; the time is handed in.

An Operation is due if it is absent from the last Ready revision (or, on a first rollout, from the parent commit),
neither done nor open, and not expired. With no journal nothing is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from schemas.journal import ClusterStatus, EffectClass, OpRecord, Phase
from schemas.once import Operation
from schemas.resource import Stage

_UNDONE = (Phase.FAILED.value, Phase.CANCELLED.value, "not-happened", "stopped")
# Reasons with which an op is cancelled that never left.
UNSENT = frozenset({"LaneBusy", "GuardFailed", "GuardUnreadable", "Outdated", "NotWanted"})


@dataclass(frozen=True, kw_only=True)
class Due:
    """`keys` have their turn; `late` are identities whose time ran out before they were done."""

    keys: frozenset[str]
    late: tuple[str, ...]


def due(
    operations: Iterable[Operation],
    *,
    baseline: frozenset[str],
    status: ClusterStatus,
    now: datetime,
    trusted: bool,
) -> Due:
    """`baseline`: identities that stood in the last Ready revision (or the parent commit): their turn is over."""
    keys: set[str] = set()
    late: list[str] = []
    taken, told = started(status), _outcomes(status)
    for operation in operations:
        had = operation.identity in baseline
        left = [key for key in operation.keys if key not in taken and _is_left(operation, key, status, told, had)]
        if not left:
            continue
        if now >= operation.expires:
            late.append(operation.identity)
        elif trusted:
            keys.update(left)
    return Due(keys=frozenset(keys), late=tuple(late))


def started(status: ClusterStatus) -> frozenset[str]:
    """Keys of once-only ops that this journal knows, unless a person ordered a retry since."""
    return frozenset(op.key for op in status.ops.values() if _had_its_turn(op) and not again(op, status.retries))


def _is_left(operation: Operation, key: str, status: ClusterStatus, told: Mapping[str, str], had: bool) -> bool:
    """`told`: how ops of this rollout ended. `had`: the operation as a whole had its turn. A person's retry since then
    gives it another one."""
    before = told.get(key) or status.done.get(operation.done_id(key)) or status.done.get(operation.identity)
    if before is None and not had:
        return True
    whole = (f"Operation/{operation.name}", Stage.OPERATIONS.value)
    return key in status.retries or (before in _UNDONE and any(subject in status.retries for subject in whole))


def _outcomes(status: ClusterStatus) -> dict[str, str]:
    return {op.key: op.outcome for op in status.ops.values() if _had_its_turn(op) and not op.phase.open}


def _had_its_turn(op: OpRecord) -> bool:
    """An op that was cancelled before it was sent, or refused so far, may have its turn yet."""
    unsent = op.phase is Phase.REFUSED or (op.phase is Phase.CANCELLED and op.reason in UNSENT)
    return op.cls is EffectClass.ONCE and not unsent


def again(op: OpRecord, retries: Mapping[str, int]) -> bool:
    """Whether a person gave it another turn. A retry of one op or node repeats it whatever came of it; one of a whole
    Operation or of the stage means what did not happen."""
    named = any(retries.get(subject, 0) > op.seq for subject in (op.op, op.key))
    return named or (op.outcome in _UNDONE and retried(op, retries, Stage.OPERATIONS.value))


def retried(op: OpRecord, retries: Mapping[str, int], *subjects: str) -> bool:
    """True if a retry of this op (by id, key, or another subject such as its stage) came after it ended."""
    return any(retries.get(subject, 0) > op.seq for subject in (op.op, op.key, op.key.split("#")[0], *subjects))


def done(operations: Iterable[Operation], status: ClusterStatus) -> dict[str, str]:
    """What a new rollout must remember of the operations whose documents still stand: done id → phase."""
    ended = {
        op.key: op.outcome
        for op in status.ops.values()
        if _had_its_turn(op) and not op.phase.open and not again(op, status.retries)
    }
    found: dict[str, str] = {}
    for operation in operations:
        whole = status.done.get(operation.identity)
        told = {key: ended.get(key) or status.done.get(operation.done_id(key)) or whole for key in operation.keys}
        if None not in told.values() and len(told) > 1:  # hundreds of nodes are one word, and the exceptions
            found[operation.identity] = Phase.SUCCEEDED.value
            told = {key: phase for key, phase in told.items() if phase != Phase.SUCCEEDED.value}
        found.update({operation.done_id(key): phase for key, phase in told.items() if phase is not None})
    return found
