"""Sends one drafted call. Bodies are built here, on DescribeCluster as it is at this moment.

A folded UpdateCluster that is rejected as a whole had no effect, so its groups are sent once more, one by one, to
find the bad one; its name and the server's words go into `Reply.failures`, the others go on. Every such call is
convergent: counts are absolute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from reconciler.live.errors import CallRejected, NotFound
from reconciler.resources.base import TAG_ADOPTED, TAG_CLUSTER, TAG_KEY, TAG_OP, marks, tag_list
from reconciler.resources.handler import Call, Reply, World
from reconciler.resources.hyperpod.look import describe, is_eks
from reconciler.resources.hyperpod.write_form import MUTABLE, new_group, overlay, write_form
from schemas.errors import Refused, StopUntilChange
from schemas.values import JsonObject

YOUNG_ROLE = 120  # seconds in which a new role may not be usable yet

_CHECKING = re.compile(r"deep ?health ?check", re.IGNORECASE)
_ROLE = re.compile(r"\brole\b|assume", re.IGNORECASE)


def send(world: World, call: Call, op: str) -> Reply:
    params = call.params
    match params["do"]:
        case "create":
            return _create(world, params, op)
        case "adopt" | "mark":
            adopted = {TAG_ADOPTED: "true"} if params["do"] == "adopt" else {}
            tags = {**marks(world.cluster, params["key"], op), **adopted}
            world.aws.mutate("sagemaker", "AddTags", op=op, ResourceArn=params["arn"], Tags=tag_list(tags))
            return Reply()
        case "release":
            keys = [TAG_CLUSTER, TAG_KEY, TAG_OP, TAG_ADOPTED]
            world.aws.mutate("sagemaker", "DeleteTags", op=op, ResourceArn=params["arn"], TagKeys=keys)
            return Reply()
        case "tags":
            return _retag(world, params, op)
        case "delete":
            return _delete(world, params, op)
        case "recovery":
            _update(world, op, [], ClusterName=params["name"], NodeRecovery=params["nodeRecovery"])
            return Reply()
        case "deleteGroups":
            return _delete_groups(world, params, op)
        case _:
            return _respec(world, params, op)


def group_body(name: str, group: Mapping[str, Any], live: Mapping[str, Any] | None, move: str) -> JsonObject:
    """One group of an UpdateCluster request. `live` is the group as DescribeCluster shows it now, or None.

    Raises Refused if the world has moved so that this body would do something else than was planned.
    """
    fields: list[str] | None = group["fields"]
    if live is None:
        if fields is not None:
            raise Refused(f"group {name} is no longer there", reason="GroupGone")
        return new_group(name, group["want"], group["count"])
    if live.get("Status") == "Deleting":
        raise Refused(f"group {name} is being deleted", reason="GroupDeleting")
    if fields is None:  # made by an earlier try whose reply was lost
        fields = [field for field in MUTABLE if field in group["want"]]
    before = write_form(live)
    body = overlay(before, group["want"], fields)
    if move == "raise" and body["InstanceCount"] < before["InstanceCount"]:
        raise Refused(
            f"group {name} has grown to {before['InstanceCount']} since the plan: {body['InstanceCount']} would"
            " be a scale-down",
            reason="CountMoved",
        )
    return body


def _create(world: World, params: JsonObject, op: str) -> Reply:
    cluster: JsonObject = params["cluster"]
    groups = [new_group(name, want, params["counts"][name]) for name, want in params["groups"].items()]
    request: JsonObject = {
        "ClusterName": params["name"],
        "Orchestrator": {"Eks": {"ClusterArn": cluster["eks"]}},
        "NodeRecovery": cluster.get("nodeRecovery") or "Automatic",
        "VpcConfig": {"Subnets": cluster["subnets"], "SecurityGroupIds": cluster["securityGroups"]},
        "InstanceGroups": groups,
        # The training operator refuses jobs on a cluster without the SageMaker tag.
        "Tags": tag_list(
            {**(cluster.get("tags") or {}), **marks(world.cluster, params["key"], op), "SageMaker": "true"}
        ),
    }
    if cluster.get("provisioning", "Continuous") == "Continuous":  # the API has no word for the classic way
        request["NodeProvisioningMode"] = "Continuous"
    try:
        answer = world.aws.mutate("sagemaker", "CreateCluster", op=op, **request)
    except CallRejected as error:
        raise _explained(world, error, groups) from error
    return Reply(ref={"arn": answer["ClusterArn"]})


def _retag(world: World, params: JsonObject, op: str) -> Reply:
    if params["put"]:
        world.aws.mutate("sagemaker", "AddTags", op=op, ResourceArn=params["arn"], Tags=tag_list(params["put"]))
    if params["drop"]:
        world.aws.mutate("sagemaker", "DeleteTags", op=op, ResourceArn=params["arn"], TagKeys=params["drop"])
    return Reply()


def _delete(world: World, params: JsonObject, op: str) -> Reply:
    live = _same(world, params)
    if live is not None and live.get("ClusterStatus") != "Deleting":
        world.aws.mutate("sagemaker", "DeleteCluster", op=op, ClusterName=params["name"])
    return Reply()


def _delete_groups(world: World, params: JsonObject, op: str) -> Reply:
    live = _same(world, params)
    standing = {
        str(group["InstanceGroupName"]): str(group.get("Status", ""))
        for kind in ("InstanceGroups", "RestrictedInstanceGroups")
        for group in cast("list[JsonObject]", (live or {}).get(kind) or [])
    }
    names = [name for name in params["groups"] if standing.get(name, "Deleting") != "Deleting"]
    if not names:
        return Reply()
    if set(standing) <= set(names):
        raise StopUntilChange("a cluster keeps one instance group at least", reason="LastGroup")
    _update(world, op, [], ClusterName=params["name"], InstanceGroupsToDelete=names)
    return Reply()


def _respec(world: World, params: JsonObject, op: str) -> Reply:
    name, bodies = str(params["name"]), _bodies(world, params, params["groups"])
    try:
        _update(world, op, list(bodies.values()), ClusterName=name, InstanceGroups=list(bodies.values()))
    except CallRejected as error:
        if error.code != "ValidationException" or len(bodies) == 1:
            raise
        return _one_by_one(world, params, op)
    return Reply()


def _bodies(world: World, params: JsonObject, names: Iterable[str]) -> dict[str, JsonObject]:
    """Bodies on the groups as they are at this moment."""
    live = _present(world, params["name"])
    groups: dict[str, JsonObject] = {str(g["InstanceGroupName"]): g for g in live.get("InstanceGroups") or ()}
    return {name: group_body(name, params["groups"][name], groups.get(name), params["move"]) for name in names}


def _one_by_one(world: World, params: JsonObject, op: str) -> Reply:
    """Looked at anew before each: the calls before it took their time, and counts move."""
    failures: dict[str, tuple[str, str]] = {}
    for group in params["groups"]:
        body = _bodies(world, params, [group])[group]
        try:
            _update(world, op, [body], ClusterName=params["name"], InstanceGroups=[body])
        except CallRejected as error:
            failures[group] = (error.reason, f"{group}: {error.message}")
    if len(failures) == len(params["groups"]):
        reason, message = next(iter(failures.values()))
        raise StopUntilChange(f"all {len(failures)} groups were rejected; {message}", reason=reason)
    return Reply(ref={"failed": sorted(failures)} if failures else {}, failures=failures)


def _update(world: World, op: str, groups: list[JsonObject], **request: Any) -> None:
    try:
        world.aws.mutate("sagemaker", "UpdateCluster", op=op, **request)
    except CallRejected as error:
        raise _explained(world, error, groups) from error


def _explained(world: World, error: CallRejected, groups: list[JsonObject]) -> Exception:
    """A rejection that does pass by itself: deep health checks run, or a role is too young to be used."""
    if _CHECKING.search(error.message):
        return Refused(error.message, reason="DeepHealthCheck")
    if error.reason in ("AccessDenied", "RoleNotUsable") or _ROLE.search(error.message):
        now = world.clock.now().timestamp()
        made = [world.role_made_at(str(group["ExecutionRole"])) for group in groups]
        if any(at is not None and now - at < YOUNG_ROLE for at in made):
            return Refused(error.message, reason="RoleNotYetUsable")
    return error


def _same(world: World, params: JsonObject) -> JsonObject | None:
    """The cluster as it is now, if it is still the one that was meant."""
    live = describe(world, params["name"])
    if live is not None and f"{live.get('ClusterArn', '')}@{live.get('CreationTime', '')}" != params["identity"]:
        raise StopUntilChange("another cluster has the name now: nothing is deleted", reason="Replaced")
    return live


def _present(world: World, name: str) -> JsonObject:
    live = describe(world, name)
    if live is None:
        raise NotFound(f"cluster {name} is no longer there", reason="NotFound")
    if not is_eks(live):
        raise StopUntilChange(f"{name} is orchestrated by Slurm: not managed here", reason="NotEks")
    return live
