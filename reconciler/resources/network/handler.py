"""The handler of the network: one look for all EC2 types, and one lane for all its changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from reconciler.live.errors import CallRefused, CallRejected
from reconciler.resources.base import OUR_TAGS, TAG_OP, bar_of, mark_of, tag_list, written_tags
from reconciler.resources.drafts import (
    Draft,
    SteppingHandler,
    adoption_marks,
    as_list,
    as_map,
    in_words_of,
    lacks,
    removing,
    step,
)
from reconciler.resources.handler import Call, Reply, World
from reconciler.resources.network import creating, deleting, updating
from reconciler.resources.network.normal_form import Form, form_of, zones_form
from reconciler.resources.network.pairing import Pair, pair, unmarked
from reconciler.resources.network.rules import normal_rules
from reconciler.resources.network.sight import LISTINGS, Live, Sight, dns_of, see, zones
from schemas.errors import Refused
from schemas.plan import Action, Verb
from schemas.resource import Bar, Health, Mark, Observed, Presence, Resource, absent, resolve
from schemas.values import JsonObject

ZONES = "ec2.Zones"
# What the one call of a creation cannot carry: it follows as an update.
FOLLOWS = {"ec2.RouteTable": ("routes", "subnets"), "ec2.SecurityGroup": ("ingress", "egress")}


class NetworkHandler(SteppingHandler):
    """Answers for every `ec2.*` type."""

    types: tuple[str, ...] = (ZONES, *LISTINGS)
    looks_after: tuple[str, ...] = ()

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        adopted: dict[str, list[str]] = {}
        for resource in wanted:
            if resource.adopt:
                adopted.setdefault(resource.type, []).append(resource.adopt)
        sight = see(world.aws, world.cluster, adopted)
        lost = unmarked(world.cluster, wanted, sight, world.made)
        if lost:
            # What we made is known by its id too: without its mark it must not be made a second time.
            sight = see(world.aws, world.cluster, {kind: [*adopted.get(kind, ()), *ids] for kind, ids in lost.items()})
        found: list[Observed] = []
        if any(resource.type == ZONES for resource in wanted):
            form = zones_form(zones(world.aws))
            found += [_observed(r.key, r.name, ZONES, form) for r in wanted if r.type == ZONES]
        pairs = {
            kind: pair(kind, world.cluster, [r for r in wanted if r.type == kind], sight[kind], world.made)
            for kind in LISTINGS
        }
        dns = {vpc.id: dns_of(world.aws, vpc.id) for each in pairs["ec2.Vpc"] for vpc in each.found}
        known = dict(world.observed)
        for kind in LISTINGS:  # the order of the table: what is referred to comes before what refers to it
            for each in pairs[kind]:
                seen = _seen(world, each, kind, sight, dns, known)
                known[seen.key] = seen
                found.append(seen)
        return found

    def drafts(self, world: World, actions: Sequence[Action]) -> Sequence[Draft | None]:
        picked: dict[str, list[str]] = {}
        return [
            creating.subnet(world, action, picked)
            if action.verb is Verb.CREATE and action.type == "ec2.Subnet"
            else self.draft(world, action)
            for action in actions
        ]

    def create(self, world: World, action: Action) -> Draft | None:
        return creating.draft(world, action)

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return updating.draft(world, action, seen)

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return deleting.draft(action, seen)

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        tags = tag_list(adoption_marks(world, action))
        return Draft(
            steps=[step("ec2", "CreateTags", Resources=[seen.identity], Tags=tags)],
            say=f"Adopt {action.type} {seen.identity} as {action.name}",
        )

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        keys = [{"Key": name} for name in OUR_TAGS]
        return Draft(
            steps=[removing("ec2", "DeleteTags", Resources=[seen.identity], Tags=keys)],
            say=f"Release {action.type} {seen.identity}: it stays, our tags go",
        )

    def send(self, world: World, call: Call, op: str) -> Reply:
        if "stop" in call.params:
            raise call.params["stop"]
        try:
            return super().send(world, call, op)
        except CallRejected as error:
            if error.code != "InvalidSubnet.Conflict":
                raise
            # Somebody took the block since the look; the next look picks another.
            raise Refused(error.message, reason="BlockTaken") from error
        except CallRefused as error:
            if error.code != "DependencyViolation" or call.verb != "delete":
                raise
            held = deleting.holders(world, call.actions[0].type, str(call.before.get("identity", "")))
            raise Refused(f"{error.message}; {held}" if held else error.message, reason="StillInUse") from error

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        deleting.check(answers)
        return creating.made(answers) if call.verb == "create" else {}


def _seen(
    world: World,
    each: Pair,
    kind: str,
    sight: Sight,
    dns: Mapping[str, tuple[bool, bool]],
    known: Mapping[str, Observed],
) -> Observed:
    match each.found:
        case ():  # a key that nobody wants is known from an object only, so this one is wanted
            return absent(cast("Resource", each.wanted))
        case (live,):
            name = each.wanted.name if each.wanted else live.tags.get("Name", live.id)
            form = form_of(live, sight, dns)
            mark = mark_of(live.tags, each.key, world.cluster)
            spec = _comparable(world, each, live, form, mark, known)
            form = _unfinished(kind, each, spec, form, known)
            bar = _bar(kind, live, world.cluster)
            return _observed(each.key, name, kind, form, live=live, mark=mark, spec=spec, bar=bar)
        case several:
            ids = ", ".join(live.id for live in several)
            return Observed(
                key=each.key,
                type=kind,
                name=each.wanted.name if each.wanted else several[0].id,
                presence=Presence.UNKNOWN,
                reason="DuplicateMark",
                message=f"{ids} all stand for {each.key}: remove the tags from all but one",
            )


def _comparable(
    world: World, each: Pair, live: Live, form: Form, mark: Mark, known: Mapping[str, Observed]
) -> JsonObject:
    """The observed spec without what others put on the object, in the words of the wanted where that is the same."""
    spec = dict(form.spec)
    wanted = as_map(resolve(each.wanted.spec, known)) if each.wanted else {}
    if "tags" in spec:
        spec["tags"] = written_tags(live.tags, world, each.key)
    for name in ("ingress", "egress"):
        if name in spec:
            spec[name] = _rules_in_words_of(as_list(wanted.get(name)), spec[name], live.id)
    if mark is not Mark.OURS:
        spec = _only_authored(spec, wanted)
    return as_map(in_words_of(wanted, spec))


def _unfinished(kind: str, each: Pair, spec: JsonObject, form: Form, known: Mapping[str, Observed]) -> Form:
    """A route table without its routes, or a group without its rules, carries nobody yet."""
    if each.wanted is None or not form.ready:
        return form
    wanted = as_map(resolve(each.wanted.spec, known))
    missing = [name for name in FOLLOWS.get(kind, ()) if lacks(wanted.get(name), spec.get(name)) and name in wanted]
    if not missing:
        return form
    return replace(form, health=Health.PROGRESSING, ready=False, reason="Unfinished", message=f"no {missing[0]} yet")


def _rules_in_words_of(wanted: list[Any], seen: list[Any], group: str) -> list[Any]:
    known = all(isinstance(rule.get("peer"), str) for rule in wanted)
    return wanted if known and normal_rules(wanted, group) == seen else seen


def _only_authored(spec: JsonObject, wanted: JsonObject) -> JsonObject:
    """Of an object that was there before us, only the entries that git names: the others are not ours to take away."""
    kept = dict(spec)
    for name, value in spec.items():
        if isinstance(value, list):
            kept[name] = [each for each in as_list(value) if each in as_list(wanted.get(name))]
        elif isinstance(value, dict):
            kept[name] = {k: v for k, v in as_map(value).items() if k in as_map(wanted.get(name))}
    return kept


def _observed(
    key: str,
    name: str,
    kind: str,
    form: Form,
    *,
    live: Live | None = None,
    mark: Mark = Mark.FOREIGN,
    spec: JsonObject | None = None,
    bar: Bar | None = None,
) -> Observed:
    return Observed(
        key=key,
        type=kind,
        name=name,
        presence=Presence.PRESENT,
        spec=form.spec if spec is None else spec,
        attrs=form.attrs,
        health=form.health,
        ready=form.ready,
        reason=form.reason,
        message=form.message or ("being deleted" if form.health is Health.DELETING else ""),
        mark=mark,
        op=live.tags.get(TAG_OP) if live else None,
        bar=bar,
        identity=live.id if live else "",
        detail=form.detail,
    )


def _bar(kind: str, live: Live, cluster: str) -> Bar | None:
    bar = bar_of(live.tags, cluster)
    if bar is None or kind != "ec2.Vpc":
        return bar
    return replace(bar, way_out="name it under network.vpc: several clusters may live in a VPC that none of them owns")
