"""From what a person typed to the exact subject of an order. Pure; says what there is when nothing fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.errors import InvalidInput
from schemas.journal import ClusterStatus, Hold, Phase, StageState

_SHORTEST_PREFIX = 4
_DIGEST = 64


def to_retry(status: ClusterStatus, asked: Sequence[str]) -> list[str]:
    """Op ids, resource keys, stages: of what failed, or of what a person resolved."""
    ops = [op for op in status.ops.values() if op.phase in (Phase.FAILED, Phase.RESOLVED, Phase.CANCELLED)]
    stages = [name for name, stage in status.stages.items() if stage.state is not StageState.READY]
    known = [*(op.op for op in ops), *dict.fromkeys(op.key for op in ops), *stages]
    return [_one_of(text, known, "failed") for text in asked]


def to_resolve(status: ClusterStatus, asked: Sequence[str]) -> list[str]:
    """Ids of ops whose outcome is unknown; a key stands for its op."""
    ops = {op.key: op.op for op in status.ops.values() if op.phase is Phase.UNKNOWN}
    return [ops.get(text) or _one_of(text, list(ops.values()), "of unknown outcome") for text in asked]


def to_approve(status: ClusterStatus, asked: Sequence[str]) -> list[str]:
    """Full digests of held actions. A whole digest is taken as it is: an action may be approved before it is held."""
    return [_held(status, text) for text in asked]


def to_release(status: ClusterStatus, asked: Sequence[str]) -> list[str]:
    return [text if text == "journal" else _held(status, text) for text in asked]


def all_held(status: ClusterStatus, asked: Sequence[str]) -> list[str]:
    found = [hold.action for hold in _holds(status)]
    if not found:
        raise InvalidInput(f"nothing is held in {status.cluster}", reason="NothingHeld")
    return found


def _held(status: ClusterStatus, text: str) -> str:
    if len(text) == _DIGEST and all(c in "0123456789abcdef" for c in text):
        return text
    held = _holds(status)
    by_key = [hold.action for hold in held if hold.key == text]
    if by_key:
        return by_key[0]
    by_digest = [hold.action for hold in held if len(text) >= _SHORTEST_PREFIX and hold.action.startswith(text)]
    if len(by_digest) == 1:
        return by_digest[0]
    if by_digest:
        raise InvalidInput(f"{text} begins {len(by_digest)} digests; give more of it", reason="Ambiguous")
    if "*" in status.holds and status.holds["*"].state == "held":
        text = f"{status.cluster} is suspended as a whole; instantstart resume {status.cluster} ends that"
        raise InvalidInput(text, reason="Suspended")
    raise _nothing(text, "held", (f"{hold.key} ({hold.action[:12]})" for hold in held))


def _holds(status: ClusterStatus) -> list[Hold]:
    return [hold for hold in status.holds.values() if hold.state == "held" and hold.action]


def _one_of(text: str, known: Sequence[str], what: str) -> str:
    if text in known:
        return text
    begun = [name for name in known if len(text) >= _SHORTEST_PREFIX and name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    raise _nothing(text, what, known)


def _nothing(text: str, what: str, known: Iterable[str]) -> InvalidInput:
    there = ", ".join(dict.fromkeys(known))
    return InvalidInput(f"nothing {what} is called {text!r}; {what}: {there or 'nothing'}", reason="NoSubject")
