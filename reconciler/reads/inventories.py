"""Everything of a cluster that is ours, or ought to be, by stage and with its health. Pure: from the newest look."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.desired.names import type_of
from reconciler.engine.sight import Sight
from reconciler.plan.registry import RULES
from reconciler.reads.parts import View, told
from schemas.plan import Action
from schemas.resource import STAGES, Observed, Presence, Resource

IDS = ("arn", "id", "name")  # attributes that name a thing in its own API


class ThingView(View):
    """`presence`: present, absent or unknown. `mark`: ours, adopted, child or foreign. `id`: its ARN or id.
    `planned`: the verb of what the plan would do to it now, `held` whether that waits for a person."""

    key: str
    type: str
    name: str
    stage: str
    presence: str
    mark: str = ""
    health: str = ""
    progress: str | None = None
    reason: str = ""
    message: str = ""
    id: str = ""
    document: str = ""
    where: str = ""
    wanted: bool = True
    planned: str | None = None
    held: bool = False


class StageCount(View):
    """`healthy` of `all` things in a stage."""

    stage: str
    healthy: int
    all: int


def things(sight: Sight) -> tuple[ThingView, ...]:
    """What is ours or wanted, by stage and key; what is only looked up (a bucket of others, zones) is left out."""
    actions = {action.key: action for action in (sight.plan.actions if sight.plan is not None else ())}
    found = [_thing(sight, key, actions.get(key)) for key in _keys(sight)]
    order = {stage.value: number for number, stage in enumerate(STAGES)}
    return tuple(sorted(found, key=lambda thing: (order[thing.stage], thing.key)))


def by_stage(found: tuple[ThingView, ...]) -> tuple[StageCount, ...]:
    counted: dict[str, list[ThingView]] = {}
    for thing in found:
        counted.setdefault(thing.stage, []).append(thing)
    return tuple(
        StageCount(stage=stage, healthy=sum(1 for thing in there if thing.health == "healthy"), all=len(there))
        for stage, there in counted.items()
    )


def _keys(sight: Sight) -> Iterator[str]:
    wanted = {**sight.previous, **sight.desired}
    for key in dict.fromkeys((*wanted, *sight.observed)):
        resource, seen = wanted.get(key), sight.observed.get(key)
        rule = RULES.get(type_of(key))  # somebody's thing of a type that nobody here knows is not ours
        if rule is None or rule.once or (resource is not None and resource.reference):
            continue
        ours = seen is not None and seen.ours and seen.presence is not Presence.ABSENT
        if (key in sight.desired or ours) and not _unasked(sight.desired.get(key), seen):
            yield key


def _unasked(resource: Resource | None, seen: Observed | None) -> bool:
    """It serves others only, and nobody has asked for it."""
    return resource is not None and resource.on_demand and seen is not None and seen.presence is Presence.ABSENT


def _thing(sight: Sight, key: str, action: Action | None) -> ThingView:
    resource = sight.desired.get(key) or sight.previous.get(key)
    seen = sight.observed.get(key)
    present = seen is not None and seen.present
    stage = resource.stage if resource is not None else RULES[type_of(key)].stage
    return ThingView(
        key=key,
        type=type_of(key),
        name=seen.name if seen is not None else (resource.name if resource is not None else key),
        stage=stage.value,
        presence=seen.presence.value if seen is not None else Presence.UNKNOWN.value,
        mark=seen.mark.value if seen is not None and present else "",
        health=seen.health.value if seen is not None and present else "",
        progress=seen.progress if seen is not None else None,
        reason=seen.reason if seen is not None else "NotLooked",
        message=told(seen.message) if seen is not None else "",
        id=next((str(seen.attrs[name]) for name in IDS if seen.attrs.get(name)), "") if seen is not None else "",
        document=str(resource.source) if resource is not None else "",
        where=f"{resource.source.path}:{resource.source.line}" if resource and resource.source.path else "",
        wanted=key in sight.desired,
        planned=action.verb.value if action is not None else None,
        held=action is not None and action.digest in sight.held,
    )
