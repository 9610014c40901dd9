"""Drafting calls as lists of steps, and sending them: what the families on plain AWS calls share.

A draft is pure: what to send is decided from the plan and the newest look, and `OP` stands where the id of the op
will be (tags, tokens). `send` only fills it in. A create has one step; an update or a delete may have several, each
harmless when repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from reconciler.live.errors import AlreadyExists, NotFound
from reconciler.resources.base import TAG_ADOPTED, BaseHandler, marks
from reconciler.resources.handler import Call, Reply, World
from schemas.errors import InstantStartError, Refused, StopUntilChange
from schemas.journal import EffectClass
from schemas.plan import Action, Verb
from schemas.resource import Health, Observed, refs_in, resolve
from schemas.values import JsonObject, JsonValue, canonical, digest

OP = "$op"  # in step params: the id of the op, known when the call leaves
SAY = 120
YOUNG_ROLE = 120.0  # seconds in which a role may not be usable everywhere yet


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One mutating request. An error in `fine` means that what the step wants is so already."""

    service: str
    operation: str
    params: JsonObject
    fine: tuple[type[InstantStartError], ...] = ()


def step(service: str, operation: str, /, **params: Any) -> Step:
    """A step that must succeed."""
    return Step(service=service, operation=operation, params=params)


def adding(service: str, operation: str, /, **params: Any) -> Step:
    """A step that is content if the thing is there already."""
    return Step(service=service, operation=operation, params=params, fine=(AlreadyExists,))


def removing(service: str, operation: str, /, **params: Any) -> Step:
    """A step that is content if the thing is gone already."""
    return Step(service=service, operation=operation, params=params, fine=(NotFound,))


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a family decides about one action; the rest of a `Call` follows from the action."""

    steps: Sequence[Step]
    say: str
    cls: EffectClass = EffectClass.CONVERGENT
    settle: int = 0
    deadline: int = 3600
    token_life: int = 0
    closes_on_reply: bool = True
    verb: str = ""
    params: JsonObject = field(default_factory=dict[str, Any])


class SteppingHandler(BaseHandler):
    """Turns actions into calls of steps. A family says what the steps of each verb are, or None for "not now"."""

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        drafted = zip(actions, self.drafts(world, actions), strict=True)
        return [_call(action, draft) for action, draft in drafted if draft is not None and draft.steps]

    def drafts(self, world: World, actions: Sequence[Action]) -> Sequence[Draft | None]:
        """One draft for each action, in order."""
        return [self.draft(world, action) for action in actions]

    def send(self, world: World, call: Call, op: str) -> Reply:
        answers = send_steps(world, call.params["steps"], op)
        return Reply(ref=self.reply_ref(call, answers))

    def draft(self, world: World, action: Action) -> Draft | None:
        seen = world.observed.get(action.key)
        if action.verb is Verb.CREATE:
            return self.create(world, action) if needs_stand(world, action) else None
        if seen is None or not seen.present:
            return None
        match action.verb:
            case Verb.UPDATE:
                return self.update(world, action, seen)
            case Verb.DELETE | Verb.REPLACE:  # the create of a replacement follows from a later plan
                return None if seen.health is Health.DELETING else self.delete(world, action, seen)
            case Verb.ADOPT | Verb.MARK:
                return self.adopt(world, action, seen)
            case Verb.RELEASE:
                return self.release(world, action, seen)
            case _:
                return None

    def create(self, world: World, action: Action) -> Draft | None:
        raise NotImplementedError

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        raise NotImplementedError

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        raise NotImplementedError

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        raise NotImplementedError

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        raise NotImplementedError

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        """The few ids in the answers that the journal keeps."""
        del call, answers
        return {}


def send_steps(world: World, steps: Sequence[Step], op: str) -> list[JsonObject]:
    """Send each step once, in order; the answers of those that were not already so."""
    answers: list[JsonObject] = []
    for each in steps:
        params = cast("JsonObject", _fill(each.params, op))
        try:
            answers.append(world.aws.mutate(each.service, each.operation, op=op, **params))
        except each.fine:
            continue
    return answers


def new_marks(world: World, action: Action) -> dict[str, str]:
    """Our tags for a thing that is about to be made."""
    return marks(world.cluster, action.key, OP)


def adoption_marks(world: World, action: Action) -> dict[str, str]:
    """Our tags for a thing that was there before us, or (mark) that lost them."""
    adopted = {} if action.verb is Verb.MARK else {TAG_ADOPTED: "true"}
    return new_marks(world, action) | adopted


def needs_stand(world: World, action: Action) -> bool:
    """True if all that a creation is built on may be built on. A gateway without a way out, say, only fails."""
    needed = (world.observed.get(key) for key in action.needs)
    return all(seen is not None and seen.present and seen.ready for seen in needed)


def resolved(world: World, value: JsonValue) -> Any:
    """The value with its Refs filled in, or None while one of them is open."""
    filled = resolve(value, world.observed)
    return None if any(True for _ in refs_in(filled)) else filled


def as_map(value: JsonValue) -> dict[str, Any]:
    """The mapping, or an empty one for null."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def as_list(value: JsonValue) -> list[Any]:
    """The list, or an empty one for null."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else []


def fields_of(action: Action) -> frozenset[str]:
    """The fields an update may touch."""
    return frozenset(action.fields or action.want)


def dropped(action: Action, name: str, seen: Iterable[str]) -> list[str]:
    """Entries of the map `name` that the plan takes away, among those seen.

    The patch is asked, not the target: an entry that neither git nor an earlier revision wrote is not ours to drop.
    """
    wanted = cast("Mapping[str, Any]", action.want.get(name) or {})
    whole = f"/{name}"
    removed = {str(line["path"]) for line in action.patch if line.get("op") == "remove"}
    replaced = {str(line["path"]) for line in action.patch if line.get("op") == "replace"}
    if whole in removed or whole in replaced:
        return sorted(set(seen) - set(wanted))
    return sorted(entry for entry in set(seen) - set(wanted) if f"{whole}/{_pointer(entry)}" in removed)


def in_words_of(wanted: JsonValue, seen: JsonValue) -> JsonValue:
    """What was seen; where it means the same as what is wanted (order of a list), in the words of the wanted."""
    if isinstance(wanted, Mapping) and isinstance(seen, Mapping):
        ours = as_map(wanted)
        return {k: in_words_of(ours.get(k), v) for k, v in as_map(seen).items()}
    if isinstance(wanted, (list, tuple)) and isinstance(seen, (list, tuple)):
        ordered = as_list(wanted)
        same = sorted(map(canonical, ordered)) == sorted(map(canonical, as_list(seen)))
        return ordered if same else as_list(seen)
    return seen


def lacks(wanted: JsonValue, seen: JsonValue) -> bool:
    """True if something wanted is not there yet (what is not known yet cannot be); what is there beside it does
    not matter."""
    if isinstance(wanted, Mapping):
        return _lacks_entry(wanted, seen)
    if isinstance(wanted, (list, tuple)):
        there = {canonical(each) for each in as_list(seen)}
        return any(canonical(each) not in there for each in as_list(wanted))
    return canonical(wanted) != canonical(seen)


def later_if_role_is_young(world: World, role_arn: str, error: InstantStartError) -> InstantStartError:
    """AccessDenied or an unusable role right after the role was made passes by itself; later it does not."""
    if not isinstance(error, StopUntilChange) or error.reason not in ("AccessDenied", "RoleNotUsable"):
        return error
    made_at = world.role_made_at(role_arn)
    if made_at is None or world.clock.now().timestamp() - made_at > YOUNG_ROLE:
        return error
    return Refused(error.message, reason="RoleNotYetUsable")


def _call(action: Action, draft: Draft) -> Call:
    first = draft.steps[0]
    return Call(
        key=action.key,
        lane=action.lane,
        verb=draft.verb or ("delete" if action.verb is Verb.REPLACE else action.verb.value),
        call=f"{first.service}:{first.operation}",
        cls=draft.cls,
        want=digest(action.want),
        say=draft.say[:SAY],
        actions=(action,),
        params=draft.params | {"steps": tuple(draft.steps)},
        before={"identity": action.identity} if action.identity else {},
        settle=draft.settle,
        deadline=draft.deadline,
        token_life=draft.token_life,
        closes_on_reply=draft.closes_on_reply,
    )


def _lacks_entry(wanted: JsonValue, seen: JsonValue) -> bool:
    there = as_map(seen)
    return any(name not in there or lacks(value, there[name]) for name, value in as_map(wanted).items())


def _fill(value: JsonValue, op: str) -> JsonValue:
    if value == OP:
        return op
    if isinstance(value, Mapping):
        return {k: _fill(v, op) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_fill(v, op) for v in cast("Sequence[Any]", value)]
    return value


def _pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
