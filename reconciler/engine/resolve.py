"""Step 6: what became of ops without a final outcome, read from this tick's look.

After a crash or a lost reply nobody knows; the look does. How absence is read depends on the effect class. Nothing
is sent here: an op that must be sent again is only marked as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reconciler.engine.look import handler_for
from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from reconciler.resources.handler import Handler, Settlement, Verdict
from schemas.journal import EffectClass, OpRecord, Phase
from schemas.values import JsonObject

LOOKS = 2  # "absent" counts only when seen so often


def resolve(scope: Scope, handlers: Sequence[Handler], clock: Clock) -> None:
    """Write the outcome of every op that this look can tell."""
    if scope.world is None:
        return
    for op in scope.status.open_ops():
        if op.phase is Phase.UNKNOWN:
            continue
        handler = handler_for(op.key, handlers)
        settlement = handler.settled(scope.world, op)
        if op.phase is Phase.SUBMITTED:
            _submitted(scope, op, settlement, clock)
        else:
            _unanswered(scope, op, settlement, clock)


def may_resend(scope: Scope, op: OpRecord, clock: Clock) -> bool:
    """Whether the same op may be sent again in this tick."""
    age = _age(op, clock)
    until = scope.memory.not_before.get(op.op, op.next)
    if until is not None and clock.now() < datetime.fromisoformat(until):
        return False
    if op.phase is Phase.REFUSED:
        return True
    if op.phase is not Phase.INTENT:
        return False
    match op.cls:
        case EffectClass.CONVERGENT:
            return True
        case EffectClass.TOKEN:
            return age <= token_life(op) or _surely_absent(scope, op, age)
        case EffectClass.NAME | EffectClass.TAG:
            return _surely_absent(scope, op, age)
        case EffectClass.ONCE:
            return False


def token_life(op: OpRecord) -> float:
    """Seconds within which the same token means the same request."""
    return float(op.before.get("tokenLife", 0))


def _submitted(scope: Scope, op: OpRecord, found: Settlement, clock: Clock) -> None:
    """The server took it; the look says how far it is."""
    match found.verdict:
        case Verdict.HAPPENED:
            _close(scope, op, Phase.SUCCEEDED, found)
        case Verdict.FAILED:
            _close(scope, op, Phase.FAILED, found)
        case Verdict.SUBJECT_GONE:
            _close(scope, op, Phase.CANCELLED, found)
        case Verdict.ABSENT | Verdict.TAKEN:
            if _surely_absent(scope, op, _age(op, clock), counting=True):
                gone = Settlement(verdict=Verdict.FAILED, reason="Vanished", message="it was accepted and is gone")
                _close(scope, op, Phase.FAILED, gone)
        case Verdict.PENDING | Verdict.UNREADABLE:
            if op.cls is EffectClass.ONCE and _age(op, clock) > op.deadline:
                _unknown(scope, op)


def _unanswered(scope: Scope, op: OpRecord, found: Settlement, clock: Clock) -> None:
    """Intent without a reply, or refused: happened, not yet, cannot tell."""
    age = _age(op, clock)
    match found.verdict:
        case Verdict.HAPPENED if op.cls is not EffectClass.CONVERGENT or _fulfilled(scope, op):
            _close(scope, op, Phase.SUCCEEDED, found)
        case Verdict.SUBJECT_GONE:
            _close(scope, op, Phase.CANCELLED, found)
        case Verdict.FAILED:
            _close(scope, op, Phase.FAILED, found)
        case Verdict.TAKEN:
            _close(scope, op, Phase.FAILED, found)
        case Verdict.ABSENT:
            scope.memory.absent_looks[op.op] = scope.memory.absent_looks.get(op.op, 0) + 1
            if not _still_wanted(scope, op) and _surely_absent(scope, op, age):
                why = Settlement(verdict=Verdict.ABSENT, reason="NotWanted", message="it never happened")
                _close(scope, op, Phase.CANCELLED, why)
        case Verdict.PENDING if op.phase is Phase.INTENT and op.cls is not EffectClass.ONCE and found.ref:
            _line(scope, op, Phase.SUBMITTED, found, f"{op.call} had reached the server")
        case _:
            pass
    op = scope.status.ops[op.op]
    if not op.phase.open:
        return
    if op.cls is EffectClass.CONVERGENT and not _still_wanted(scope, op):
        why = Settlement(verdict=Verdict.PENDING, reason="NotWanted", message="nobody wants it any more")
        _close(scope, op, Phase.CANCELLED, why)
    elif op.cls is EffectClass.ONCE and op.phase is Phase.INTENT and age > op.deadline:
        _unknown(scope, op)


def _fulfilled(scope: Scope, op: OpRecord) -> bool:
    """A convergent wish has come true when the plan no longer asks for it."""
    if scope.plan is None:
        return False
    return not set(op.actions) & {action.digest for action in scope.plan.actions}


def _still_wanted(scope: Scope, op: OpRecord) -> bool:
    if scope.plan is None:
        return True  # nobody can tell: keep it
    return any(action.key == op.key and action.verb.value == op.verb for action in scope.plan.actions) or bool(
        set(op.actions) & {action.digest for action in scope.plan.actions}
    )


def _surely_absent(scope: Scope, op: OpRecord, age: float, *, counting: bool = False) -> bool:
    """Absent after the settle time and in enough looks."""
    looks = scope.memory.absent_looks
    if counting:
        looks[op.op] = looks.get(op.op, 0) + 1
    return age >= op.settle and looks.get(op.op, 0) >= LOOKS


def _close(scope: Scope, op: OpRecord, phase: Phase, found: Settlement) -> None:
    said = {
        Phase.SUCCEEDED: f"{op.call} of {op.key} is done",
        Phase.FAILED: f"{op.call} of {op.key} failed: {found.message}",
        Phase.CANCELLED: f"{op.call} of {op.key} is cancelled: {found.reason}",
    }[phase]
    _line(scope, op, phase, found, said)
    scope.memory.absent_looks.pop(op.op, None)
    scope.memory.backoff.pop(op.op, None)
    scope.memory.not_before.pop(op.op, None)


def _unknown(scope: Scope, op: OpRecord) -> None:
    why = Settlement(
        verdict=Verdict.PENDING,
        reason="OutcomeUnknown",
        message=f"whether {op.call} happened cannot be told; look, then order resolve {op.op}",
        how="probe",
    )
    _line(scope, op, Phase.UNKNOWN, why, f"nobody can tell whether {op.call} of {op.key} happened")


def _line(scope: Scope, op: OpRecord, phase: Phase, found: Settlement, said: str) -> None:
    fields: JsonObject = {"how": found.how, "ref": found.ref or None}
    if phase is not Phase.SUCCEEDED:
        fields |= {"reason": found.reason or None, "msg": found.message or None}
    elif found.message:
        fields["msg"] = found.message
    scope.write("op", said, op=op.op, phase=phase.value, attempt=op.attempt, **fields)


def _age(op: OpRecord, clock: Clock) -> float:
    """Seconds since the intent was written."""
    return (clock.now() - datetime.fromisoformat(op.at)).total_seconds()
