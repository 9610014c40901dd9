"""Which once-only things have their turn. Pure; the time is handed in.

An Operation is due if it is absent from the last Ready revision (or, on a first rollout, from the parent commit),
neither done nor open, and not expired. With no journal nothing is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from schemas.journal import ClusterStatus, OpRecord


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One Operation document: its identity `<kind>/<name>@<digest>`, the resource keys it asks for, its end."""

    name: str
    identity: str
    keys: tuple[str, ...]
    expires: datetime


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
    taken = started(status)
    for operation in operations:
        if operation.identity in baseline or operation.identity in status.done:
            continue
        left = [key for key in operation.keys if key not in taken]
        if not left:
            continue
        if now >= operation.expires:
            late.append(operation.identity)
        elif trusted:
            keys.update(left)
    return Due(keys=frozenset(keys), late=tuple(late))


def started(status: ClusterStatus) -> frozenset[str]:
    """Keys of once-only ops that this journal knows, unless a person ordered a retry since."""
    return frozenset(op.key for op in status.ops.values() if op.cls.value == "once" and not retried(op, status.retries))


def retried(op: OpRecord, retries: Mapping[str, int], *subjects: str) -> bool:
    """True if a retry of this op (by id, key, or another subject such as its stage) came after it ended."""
    return any(retries.get(subject, 0) > op.seq for subject in (op.op, op.key, op.key.split("#")[0], *subjects))


def outcome(operation: Operation, status: ClusterStatus) -> str | None:
    """How an Operation ended, once every key of it has: for the rollout's `done`."""
    phases: dict[str, str] = {}
    for op in status.ops.values():
        if op.key in operation.keys and op.cls.value == "once":
            phases[op.key] = op.phase.value if not op.phase.open else "open"
    if len(phases) < len(operation.keys) or "open" in phases.values():
        return None
    worst = [phase for phase in phases.values() if phase not in ("succeeded", "resolved")]
    return worst[0] if worst else "succeeded"
