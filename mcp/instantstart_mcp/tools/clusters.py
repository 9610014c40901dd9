"""Looking at clusters: the fleet, one of them, what drifted, what is ours in it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from instantstart_mcp.api import Json, part, rows
from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, Part, Word, unseen

MOST_NAMED = 10
_MOST_GONE = 30
StageName = Literal[
    "network", "control-plane", "dependencies", "compute", "features", "storage", "workloads", "operations"
]


class Counts(Answer):
    desired: int | None = None
    there: int | None = None
    ready: int | None = None


class Gpus(Answer):
    desired: int | None = None
    there: int | None = None
    ready: int | None = None
    used: int | None = None
    idle: int | None = None


class ClusterRow(Answer):
    cluster: str
    condition: str
    reason: Word = ""
    message_untrusted: str = ""
    stage: str | None = None
    progress: str | None = None
    account: str = ""
    region: str = ""
    kubernetes_version: str = ""
    instances: Counts | None = None
    gpus: Gpus | None = None
    held: int = 0
    failed_ops: int = 0
    drift: int | None = None
    suspended: bool = False


class ClusterList(Answer):
    items: tuple[ClusterRow, ...]
    next_cursor: str | None = Field(None, validation_alias="next")


class Stage(Answer):
    stage: str
    state: str
    reason: Word = ""
    message_untrusted: str = ""
    since: str = ""
    done: int | None = None
    all: int | None = None


class Held(Answer):
    key: str
    action: str = ""
    reason: Word = ""
    message_untrusted: str = ""
    way: str = ""
    who_untrusted: str = ""


class Op(Answer):
    op: str
    call: str = ""
    key: str = ""
    phase: str = ""
    since: str = ""
    reason: Word | None = None
    message_untrusted: str | None = Field(None, validation_alias="msg")


class GroupWish(Answer):
    name: str
    instance_type: str = ""
    count: int = 0
    zone: str | None = None
    capacity: str = ""
    gpus_per_node: int | None = None


class StorageWish(Answer):
    name: str
    bucket: str = ""
    prefix_untrusted: str = ""
    own: bool = False
    namespace_untrusted: str = ""


class Problem(Answer):
    file_untrusted: str = ""
    line: int | None = None
    field_untrusted: str = ""
    text_untrusted: str = ""


class ClusterAnswer(Answer):
    cluster: str
    condition: str
    reason: Word = ""
    message_untrusted: str = ""
    revision: str = ""
    head: str = ""
    up_to_date: bool = False
    account: str = ""
    region: str = ""
    kubernetes_version: str = ""
    suspended: bool = False
    deletion_protection: bool = False
    stages: tuple[Stage, ...] = ()
    held: tuple[Held, ...] = ()
    held_left_out: int = 0
    open_ops: tuple[Op, ...] = ()
    open_ops_left_out: int = 0
    failed_ops: tuple[Op, ...] = ()
    failed_ops_left_out: int = 0
    instances: Counts | None = None
    gpus: Gpus | None = None
    drift: int | None = None
    planned_actions: int | None = None
    groups: tuple[GroupWish, ...] = ()
    groups_left_out: int = 0
    storages: tuple[StorageWish, ...] = ()
    problems: tuple[Problem, ...] = ()
    problems_left_out: int = 0
    observed_at: str | None = None
    unseen: tuple[Part, ...] = ()


class Drifted(Answer):
    then: str
    verb: str = ""
    key: str = ""
    cost: str = ""
    fields_untrusted: tuple[str, ...] = ()
    held_untrusted: str = ""


class Gone(Answer):
    """What was taken away by hand, and no action brings it back now."""

    key: str
    message_untrusted: str = ""


class DriftList(Answer):
    items: tuple[Drifted, ...]
    gone: tuple[Gone, ...] = ()
    gone_left_out: int = 0
    next_cursor: str | None = None
    not_ours: int = 0
    not_seen: int = 0
    observed_at: str | None = None


class Thing(Answer):
    key: str
    stage: str = ""
    presence: str = ""
    health: str = ""
    progress: str | None = None
    reason: Word = ""
    message_untrusted: str = ""
    id_untrusted: str = ""
    planned: str | None = None
    held: bool = False


class ThingList(Answer):
    items: tuple[Thing, ...]
    next_cursor: str | None = Field(None, validation_alias="next")
    observed_at: str | None = None


async def cluster_list(
    call: Call,
    limit: Limit = 30,
    cursor: Cursor = "",
    gone: Annotated[bool, Field(description="Deleted ones too")] = False,
) -> ClusterList:
    """The fleet: one row per cluster with its condition (Ready, Reconciling, Stalled, Superseded, Gone, Unknown), the
    first stage that is not Ready, instances, GPUs and what waits for a person. Look here before creating anything."""
    return ClusterList.model_validate(await call.api.get("clusters", limit=limit, cursor=cursor, gone=gone))


async def cluster_get(call: Call, cluster: ClusterName) -> ClusterAnswer:
    """One cluster: condition, every stage with how far it is, what is held and who may let it go, open and failed
    operations, GPUs, groups, storages, problems of its documents. Ready is true completion: all was seen healthy."""
    return of_view(await call.api.get("clusters", cluster))


async def cluster_drift(call: Call, cluster: ClusterName, limit: Limit = 30, cursor: Cursor = "") -> DriftList:
    """What differs from git though git did not change (create: somebody deleted it). then: restored by the next tick,
    or held for a person. gone: not made again."""
    told = await call.api.get("clusters", cluster, "drift", limit=limit, cursor=cursor)
    return DriftList(
        items=tuple(_drifted(item) for item in told["items"]),
        gone=tuple(Gone.model_validate(one) for one in rows(told, "gone")[:_MOST_GONE]),
        gone_left_out=max(0, len(rows(told, "gone")) - _MOST_GONE),
        next_cursor=told.get("next"),
        not_ours=len(told.get("unmanaged") or ()),
        not_seen=len(told.get("unknown") or ()),
        observed_at=told.get("observed_at"),
    )


async def cluster_resources(
    call: Call,
    cluster: ClusterName,
    stage: Annotated[StageName | None, Field(description="Only this stage")] = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> ThingList:
    """Everything in AWS and Kubernetes that is this cluster's, with health and id, in the order of stages."""
    told = await call.api.get("clusters", cluster, "resources", stage=stage, limit=limit, cursor=cursor)
    return ThingList.model_validate(told)


def of_view(view: Json) -> ClusterAnswer:
    """From GET /clusters/{cluster}: lists are cut, and say by how much."""
    desired = part(view, "desired")
    given = {name: view.get(name) for name in ("cluster", "condition", "reason", "message", "stages", "drift")}
    for name in ("held", "open_ops", "failed_ops"):
        found = rows(view, name)
        given |= {name: found[:MOST_NAMED], f"{name}_left_out": max(0, len(found) - MOST_NAMED)}
    for name, most in (("groups", 30), ("problems", MOST_NAMED)):
        found = rows(desired, name)
        given |= {name: found[:most], f"{name}_left_out": max(0, len(found) - most)}
    revision, head = (str(part(view, name).get("commit") or "") for name in ("revision", "head"))
    return ClusterAnswer.model_validate(
        {
            **given,
            "revision": revision[:12],
            "head": head[:12],
            "up_to_date": revision == head,
            **{name: desired.get(name, "") for name in ("account", "region", "kubernetes_version")},
            "suspended": bool(desired.get("suspend")),
            "deletion_protection": bool(desired.get("deletion_protection", True)),
            "instances": view.get("instances"),
            "gpus": view.get("gpus"),
            "planned_actions": view.get("actions"),
            "storages": desired.get("storages") or (),
            "observed_at": view.get("observed_at"),
            "unseen": unseen(view.get("parts")),
        }
    )


def _drifted(item: Json) -> Drifted:
    action = item["action"]
    return Drifted(
        then=item["then"],
        verb=action["verb"],
        key=action["key"],
        cost=action["cost"],
        fields_untrusted=tuple(step["path"] for step in action["changes"][:MOST_NAMED]),
        held_untrusted=part(action, "held").get("message", ""),
    )


TOOLS = (reads(cluster_list), reads(cluster_get), reads(cluster_drift), reads(cluster_resources))
