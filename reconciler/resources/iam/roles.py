"""Roles. They are looked up by name; those that git has forgotten are found under the cluster's path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from reconciler.live.errors import NotFound
from reconciler.resources.base import OUR_TAGS, TAG_KEY, TAG_OP, mark_of, tag_list, tag_map
from reconciler.resources.drafts import (
    Draft,
    Step,
    SteppingHandler,
    adding,
    adoption_marks,
    as_list,
    as_map,
    dropped,
    fields_of,
    in_words_of,
    lacks,
    new_marks,
    removing,
    resolved,
    step,
)
from reconciler.resources.handler import Call, World
from reconciler.resources.iam.policies import inline_in_words_of, read_policy, trust_document, trust_in_words_of
from schemas.journal import EffectClass
from schemas.plan import Action
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, resolve
from schemas.values import JsonObject

SETTLE = 120


def role_path(cluster: str) -> str:
    """IAM cannot list by tag; a path of our own makes one short listing of it."""
    return f"/instantstart/{cluster}/"


class RoleHandler(SteppingHandler):
    """`iam.Role`: the role is made first, its policies follow as an update."""

    types: tuple[str, ...] = ("iam.Role",)
    looks_after: tuple[str, ...] = ("eks.Cluster", "iam.OpenIDConnectProvider")

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        found = [_look(world, resource) for resource in wanted]
        names = {seen.name for seen in found} | {resource.adopt for resource in wanted}
        listed = world.aws.pages("iam", "ListRoles", "Roles", PathPrefix=role_path(world.cluster))
        for role in listed:
            if role["RoleName"] not in names:
                found.extend(_leftover(world, str(role["RoleName"])))
        return found

    def create(self, world: World, action: Action) -> Draft | None:
        trust = resolved(world, action.want["trust"])
        if trust is None:
            return None
        made = step(
            "iam",
            "CreateRole",
            RoleName=action.name,
            Path=role_path(world.cluster),
            AssumeRolePolicyDocument=json.dumps(trust_document(trust)),
            Description=f"{action.name}, kept by InstantStart",
            Tags=tag_list(new_marks(world, action)),
        )
        return Draft(steps=[made], say=f"Create role {action.name}", cls=EffectClass.NAME, settle=SETTLE, deadline=900)

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        touched = fields_of(action)
        want = resolved(world, {name: value for name, value in action.want.items() if name in touched})
        if want is None:
            return None
        role = seen.name
        steps: list[Step] = []
        if want.get("trust") and want["trust"] != seen.spec.get("trust"):
            document = json.dumps(trust_document(want["trust"]))
            steps.append(step("iam", "UpdateAssumeRolePolicy", RoleName=role, PolicyDocument=document))
        if "managed" in touched:
            steps += _managed(role, as_list(want.get("managed")), as_list(seen.spec.get("managed")))
        if "inline" in touched:
            steps += _inline(action, role, as_map(want.get("inline")), as_map(seen.spec.get("inline")))
        return Draft(steps=steps, say=f"Update role {role}: {', '.join(sorted(touched))}", deadline=900)

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        role = seen.name
        steps = [
            removing("iam", "DetachRolePolicy", RoleName=role, PolicyArn=arn)
            for arn in as_list(seen.detail.get("managed"))
        ]
        steps += [
            removing("iam", "DeleteRolePolicy", RoleName=role, PolicyName=name)
            for name in as_list(seen.detail.get("inline"))
        ]
        steps.append(removing("iam", "DeleteRole", RoleName=role))
        return Draft(steps=steps, say=f"Delete role {role}", cls=EffectClass.NAME, deadline=900)

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        tags = tag_list(adoption_marks(world, action))
        return Draft(steps=[step("iam", "TagRole", RoleName=seen.name, Tags=tags)], say=f"Adopt role {seen.name}")

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        untag = removing("iam", "UntagRole", RoleName=seen.name, TagKeys=list(OUR_TAGS))
        return Draft(steps=[untag], say=f"Release role {seen.name}: it stays, our tags go")

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        return _ids(answers[0]["Role"]) if call.verb == "create" else {}


def _look(world: World, resource: Resource) -> Observed:
    role = _get(world, resource.adopt or resource.name)
    if role is None:
        return absent(resource)
    tags = tag_map(as_list(role.get("Tags")))
    return _observed(world, resource.key, role, tags, resource) or absent(resource)


def _leftover(world: World, name: str) -> Iterable[Observed]:
    """A role under the cluster's path that git has forgotten: ours if its tags say so."""
    role = _get(world, name)
    if role is None:
        return
    tags = tag_map(as_list(role.get("Tags")))
    key = tags.get(TAG_KEY, "")
    if key.startswith(f"iam.Role/{world.cluster}/") and mark_of(tags, key, world.cluster) is not Mark.FOREIGN:
        seen = _observed(world, key, role, tags, None)
        if seen is not None:
            yield seen


def _get(world: World, name: str) -> JsonObject | None:
    try:
        role: JsonObject = world.aws.read("iam", "GetRole", RoleName=name)["Role"]
    except NotFound:
        return None
    return role


def _observed(
    world: World, key: str, role: JsonObject, tags: dict[str, str], resource: Resource | None
) -> Observed | None:
    """None: it went while we looked."""
    name = str(role["RoleName"])
    mark = mark_of(tags, key, world.cluster)
    wanted = as_map(resolve(resource.spec, world.observed)) if resource else {}
    try:
        managed, inline = _policies(world, name)
    except NotFound:  # the role is not there any more, or only one of its policies
        if _get(world, name) is not None:
            raise
        return None
    spec: JsonObject = {
        "trust": trust_in_words_of(wanted.get("trust"), read_policy(role.get("AssumeRolePolicyDocument"))),
        "managed": in_words_of(wanted.get("managed"), managed),
        "inline": inline_in_words_of(wanted.get("inline"), inline),
    }
    if mark is not Mark.OURS:  # what else a role carried before us is not ours to take away
        spec["managed"] = [arn for arn in spec["managed"] if arn in as_list(wanted.get("managed"))]
        spec["inline"] = {k: v for k, v in spec["inline"].items() if k in as_map(wanted.get("inline"))}
    unfinished = any(lacks(wanted.get(name), spec[name]) for name in ("managed", "inline") if name in wanted)
    return Observed(
        key=key,
        type="iam.Role",
        name=name,
        presence=Presence.PRESENT,
        spec=spec,
        attrs={**_ids(role), "name": name},
        health=Health.PROGRESSING if unfinished else Health.HEALTHY,
        ready=not unfinished,
        reason="Unfinished" if unfinished else "",
        message="its policies are not attached yet" if unfinished else "",
        mark=mark,
        op=tags.get(TAG_OP),
        identity=str(role.get("RoleId", role["Arn"])),
        detail={"managed": managed, "inline": sorted(inline)},
    )


def _ids(role: JsonObject) -> JsonObject:
    """Another role of the same name has the same ARN, and another id."""
    return {"arn": role["Arn"], "id": role.get("RoleId", role["Arn"])}


def _policies(world: World, role: str) -> tuple[list[str], dict[str, JsonObject]]:
    """Attached policies by ARN, sorted, and inline ones by name."""
    attached = world.aws.pages("iam", "ListAttachedRolePolicies", "AttachedPolicies", RoleName=role)
    names: list[Any] = list(world.aws.pages("iam", "ListRolePolicies", "PolicyNames", RoleName=role))
    inline = {
        str(name): read_policy(world.aws.read("iam", "GetRolePolicy", RoleName=role, PolicyName=name)["PolicyDocument"])
        for name in names
    }
    return sorted(str(policy["PolicyArn"]) for policy in attached), inline


def _managed(role: str, wanted: list[str], there: list[str]) -> list[Step]:
    attach = [adding("iam", "AttachRolePolicy", RoleName=role, PolicyArn=arn) for arn in wanted if arn not in there]
    detach = [removing("iam", "DetachRolePolicy", RoleName=role, PolicyArn=arn) for arn in there if arn not in wanted]
    return attach + detach


def _inline(action: Action, role: str, wanted: JsonObject, there: JsonObject) -> list[Step]:
    put = [
        step("iam", "PutRolePolicy", RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
        for name, document in sorted(wanted.items())
        if there.get(name) != document
    ]
    gone = [
        removing("iam", "DeleteRolePolicy", RoleName=role, PolicyName=name) for name in dropped(action, "inline", there)
    ]
    return put + gone
