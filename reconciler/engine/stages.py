"""Step 8: the state of each stage, from the plan, the look and the ops. Pure; worst wins.

A stage is Ready when all that it wants was seen healthy and nothing about it is planned, held, refused or open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from reconciler.desired.names import type_of
from reconciler.engine.scope import Scope
from reconciler.plan.once import again, retried
from reconciler.plan.registry import rule_for
from schemas.errors import RetryLater
from schemas.journal import EffectClass, OpRecord, Phase, StageState, StageStatus
from schemas.plan import Action
from schemas.resource import STAGES, Health, Observed, Presence, Resource, Stage

_RANK = (StageState.FAILED, StageState.UNKNOWN, StageState.PROGRESSING, StageState.WAITING, StageState.READY)


@dataclass(frozen=True, kw_only=True)
class State:
    """What a stage line says."""

    state: StageState
    reason: str = ""
    msg: str = ""
    progress: str | None = None


READY = State(state=StageState.READY)


def states(scope: Scope) -> dict[str, State]:
    """Every stage that this revision has, in order."""
    found = {Stage.VALIDATE.value: _validate(scope)}
    if scope.world is None or scope.plan is None:
        return found
    wanted = dict(scope.desired.resources) if scope.desired is not None else {}
    everything = {**scope.previous, **wanted} if scope.desired is None else wanted
    # A stage that once was told of ends as Ready too, when the last thing in it is gone.
    known = scope.status.stages if scope.status.rev == scope.revision else {}
    unseen = [r for r in scope.previous.values() if r.key not in everything and _is_unseen(scope, r)]
    if scope.desired is None and scope.blind is not None and not scope.plan.unknown:
        # Nothing is known to be wanted of what could not be looked at, and yet something may be left there.
        found[Stage.VALIDATE.value] = State(state=StageState.UNKNOWN, reason=scope.blind.reason)
    for stage in STAGES[1:]:
        resources = [r for r in (*everything.values(), *unseen) if r.stage is stage]
        actions = [a for a in scope.plan.actions if a.stage is stage]
        if resources or actions or stage.value in known:
            found[stage.value] = _stage(scope, stage, resources, actions)
    return found


def _is_unseen(scope: Scope, resource: Resource) -> bool:
    """Wanted before and not any more, and nobody can tell whether it is still there."""
    seen = scope.observed.get(resource.key)
    ours = not resource.reference and not rule_for(resource.type).once
    return ours and seen is not None and seen.presence is Presence.UNKNOWN


def _validate(scope: Scope) -> State:
    if scope.policy_problem is not None:
        return State(state=StageState.FAILED, reason="PolicyInvalid", msg=scope.policy_problem)
    if scope.folder is not None and scope.folder.problems:
        first, more = scope.folder.problems[0], len(scope.folder.problems) - 1
        return State(
            state=StageState.FAILED, reason="Invalid", msg=str(first) + (f" (and {more} more)" if more else "")
        )
    if scope.blind is not None and scope.blind.reason in ("WrongAccount", "NoAccount"):
        return State(state=StageState.FAILED, reason=scope.blind.reason, msg=scope.blind.message)
    return READY


def _stage(scope: Scope, stage: Stage, resources: Sequence[Resource], actions: Sequence[Action]) -> State:
    planned = {action.key for action in actions}
    open_ops = scope.status.open_ops()
    mended = {action.key for action in actions if any(op.serves(action.digest) for op in open_ops)}
    parts = [
        *_refusals(scope, stage),
        *_ops(scope, stage, actions),
        # Of all that waits, what a person can let go is told first.
        *(_of_action(scope, a) for a in sorted(actions, key=lambda a: a.digest not in scope.held)),
        *(_of_resource(scope, resource, planned, mended) for resource in resources),
    ]
    worst = min(parts, key=lambda part: _RANK.index(part.state), default=READY)
    return State(state=worst.state, reason=worst.reason, msg=worst.msg, progress=_progress(scope, resources))


def _refusals(scope: Scope, stage: Stage) -> Iterable[State]:
    for refusal in scope.plan.refusals if scope.plan is not None else ():
        if refusal.stage is stage:
            text = f"{refusal.source}: {refusal.message}" + (f"; {refusal.way_out}" if refusal.way_out else "")
            yield State(state=StageState.FAILED, reason=refusal.reason, msg=text)


def _ops(scope: Scope, stage: Stage, actions: Sequence[Action]) -> Iterable[State]:
    for op in scope.status.ops.values():
        if not _belongs(scope, op, stage):
            continue
        text = f"{op.call} of {op.key}"
        failed = op.phase is Phase.FAILED and not retried(op, scope.status.retries, stage.value)
        if op.phase is Phase.UNKNOWN:
            yield State(state=StageState.FAILED, reason="OutcomeUnknown", msg=f"{text}: resolve {op.op}")
        elif failed and (any(op.serves(action.digest) for action in actions) or op.cls.value == "once"):
            yield State(state=StageState.FAILED, reason=op.reason or "Failed", msg=f"{text}: {op.msg or ''}")
        elif _gets_another_turn(scope, op):
            yield State(state=StageState.PROGRESSING, reason="Retrying", msg=text)
        elif op.phase is Phase.REFUSED:
            yield State(state=StageState.PROGRESSING, reason=op.reason or "Refused", msg=f"{text}: {op.msg or ''}")
        elif op.phase.open:
            yield State(state=StageState.PROGRESSING, reason=_camel(op), msg=f"{text} since {op.at[11:19]}")


def _gets_another_turn(scope: Scope, op: OpRecord) -> bool:
    """A retry that was ordered in this tick is planned in the next one; until then nothing is Ready."""
    if op.cls is not EffectClass.ONCE or op.phase.open or not again(op, scope.status.retries):
        return False
    if any(other.key == op.key and other.seq > op.seq for other in scope.status.ops.values()):
        return False
    known = scope.desired.operations if scope.desired is not None else ()
    now = scope.world.clock.now() if scope.world is not None else None
    return any(op.key in operation.keys and now is not None and now < operation.expires for operation in known)


def _of_action(scope: Scope, action: Action) -> State:
    held = scope.held.get(action.digest)
    if held is not None:
        return State(state=StageState.WAITING, reason=held.reason, msg=f"{action.key}: {held.message}")
    undrafted = scope.undrafted.get(action.digest)
    if undrafted is not None:
        stops = not isinstance(undrafted, RetryLater)
        state = StageState.FAILED if stops else StageState.PROGRESSING
        return State(state=state, reason=undrafted.reason, msg=f"{action.key}: {undrafted.message}")
    missing = [need for need in action.needs if not _met(action, scope.observed.get(need))]
    if missing:
        what = missing[0]
        seen = scope.observed.get(what)
        why = f" ({seen.reason})" if seen is not None and seen.reason else ""
        return State(state=StageState.WAITING, reason="WaitingForNeeds", msg=f"waits for {what}{why}")
    return State(state=StageState.PROGRESSING, reason="Applying", msg=f"{action.verb.value} {action.key}")


def _of_resource(scope: Scope, resource: Resource, planned: Set[str], mended: Set[str]) -> State:
    """`planned`: keys with an action; `mended`: those whose action is under way, so that a failure may be over soon."""
    rule = rule_for(resource.type)
    seen = scope.observed.get(resource.key)
    blind = seen is None or seen.presence is Presence.UNKNOWN
    if rule.once and not (blind and resource.key in planned):  # what was done needs no subject any more
        return READY
    if seen is None or seen.presence is Presence.UNKNOWN:
        reason = seen.reason if seen is not None else "NotLooked"
        return State(state=StageState.UNKNOWN, reason=reason, msg=seen.message if seen is not None else "")
    if scope.desired is None:  # taking down: what is gone is done
        gone = seen.presence is Presence.ABSENT or not seen.ours or _stays(scope, resource)
        # Its action tells how far it is; a child goes with its parent.
        told = resource.key in planned or rule.child_of is not None
        return (
            READY
            if gone or told
            else State(state=StageState.PROGRESSING, reason="Deleting", msg=f"{resource.key} is left")
        )
    if seen.presence is Presence.ABSENT:
        unasked = resource.reference or resource.on_demand
        return READY if unasked else State(state=StageState.WAITING, reason="NotThere", msg=resource.key)
    if seen.health is Health.HEALTHY:
        return READY
    text = f"{resource.key}: {seen.message or seen.reason}".rstrip(": ")
    if seen.health is Health.FAILED:
        state = StageState.PROGRESSING if resource.key in mended else StageState.FAILED
        return State(state=state, reason=seen.reason or "Failed", msg=text)
    what = resource.type.rsplit(".", 1)[-1]
    return State(state=StageState.PROGRESSING, reason=seen.reason or f"WaitingFor{what}", msg=text)


def _progress(scope: Scope, resources: Sequence[Resource]) -> str | None:
    """Nodes for compute, else resources: healthy of all."""
    nodes = [_fraction(scope.observed.get(r.key)) for r in resources if r.type == "hyperpod.InstanceGroup"]
    counted = [pair for pair in nodes if pair is not None]
    if counted:
        return f"{sum(a for a, _ in counted)}/{sum(b for _, b in counted)}"
    real = [r for r in resources if not r.reference and not rule_for(r.type).once and not _unasked(scope, r)]
    if not real or scope.desired is None:
        return None
    healthy = sum(1 for r in real if (seen := scope.observed.get(r.key)) is not None and seen.health is Health.HEALTHY)
    return f"{healthy}/{len(real)}"


def _stays(scope: Scope, resource: Resource) -> bool:
    """It has no mark to take off and stays with what it is in: nothing is planned for it."""
    actions = scope.plan.actions if scope.plan is not None else ()
    return not rule_for(resource.type).marked and all(action.key != resource.key for action in actions)


def _unasked(scope: Scope, resource: Resource) -> bool:
    """There for others only, and nobody has asked for it."""
    seen = scope.observed.get(resource.key)
    return resource.on_demand and seen is not None and seen.presence is Presence.ABSENT


def _fraction(seen: Observed | None) -> tuple[int, int] | None:
    if seen is None or seen.progress is None or "/" not in seen.progress:
        return None
    have, want = seen.progress.split("/", 1)
    return int(have), int(want)


def _met(action: Action, seen: Observed | None) -> bool:
    if action.verb.value in ("delete", "release"):
        return seen is None or seen.presence is Presence.ABSENT
    return seen is not None and seen.present and (seen.ready or seen.health is Health.HEALTHY)


def _belongs(scope: Scope, op: OpRecord, stage: Stage) -> bool:
    resource = scope.resource(op.key)
    if resource is not None:
        return resource.stage is stage
    return stage is rule_for(type_of(op.key)).stage


def _camel(op: OpRecord) -> str:
    """`eks:CreateCluster` under way is reason `CreateCluster`."""
    return op.call.split(":", 1)[-1] or "Progressing"


def differs(known: StageStatus | None, now: State) -> bool:
    """A line is written at a transition: state or reason, or what it is about that failed: two calls may fail for one
    reason. Progress alone is live and comes from looking."""
    if known is None or (known.state, known.reason) != (now.state, now.reason):
        return True
    return now.state is StageState.FAILED and _subject(known.msg) != _subject(now.msg)


def _subject(msg: str) -> str:
    """ "ec2:CreateVpc of ec2.Vpc/prod: why" is about "ec2:CreateVpc of ec2.Vpc/prod"."""
    return msg.partition(": ")[0] if ": " in msg[:200] else ""
