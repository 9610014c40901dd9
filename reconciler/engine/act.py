"""Steps 7 and 9: draft what may go now, and, once the intents are on the remote, send it.

A mutation leaves only when its intent was accepted. Everything in a lane goes one after another and stops at the
first thing that is not over with its reply.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from reconciler.engine import resolve
from reconciler.engine.look import look_again
from reconciler.engine.scope import Scope
from reconciler.journal.lines import abbreviated
from reconciler.live.clock import Clock, iso
from reconciler.plan.gates import REMOVALS, gpus_taken, nodes_taken
from reconciler.plan.once import retried
from reconciler.resources.handler import Call, Handler, Reply
from schemas.errors import InstantStartError, LostReply, Refused, RetryLater
from schemas.journal import ClusterStatus, EffectClass, OpRecord, Phase
from schemas.plan import Action, Verb
from schemas.resource import Health, Observed, Presence
from schemas.values import JsonObject

REPEATS = 3  # the same action done more often than this in one rollout is not converging: it slows down
SLOWEST = 3600.0
MISSING = 120.0  # seconds that something we made must be missing before it is made again
MOST_OPEN = 40  # ops of a cluster at a time: a rollout's line carries them all
log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Draft:
    """A call with the op that it became."""

    call: Call
    handler: Handler
    op: str
    attempt: int = 1


Answer: TypeAlias = Reply | InstantStartError | None  # None: never sent


def draft(scope: Scope, handlers: Sequence[Handler], clock: Clock, new_op: Callable[[], str]) -> list[Draft]:
    """Choose the calls of this tick and write their intents. Ops that may be sent again keep their id."""
    if scope.plan is None or scope.world is None or scope.policy_problem is not None:
        return []
    status = scope.status
    again = {op.key: op for op in status.open_ops() if resolve.may_resend(scope, op, clock)}
    resent = {op.op for op in again.values()}
    busy = {op.lane for op in status.open_ops() if op.op not in resent}
    free = [a for a in scope.plan.actions if a.lane not in busy and _may_go(scope, a, status, clock)]
    due = _due(scope, free)
    # A lane waits for an op that may have happened; only what is the same call again may go in it.
    waiting = {
        op.lane: op
        for op in again.values()
        if op.cls is not EffectClass.CONVERGENT and not resolve.surely_undone(scope, op)
    }
    drafts: list[Draft] = []
    for handler, actions in _by_handler(due, handlers):
        calls = [
            call
            for call in _drafted(scope, handler, actions)
            if call.lane not in waiting or call.key == waiting[call.lane].key
        ]
        drafts.extend(_of_lane(scope, handler, calls, again, clock, new_op))
    return drafts


def _drafted(scope: Scope, handler: Handler, actions: Sequence[Action]) -> Sequence[Call]:
    """The handler's calls; one that cannot say holds back its own actions and nothing else."""
    assert scope.world is not None
    try:
        return handler.calls(scope.world, actions)
    except InstantStartError as error:
        why = error
    except Exception as error:
        log.exception("drafting %s of %s broke", "/".join(handler.types), scope.cluster)
        why = RetryLater(f"drafting broke: {error!r}", reason="InternalError")
    scope.undrafted.update({action.digest: why for action in actions})
    return []


def send(scope: Scope, drafts: Sequence[Draft]) -> list[tuple[Draft, Answer]]:
    """Send the drafts of one lane in order. None: never sent, because something before it is not over yet, or because
    the intents were written so long ago that another writer may take the ops for lost."""
    answers: list[tuple[Draft, Answer]] = []
    stopped = False
    for item in drafts:
        if stopped or (scope.is_late and item.attempt == 1):
            answers.append((item, None))
            continue
        if scope.is_late:  # an earlier try may have had its effect
            answers.append((item, LostReply("another writer may be at it by now", reason="TooLate")))
            continue
        answer = _send_one(scope, item)
        answers.append((item, answer))
        stopped = not _lane_is_free(item, answer)
    return answers


def record(scope: Scope, item: Draft, answer: Answer, clock: Clock) -> None:
    """Write what the reply says. A lost reply writes nothing: the next look resolves it."""
    _remember(scope, item, answer, clock)
    if answer is None:
        _op(scope, item, Phase.CANCELLED, "was not sent", reason="LaneBusy", msg="something before it is not over yet")
    elif isinstance(answer, Reply):
        _replied(scope, item, answer)
    elif isinstance(answer, LostReply):
        _rest(scope, item, answer, clock)
    elif isinstance(answer, GuardFailed):
        _op(scope, item, Phase.CANCELLED, "was not sent", reason=answer.reason, msg=answer.message)
    elif isinstance(answer, RetryLater):
        _refused(scope, item, answer, clock)
    else:
        _op(scope, item, Phase.FAILED, f"failed: {answer.message}", reason=answer.reason, msg=answer.message)


def _remember(scope: Scope, item: Draft, answer: Answer, clock: Clock) -> None:
    """Whether this sending can have had an effect, and if so when: absence must last from then on."""
    memory = scope.memory
    if answer is None or (isinstance(answer, InstantStartError) and not isinstance(answer, LostReply)):
        memory.certain.add(item.op)
        return
    memory.certain.discard(item.op)
    memory.absent_looks.pop(item.op, None)
    memory.last_sent[item.op] = clock.now().timestamp()


class GuardFailed(InstantStartError):
    """The world is no longer what the plan relied on."""


def _lane_is_free(item: Draft, answer: Reply | InstantStartError) -> bool:
    """Over with the reply, or certainly nothing happened."""
    if isinstance(answer, Reply):
        return item.call.closes_on_reply
    return isinstance(answer, GuardFailed) or not isinstance(answer, RetryLater)


# Choosing ------------------------------------------------------------------------------------------------------------


def _may_go(scope: Scope, action: Action, status: ClusterStatus, clock: Clock) -> bool:
    if action.digest in scope.held:
        return False
    seen = scope.observed.get(action.key)
    if action.verb is Verb.UPDATE and seen is not None and not seen.ours:
        return False  # it is marked first: what is not ours is not changed
    missing = scope.memory.missing_since.get(action.key)
    now = clock.now()
    if action.verb is Verb.CREATE and missing is not None and now.timestamp() - missing < MISSING:
        return False  # we made it already: not to be seen for a moment is not gone
    last: datetime | None = None
    tries = 0
    for op in status.ops.values():
        if op.phase.open or not op.serves(action.digest):
            continue
        if op.phase is Phase.FAILED and not retried(op, status.retries, action.stage.value):
            return False  # it will not pass until git changes or an order comes
        if op.phase is Phase.SUCCEEDED or (op.phase is Phase.CANCELLED and op.reason != "LaneBusy"):
            tries += 1
            last = datetime.fromisoformat(op.ended)
    if last is None or tries < REPEATS:
        return True
    pause = min(30.0 * 2 ** (tries - REPEATS), SLOWEST)
    return now >= last + timedelta(seconds=pause)


def _due(scope: Scope, actions: Sequence[Action]) -> list[Action]:
    """Actions whose needs are met, or are met by an action of the same lane that goes with them."""
    chosen: dict[str, Action] = {}
    found: list[Action] = []
    for action in actions:
        removal = action.verb in (Verb.DELETE, Verb.RELEASE)
        met = _nothing_left if removal else _stands
        lane_mates = {key for key, mate in chosen.items() if mate.lane == action.lane and not removal}
        if all(met(scope.observed.get(need)) or need in lane_mates for need in action.needs):
            chosen[action.key] = action
            found.append(action)
    return found


def _stands(seen: Observed | None) -> bool:
    return seen is not None and seen.present and (seen.ready or seen.health is Health.HEALTHY)


def _nothing_left(seen: Observed | None) -> bool:
    return seen is None or seen.presence is Presence.ABSENT


def _by_handler(actions: Sequence[Action], handlers: Sequence[Handler]) -> Iterable[tuple[Handler, list[Action]]]:
    for handler in handlers:
        own = [a for a in actions if a.type in handler.types]
        if own:
            yield handler, own


def _of_lane(
    scope: Scope,
    handler: Handler,
    calls: Sequence[Call],
    again: dict[str, OpRecord],
    clock: Clock,
    new_op: Callable[[], str],
) -> list[Draft]:
    """Calls as ops. In a lane nothing follows a call that has to be waited for."""
    closed: set[str] = set()
    drafts: list[Draft] = []
    repeated = {call.lane for call in calls if call.key in again}
    for call in calls:
        if call.lane in closed or (call.lane in repeated and call.key not in again):
            continue
        if not call.closes_on_reply:
            closed.add(call.lane)
        before = again.get(call.key)
        if before is not None and before.verb == call.verb and before.want == call.want:
            item = Draft(call=call, handler=handler, op=before.op, attempt=before.attempt + 1)
            if resolve.may_double(before, clock):
                _intent(scope, item)  # no sending without a line: of two writers one is told to wait
            drafts.append(item)
            continue
        undone = before is None or resolve.surely_undone(scope, before) or before.cls is EffectClass.CONVERGENT
        if before is not None and not undone and not resolve.surely_absent(scope, before, clock):
            closed.add(call.lane)  # it may have happened: something else waits until that is settled
            continue
        if before is not None:
            outdated = Draft(call=call, handler=handler, op=before.op, attempt=before.attempt)
            _op(scope, outdated, Phase.CANCELLED, "is outdated", reason="Outdated", msg="git wants something else now")
        if len(scope.status.open_ops()) >= MOST_OPEN:
            continue
        item = Draft(call=call, handler=handler, op=new_op())
        _intent(scope, item)
        drafts.append(item)
    return drafts


def _intent(scope: Scope, item: Draft) -> None:
    call = item.call
    before: JsonObject = dict(call.before)
    if call.token_life:
        before["tokenLife"] = call.token_life
    if call.verb == Verb.ADOPT:
        before["adopt"] = call.actions[0].want.get("adopt")
    scope.write(
        "op",
        call.say,
        op=item.op,
        phase=Phase.INTENT.value,
        attempt=item.attempt,
        key=call.key,
        lane=call.lane,
        verb=call.verb,
        call=call.call,
        **{"class": call.cls.value},
        token=item.op if call.cls is EffectClass.TOKEN else None,
        want=call.want,
        actions=abbreviated([action.digest for action in call.actions]),
        nodes=sum(nodes_taken(a, scope.observed.get(a.key)) for a in call.actions) or None,
        gpus=sum(gpus_taken(a, scope.observed.get(a.key)) for a in call.actions) or None,
        approved=_words(scope, call.actions) or None,
        before=before or None,
        settle=call.settle or None,
        deadline=call.deadline,
        asked=scope.revision,
        after=_repeated(scope, call),
    )


def _words(scope: Scope, actions: Iterable[Action]) -> list[str]:
    """By which approvals these actions passed; the first few, for a line has its length."""
    told = dict.fromkeys(word for action in actions for word in scope.passing.sources(action.digest))
    return list(told)[:4]


def _repeated(scope: Scope, call: Call) -> str | None:
    """The op that a person ordered to be done once more."""
    ops = scope.status.ops.values()
    earlier = [op for op in ops if op.key == call.key and op.cls is EffectClass.ONCE and not op.phase.open]
    return earlier[-1].op if earlier and call.cls is EffectClass.ONCE else None


# Sending -------------------------------------------------------------------------------------------------------------


def _send_one(scope: Scope, item: Draft) -> Reply | InstantStartError:
    assert scope.world is not None
    try:
        _check_guards(scope, item)
    except InstantStartError as error:
        return error
    except Exception as error:
        log.exception("the guards of %s %s broke", item.call.call, item.op)
        return Refused(f"looking broke: {error!r}", reason="InternalError")
    try:
        return item.handler.send(scope.world, item.call, item.op)
    except InstantStartError as error:
        return error
    except Exception as error:  # a mistake of ours, and nobody knows before or after which request
        log.exception("sending %s %s broke", item.call.call, item.op)
        return LostReply(f"sending broke: {error!r}", reason="InternalError")


def _check_guards(scope: Scope, item: Draft) -> None:
    """What cannot be undone, and what overwrites a count, is looked at once more, narrowly, just before."""
    risky = [a for a in item.call.actions if a.verb in REMOVALS or "count" in a.fields]
    if not risky:
        return
    seen = look_again(scope, item.handler, [a.key for a in risky])
    for action in risky:
        now = seen.get(action.key)
        if now is None or now.presence is Presence.UNKNOWN:
            raise GuardFailed(f"{action.key} cannot be seen now", reason="GuardUnreadable")
        if action.verb in REMOVALS and not now.ours and now.present:
            raise GuardFailed(f"{action.key} is not ours any more", reason="GuardFailed")
        if action.identity and now.present and now.identity != action.identity:
            raise GuardFailed(f"{action.key} is another object than the one planned for", reason="GuardFailed")
        for name, value in action.guards.items():
            if name in now.guards and now.guards[name] != value:
                text = f"{action.key}: {name} is {now.guards[name]} now, the plan relied on {value}"
                raise GuardFailed(text, reason="GuardFailed")


# Recording -----------------------------------------------------------------------------------------------------------


def _replied(scope: Scope, item: Draft, reply: Reply) -> None:
    if reply.failures:
        reason, message = next(iter(reply.failures.values()))
        _op(scope, item, Phase.FAILED, f"failed: {message}", reason=reason, msg=message, ref=reply.ref or None)
    elif item.call.closes_on_reply:
        _op(scope, item, Phase.SUCCEEDED, "is done", how="reply", ref=reply.ref or None)
    else:
        _op(scope, item, Phase.SUBMITTED, "was accepted", how="reply", ref=reply.ref or None)
    scope.memory.backoff.pop(item.op, None)


def _refused(scope: Scope, item: Draft, error: RetryLater, clock: Clock) -> None:
    """The server certainly did nothing. A new line only when the reason changes."""
    until = _rest(scope, item, error, clock)
    known = scope.status.ops.get(item.op)
    if known is not None and known.phase is Phase.REFUSED and known.reason == error.reason:
        return
    said = f"was refused: {error.message}"
    _op(scope, item, Phase.REFUSED, said, reason=error.reason, msg=error.message, next=until)


def _rest(scope: Scope, item: Draft, error: RetryLater, clock: Clock) -> str:
    """Until when this op is not sent again: longer with every try, or what the other side asked for."""
    tries = scope.memory.backoff.get(item.op, 0) + 1
    scope.memory.backoff[item.op] = tries
    wait = error.after if error.after is not None else min(5.0 * 2 ** (tries - 1), 120.0)
    until = iso(clock.now() + timedelta(seconds=wait))
    scope.memory.not_before[item.op] = until
    return until


def _op(scope: Scope, item: Draft, phase: Phase, said: str, **fields: Any) -> None:
    text = f"{item.call.call} of {item.call.key} {said}"
    scope.write("op", text, op=item.op, phase=phase.value, attempt=item.attempt, **fields)
