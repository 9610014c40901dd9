"""Changing documents: a patch on any of them, and the usual edits of a group, a Storage, a cluster's life."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from instantstart_mcp.api import ApiProblem, Json
from instantstart_mcp.calling import Call
from instantstart_mcp.proposing import Proposal, propose
from instantstart_mcp.toolkit import proposes
from instantstart_mcp.tools.documents import Kind
from instantstart_mcp.words import ClusterName, GroupName, Key, ObjectName, Why

API_VERSION = "instantstart/v1"
Count = Annotated[int, Field(ge=0, le=6758, description="Nodes")]
InstanceType = Annotated[str, Field(pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$", description="Such as ml.p5.48xlarge")]
Zone = Annotated[str, Field(max_length=30, description="Zone by name or id: us-west-2b, usw2-az2")]
Capacity = Annotated[Literal["onDemand", "spot", "trainingPlan"], Field(description="How the machines are paid for")]
PlanArn = Annotated[str, Field(max_length=2048, description="With capacity trainingPlan: its ARN")]
VolumeGib = Annotated[int, Field(ge=0, le=16384, description="A second disk on each node, GiB; 0: none")]


async def document_patch(
    call: Call,
    cluster: ClusterName,
    kind: Kind,
    name: Annotated[str, Field(min_length=1, max_length=253)],
    patch: Annotated[
        list[dict[str, Any]],
        Field(min_length=1, max_length=100, description='RFC 6902: [{"op":"replace","path":"/spec/count","value":4}]'),
    ],
    title: Annotated[str, Field(min_length=1, max_length=200, description="What it does, in one line")],
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose any edit of one document, by an RFC 6902 patch on it as document_get shows it. Only the lines that it
    means change. Prefer the tools with a purpose (group_scale, cluster_update)."""
    return await propose(call, title, [patching(cluster, kind, name, patch)], why=why, key=idempotency_key)


async def group_add(
    call: Call,
    cluster: ClusterName,
    name: GroupName,
    instance_type: InstanceType,
    count: Count,
    zone: Zone = "",
    capacity: Capacity = "onDemand",
    training_plan_arn: PlanArn = "",
    volume_gib: VolumeGib = 500,
    efa: Annotated[bool, Field(description="EFA between nodes, where the type has it")] = False,
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose a new instance group. Look first: group_list, offerings_get. Type, zone and capacity of a group cannot be
    changed later."""
    document = group_document(
        name, instance_type, count, zone=zone, capacity=capacity, plan=training_plan_arn, gib=volume_gib, efa=efa
    )
    await must_be_new(call, cluster, "InstanceGroup", name, document)
    title = f"Add group {name} to {cluster}: {count} × {instance_type}"
    return await propose(call, title, [putting(cluster, document)], why=why, key=idempotency_key)


async def group_scale(
    call: Call, cluster: ClusterName, group: GroupName, count: Count, why: Why = "", idempotency_key: Key = ""
) -> Proposal:
    """Propose another number of nodes for a group. With fewer, the service chooses which go."""
    patch: list[Json] = [{"op": "replace", "path": "/spec/count", "value": count}]
    title = f"Scale {group} of {cluster} to {count}"
    return await propose(call, title, [patching(cluster, "InstanceGroup", group, patch)], why=why, key=idempotency_key)


async def group_remove(
    call: Call, cluster: ClusterName, group: GroupName, why: Why = "", idempotency_key: Key = ""
) -> Proposal:
    """Propose to delete a group with all its nodes. Look what runs there first: pod_list."""
    title = f"Remove group {group} from {cluster}"
    return await propose(call, title, [removing(cluster, "InstanceGroup", group)], why=why, key=idempotency_key)


async def storage_create(
    call: Call,
    cluster: ClusterName,
    name: Annotated[ObjectName, Field(description="The Storage, and the claim that pods mount")],
    bucket: Annotated[str, Field(max_length=63, description="An existing bucket; without one a new one is made")] = "",
    prefix: Annotated[str, Field(max_length=512, description="Only keys below it")] = "",
    namespace: Annotated[str, Field(max_length=63, description="Of the claim")] = "",
    read_only: bool = False,
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose a Storage: an S3 bucket that pods mount by a claim of its name. An existing bucket is used, not owned."""
    document = storage_document(name, bucket=bucket, prefix=prefix, namespace=namespace, read_only=read_only)
    await must_be_new(call, cluster, "Storage", name, document)
    title = f"Add storage {name} to {cluster}"
    return await propose(call, title, [putting(cluster, document)], why=why, key=idempotency_key)


async def storage_delete(
    call: Call,
    cluster: ClusterName,
    storage: Annotated[ObjectName, Field(description="The Storage")],
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose to remove a Storage: the claim and volume go, the bucket and what is in it stay."""
    title = f"Remove storage {storage} from {cluster}"
    return await propose(call, title, [removing(cluster, "Storage", storage)], why=why, key=idempotency_key)


# Documents and edits -------------------------------------------------------------------------------------------------


def group_document(
    name: str,
    instance_type: str,
    count: int,
    *,
    zone: str = "",
    capacity: str = "onDemand",
    plan: str = "",
    gib: int = 0,
    efa: bool = False,
) -> Json:
    if (capacity == "trainingPlan") != bool(plan):
        text = "training_plan_arn belongs to capacity trainingPlan, and only to that"
        raise ApiProblem("BadArguments", text, status=422)
    spec: Json = {"instanceType": instance_type, "count": count}
    spec |= {"zone": zone} if zone else {}
    spec["capacity"] = {capacity: {"arn": plan} if plan else {}}
    spec |= {"interface": "efa"} if efa else {}
    spec |= {"volume": {"sizeGiB": gib}} if gib else {}
    return document("InstanceGroup", name, spec)


def storage_document(
    name: str, *, bucket: str = "", prefix: str = "", namespace: str = "", read_only: bool = False
) -> Json:
    s3 = {field: value for field, value in (("bucket", bucket), ("prefix", prefix)) if value}
    spec: Json = {"s3": s3}
    spec |= {"namespace": namespace} if namespace else {}
    spec |= {"readOnly": True} if read_only else {}
    return document("Storage", name, spec)


def document(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def putting(cluster: str, document: Json) -> Json:
    return {"edit": "put", "cluster": cluster, "document": document}


def patching(cluster: str, kind: str, name: str, patch: list[Json]) -> Json:
    return {"edit": "patch", "cluster": cluster, "kind": kind, "name": name, "patch": patch}


def removing(cluster: str, kind: str, name: str) -> Json:
    return {"edit": "remove", "cluster": cluster, "kind": kind, "name": name}


async def must_be_new(call: Call, cluster: str, kind: str, name: str, wanted: Json) -> None:
    """Look before creating: a put over a document that is there would change it. One that says the same is a retry, and
    finds its change. Raises ApiProblem."""
    there = await written(call, cluster, kind, name)
    if there is not None and there != wanted:
        text = f"{cluster} has a {kind} {name} already, and it says something else"
        way = "choose another name, or change what is there (group_scale, document_patch)"
        raise ApiProblem("ExistsAlready", text, status=409, way_out=way)


async def written(call: Call, cluster: str, kind: str, name: str, at: str = "") -> Json | None:
    """A document as it is written; None if it is not there."""
    try:
        told = await call.api.get("clusters", cluster, "documents", kind, name, at=at)
    except ApiProblem as problem:
        if problem.reason in ("NoDocument", "UnknownCluster"):
            return None
        raise
    found: Json = told["document"]
    return found


TOOLS = (
    proposes(document_patch, destructive=True),
    proposes(group_add),
    proposes(group_scale, destructive=True),
    proposes(group_remove, destructive=True),
    proposes(storage_create),
    proposes(storage_delete, destructive=True),
)
