"""Step 6: what became of ops without a final outcome, read from this tick's look.

After a crash or a lost reply nobody knows; the look does. How absence is read depends on the effect class. Nothing
is sent here: an op that must be sent again is only marked as such.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from reconciler.engine.look import handler_for
from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from reconciler.resources.handler import Handler, Settlement, Verdict
from schemas.errors import InstantStartError
from schemas.journal import EffectClass, OpRecord, Phase
from schemas.plan import Verb
from schemas.values import JsonObject

log = logging.getLogger(__name__)
LOOKS = 2  # "absent" counts only when seen so often


def resolve(scope: Scope, handlers: Sequence[Handler], clock: Clock) -> None:
    """Write the outcome of every op that this look can tell."""
    if scope.world is None:
        return
    for op in scope.status.open_ops():
        if op.phase is Phase.UNKNOWN:
            continue
        settlement = _settlement(scope, op, handlers)
        if op.phase is Phase.SUBMITTED:
            _submitted(scope, op, settlement, clock)
        else:
            _unanswered(scope, op, settlement, clock)


def _settlement(scope: Scope, op: OpRecord, handlers: Sequence[Handler]) -> Settlement:
    """What the op's handler reads from the look; that it cannot tell is no answer either way."""
    assert scope.world is not None
    try:
        found = handler_for(op.key, handlers).settled(scope.world, op)
    except InstantStartError as error:
        return Settlement(verdict=Verdict.UNREADABLE, reason=error.reason, message=error.message)
    except Exception:  # a mistake of ours about one op must not stop the others
        log.exception("what became of %s %s cannot be told", op.call, op.op)
        return Settlement(verdict=Verdict.UNREADABLE, reason="InternalError")
    seen = scope.observed.get(op.key)
    others = op.phase is Phase.REFUSED and op.verb == Verb.CREATE and seen is not None and not seen.ours
    if others and seen is not None and seen.present and seen.op != op.op:
        message = f"{seen.name} is there, not from this op"
        return Settlement(verdict=Verdict.TAKEN, reason="NameTaken", message=message)
    return found


def may_resend(scope: Scope, op: OpRecord, clock: Clock) -> bool:
    """Whether the same op may be sent again in this tick."""
    until = scope.memory.not_before.get(op.op, op.next)
    if until is not None and clock.now() < datetime.fromisoformat(until):
        return False
    if surely_undone(scope, op):
        return True
    if op.phase not in (Phase.INTENT, Phase.REFUSED):
        return False
    match op.cls:
        case EffectClass.CONVERGENT:
            return True
        case EffectClass.TOKEN:
            return _age(op, clock) <= token_life(op) or surely_absent(scope, op, clock)
        case EffectClass.NAME | EffectClass.TAG:
            return surely_absent(scope, op, clock)
        case EffectClass.ONCE:
            return False


def surely_undone(scope: Scope, op: OpRecord) -> bool:
    """The newest sending was refused, and nothing was sent since. The line alone does not tell: the op may have been
    sent again after it, by a process that is no more. Once-only ops have a line for every sending."""
    return op.phase is Phase.REFUSED and (op.op in scope.memory.certain or op.cls is EffectClass.ONCE)


def may_double(op: OpRecord, clock: Clock) -> bool:
    """Whether a second sending makes a second thing, so that it needs a line of its own: what has no name and no
    token that still counts, and what is done once."""
    outlived = op.cls is EffectClass.TOKEN and _age(op, clock) > token_life(op)
    return op.cls in (EffectClass.ONCE, EffectClass.TAG) or outlived


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
            _count_absent(scope, op)
            if surely_absent(scope, op, clock):
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
            _count_absent(scope, op)
            if not _still_wanted(scope, op) and surely_absent(scope, op, clock):
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
    elif op.cls is EffectClass.ONCE and op.phase is Phase.REFUSED and not _still_wanted(scope, op):
        why = Settlement(verdict=Verdict.ABSENT, reason="NotWanted", message="it never happened")
        _close(scope, op, Phase.CANCELLED, why)
    elif op.cls is EffectClass.ONCE and op.phase is Phase.INTENT and age > op.deadline:
        _unknown(scope, op)


def _fulfilled(scope: Scope, op: OpRecord) -> bool:
    """A convergent wish has come true when the plan no longer asks for it."""
    if scope.plan is None:
        return False
    return not any(op.serves(action.digest) for action in scope.plan.actions)


def _still_wanted(scope: Scope, op: OpRecord) -> bool:
    if scope.plan is None:
        return True  # nobody can tell: keep it
    return any(
        (action.key == op.key and action.verb.value == op.verb) or op.serves(action.digest)
        for action in scope.plan.actions
    )


def surely_absent(scope: Scope, op: OpRecord, clock: Clock) -> bool:
    """Absent in enough looks, and after the settle time since the op can have been sent last: as far as this process
    knows, and not before it began, because another one may have sent it."""
    memory = scope.memory
    sent = max(datetime.fromisoformat(op.at).timestamp(), memory.last_sent.get(op.op, memory.born))
    return clock.now().timestamp() - sent >= op.settle and memory.absent_looks.get(op.op, 0) >= LOOKS


def _count_absent(scope: Scope, op: OpRecord) -> None:
    looks = scope.memory.absent_looks
    looks[op.op] = looks.get(op.op, 0) + 1


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
