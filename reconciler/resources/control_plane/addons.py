"""EKS add-ons. One that only waits for its first node is under way, not failed, and holds nothing back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reconciler.live.errors import CallRejected, NotFound
from reconciler.resources.base import TAG_KEY, TAG_OP, bar_of, mark_of
from reconciler.resources.control_plane.clusters import cluster_key
from reconciler.resources.control_plane.marking import adopting, releasing
from reconciler.resources.control_plane.normal_form import addon_health, addon_spec, overlaid, without
from reconciler.resources.control_plane.self_managed import has_nodes, stands_already
from reconciler.resources.drafts import (
    OP,
    Draft,
    Step,
    SteppingHandler,
    as_map,
    in_words_of,
    later_if_role_is_young,
    new_marks,
    removing,
    resolved,
    step,
)
from reconciler.resources.handler import Call, Reply, World
from schemas.journal import EffectClass
from schemas.plan import Action
from schemas.resource import Mark, Observed, Presence, Resource, absent, resolve, unknown
from schemas.values import JsonObject, canonical

TYPE = "eks.Addon"
SETTLE = 120
TOKEN_LIFE = 6 * 3600


class AddonHandler(SteppingHandler):
    """`eks.Addon`: its name is the add-on's; an add-on without our mark is foreign until a document adopts it."""

    types: tuple[str, ...] = (TYPE,)
    looks_after: tuple[str, ...] = ("eks.Cluster", "iam.Role")

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        cluster = world.observed.get(cluster_key(world.cluster))
        if cluster is None or cluster.presence is Presence.UNKNOWN:
            return [unknown(resource, "ClusterUnknown", "the EKS cluster could not be seen") for resource in wanted]
        if not cluster.present or not cluster.attrs.get("endpoint"):
            return [absent(resource) for resource in wanted]
        try:
            names: list[Any] = list(world.aws.pages("eks", "ListAddons", "addons", clusterName=cluster.name))
        except NotFound:  # the cluster went since it was seen, and its add-ons with it
            return [absent(resource) for resource in wanted]
        asked = {resource.adopt or resource.name: resource for resource in wanted}
        raw = [addon for name in names if (addon := _describe(world, cluster.name, str(name))) is not None]
        starting = any(addon.get("status") == "CREATING" for addon in raw)
        nodes = has_nodes(world) if starting else True
        found = {
            seen.key: seen
            for addon in raw
            for seen in [_observed(world, addon, asked.get(str(addon["addonName"])), nodes=nodes)]
        }
        return [*found.values(), *(absent(resource) for resource in wanted if resource.key not in found)]

    def create(self, world: World, action: Action) -> Draft | None:
        want = resolved(world, action.want)
        cluster = world.observed.get(cluster_key(world.cluster))
        if want is None or cluster is None or not cluster.ready:
            return None
        # What somebody installed by hand is not overwritten: EKS reports the fields that conflict.
        conflicts = "NONE" if stands_already(world, action.name) else "OVERWRITE"
        params: JsonObject = {
            "clusterName": cluster.name,
            "addonName": action.name,
            "resolveConflicts": conflicts,
            "clientRequestToken": OP,
            "tags": new_marks(world, action),
            **_settings(want),
        }
        return Draft(
            steps=[step("eks", "CreateAddon", **params)],
            say=f"Install add-on {action.name} {want.get('version') or ''}".rstrip(),
            cls=EffectClass.TOKEN,
            settle=SETTLE,
            token_life=TOKEN_LIFE,
            deadline=1800,
        )

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        want = resolved(world, action.want)
        if want is None or seen.detail.get("status") in ("CREATING", "UPDATING"):
            return None
        values = overlaid(as_map(seen.spec.get("values")), as_map(want.get("values")))
        for pointer in _given_up(world, action):
            values = without(values, pointer)
        kept = {"version": seen.spec.get("version"), "role": seen.spec.get("role")}
        params: JsonObject = {
            "clusterName": seen.detail["cluster"],
            "addonName": seen.name,
            "resolveConflicts": "PRESERVE",
            "clientRequestToken": OP,
            **_settings({**kept, **{k: v for k, v in want.items() if v is not None}, "values": values}),
        }
        if seen.spec.get("values") and not values:  # what is not said stays as it is
            params["configurationValues"] = canonical(values)
        fields = ", ".join(sorted(action.fields or want))
        return Draft(steps=[step("eks", "UpdateAddon", **params)], say=f"Update add-on {seen.name}: {fields}")

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        gone = removing("eks", "DeleteAddon", clusterName=seen.detail["cluster"], addonName=seen.name)
        return Draft(steps=[gone], say=f"Remove add-on {seen.name}", cls=EffectClass.NAME, deadline=1800)

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return adopting(world, action, seen, f"add-on {seen.name}")

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        return releasing(seen, f"add-on {seen.name}")

    def send(self, world: World, call: Call, op: str) -> Reply:
        first: Step = call.params["steps"][0]
        try:
            return super().send(world, call, op)
        except CallRejected as error:
            raise later_if_role_is_young(world, str(first.params.get("serviceAccountRoleArn", "")), error) from error

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        for answer in answers:
            if "update" in answer:
                return {"update": answer["update"]["id"]}
            if call.verb == "create":
                return {"arn": answer["addon"]["addonArn"]}
        return {}


def _describe(world: World, cluster: str, name: str) -> JsonObject | None:
    try:
        return as_map(world.aws.read("eks", "DescribeAddon", clusterName=cluster, addonName=name)["addon"])
    except NotFound:
        return None


def _observed(world: World, addon: JsonObject, resource: Resource | None, *, nodes: bool) -> Observed:
    name = str(addon["addonName"])
    tags: dict[str, str] = as_map(addon.get("tags"))
    key = resource.key if resource else tags.get(TAG_KEY, "")
    mark = mark_of(tags, key, world.cluster) if key.startswith(f"{TYPE}/{world.cluster}/") else Mark.FOREIGN
    health, ready, reason, message = addon_health(addon, has_nodes=nodes)
    foreign = mark is Mark.FOREIGN and resource is None
    wanted = as_map(resolve(resource.spec, world.observed)) if resource else {}
    return Observed(
        key=f"{TYPE}/{world.cluster}/{name}" if foreign else key,
        type=TYPE,
        name=name,
        presence=Presence.PRESENT,
        spec=as_map(in_words_of(wanted, addon_spec(addon))),
        attrs={"arn": addon["addonArn"], "version": addon.get("addonVersion")},
        health=health,
        ready=ready,
        reason=reason,
        message=f"add-on {name} was installed by somebody else" if foreign else message,
        mark=mark,
        bar=bar_of(tags, world.cluster),
        op=tags.get(TAG_OP),
        identity=f"{addon['addonArn']}@{addon.get('createdAt', '')}",
        detail={"status": addon.get("status"), "cluster": addon.get("clusterName")},
    )


def _given_up(world: World, action: Action) -> Iterable[str]:
    """Values that an earlier revision wrote and this one does not; what others wrote stays."""
    before = world.previous.get(action.key)
    written = as_map(before.spec.get("values")) if before is not None else {}
    for line in action.patch:
        pointer = str(line.get("path", "")).removeprefix("/values")
        if line.get("op") == "remove" and pointer != line["path"] and without(written, pointer) != written:
            yield pointer


def _settings(want: JsonObject) -> JsonObject:
    """Version, role and values as CreateAddon and UpdateAddon take them; what is not said is left out."""
    found: JsonObject = {}
    if want.get("version"):
        found["addonVersion"] = want["version"]
    if want.get("role"):
        found["serviceAccountRoleArn"] = want["role"]
    if want.get("values"):
        found["configurationValues"] = canonical(want["values"])
    return found
