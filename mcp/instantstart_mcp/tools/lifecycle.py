"""A cluster's life: create, update, suspend, delete, adopt. Each is one change."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from instantstart_mcp.api import ApiProblem, Json, part, rows
from instantstart_mcp.calling import Call
from instantstart_mcp.proposing import Proposal, proposal, propose
from instantstart_mcp.toolkit import proposes
from instantstart_mcp.tools.editing import (
    Capacity,
    Count,
    InstanceType,
    PlanArn,
    VolumeGib,
    Zone,
    document,
    group_document,
    patching,
    putting,
    storage_document,
    written,
)
from instantstart_mcp.words import ClusterName, Key, Why
from schemas import instance_types

_SYSTEM_TYPE = "ml.m5.2xlarge"
# Of another cluster; never what is its own: network, adoption, suspension, protection, scripts in its folder.
_COPIED = ("account", "kubernetesVersion", "access", "endpoint", "logging", "hyperpod", "dependencies")
_LOOKED = 20  # changes of a name that are looked through
Version = Annotated[str, Field(pattern=r"^(1\.[0-9]{2})?$", description="EKS version, such as 1.33")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2,5}(-[a-z]{2,12})+-[0-9]$", description="Such as us-west-2")]


async def cluster_create(
    call: Call,
    name: ClusterName,
    region: Region,
    instance_type: InstanceType,
    count: Count,
    zone: Zone = "",
    capacity: Capacity = "onDemand",
    training_plan_arn: PlanArn = "",
    storage_bucket: Annotated[
        str, Field(max_length=63, description="An existing bucket to mount; 'new' makes one; without it none")
    ] = "",
    kubernetes_version: Version = "",
    account: Annotated[str, Field(pattern="^([0-9]{12})?$", description="Default: of the service's credentials")] = "",
    like: Annotated[str, Field(max_length=40, description="A cluster whose access and add-ons are taken over")] = "",
    volume_gib: VolumeGib = 500,
    system_count: Annotated[int, Field(ge=0, le=20, description="Small CPU nodes for add-ons; 0: none")] = 2,
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose a whole HyperPod cluster in one change: network, EKS, add-ons, HyperPod, one group of these machines
    and, if told, a bucket mounted as claim `shared`. CIDRs, subnets, roles are chosen for you. Look first:
    cluster_list, offerings_get. Takes 30 to 60 minutes after the merge: follow it with change_wait."""
    spec = await _cluster_spec(call, region, account, kubernetes_version, like)
    efa = bool(instance_types.efa_interfaces(instance_type)) and count > 1
    documents = [
        document("Cluster", name, spec),
        group_document(
            "workers",
            instance_type,
            count,
            zone=zone,
            capacity=capacity,
            plan=training_plan_arn,
            gib=volume_gib,
            efa=efa,
        ),
    ]
    if system_count:
        documents.append(group_document("system", _SYSTEM_TYPE, system_count, zone=zone))
    if storage_bucket:
        documents.append(storage_document("shared", bucket="" if storage_bucket == "new" else storage_bucket))
    if (there := await _already(call, name, documents)) is not None:
        return await proposal(call, there, note="this very cluster was proposed before")
    title = f"Create cluster {name}: {count} × {instance_type} in {zone or region}"
    return await propose(call, title, [putting(name, one) for one in documents], why=why, key=idempotency_key)


async def cluster_adopt(
    call: Call,
    name: ClusterName,
    region: Region,
    account: Annotated[str, Field(pattern="^[0-9]{12}$", description="The AWS account that it is in")],
    vpc: Annotated[str, Field(pattern="^vpc-[0-9a-f]{8,17}$", description="The VPC of the EKS cluster")],
    eks: Annotated[str, Field(max_length=100, description="The name of the EKS cluster")],
    kubernetes_version: Annotated[str, Field(pattern=r"^1\.[0-9]{2}$", description="The version that it has")],
    hyperpod: Annotated[str, Field(max_length=63, description="The HyperPod cluster's name, if there is one")] = "",
    own_vpc: Annotated[bool, Field(description="Mark the VPC as ours too; else it is only used")] = False,
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose to take over a cluster that was made by hand. Its plan shows `adopt` lines alone if nothing would change.
    What was adopted is only ever released, never deleted. Groups get documents of their own afterwards (group_add)."""
    adopt: Json = {"eks": eks} | ({"hyperpod": hyperpod} if hyperpod else {}) | ({"vpc": vpc} if own_vpc else {})
    spec: Json = {"account": account, "region": region, "kubernetesVersion": kubernetes_version, "adopt": adopt}
    spec |= {} if own_vpc else {"network": {"vpc": vpc}}
    documents = [document("Cluster", name, spec)]
    if (there := await _already(call, name, documents)) is not None:
        return await proposal(call, there, note="this very adoption was proposed before")
    return await propose(call, f"Adopt cluster {name}", [putting(name, documents[0])], why=why, key=idempotency_key)


async def cluster_update(
    call: Call,
    cluster: ClusterName,
    kubernetes_version: Version = "",
    node_recovery: Annotated[Literal["Automatic", "None"] | None, Field(description="Repair of faulty nodes")] = None,
    deletion_protection: Annotated[bool | None, Field(description="false: first of two steps of deleting")] = None,
    tags: Annotated[dict[str, str] | None, Field(description="All tags, instead of those it has")] = None,
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose other settings of a cluster; only what is given changes. Kubernetes goes up one minor version at once."""
    wanted: Json = {"kubernetesVersion": kubernetes_version} if kubernetes_version else {}
    wanted |= {"deletionProtection": deletion_protection} if deletion_protection is not None else {}
    hyperpod: Json = {"nodeRecovery": node_recovery} if node_recovery is not None else {}
    hyperpod |= {"tags": tags} if tags is not None else {}
    if not wanted and not hyperpod:
        raise ApiProblem("NothingToChange", "none of the settings was given", status=422)
    spec = (await _cluster_document(call, cluster))["spec"]
    patch = [_set(f"/spec/{field}", field in spec, value) for field, value in wanted.items()]
    if hyperpod and "hyperpod" not in spec:
        patch.append(_set("/spec/hyperpod", False, hyperpod))
    elif hyperpod:
        there = part(spec, "hyperpod")
        patch += [_set(f"/spec/hyperpod/{field}", field in there, value) for field, value in hyperpod.items()]
    title = f"Update cluster {cluster}: {', '.join((*wanted, *hyperpod))}"
    return await propose(call, title, [patching(cluster, "Cluster", cluster, patch)], why=why, key=idempotency_key)


async def cluster_suspend(
    call: Call,
    cluster: ClusterName,
    suspend: Annotated[bool, Field(description="false: changes go on again")] = True,
    why: Why = "",
    idempotency_key: Key = "",
) -> Proposal:
    """Propose that nothing of a cluster is changed any more (or, with suspend false, that it is again). Jobs go on."""
    spec = (await _cluster_document(call, cluster))["spec"]
    patch = [_set("/spec/suspend", "suspend" in spec, suspend)]
    title = f"{'Suspend' if suspend else 'Resume'} cluster {cluster}"
    return await propose(call, title, [patching(cluster, "Cluster", cluster, patch)], why=why, key=idempotency_key)


async def cluster_delete(call: Call, cluster: ClusterName, why: Why = "", idempotency_key: Key = "") -> Proposal:
    """Propose the next step of deleting a cluster, which takes two changes: first its deletion protection goes; when
    that is merged and Ready, calling this again proposes that the cluster goes. Ask the person before each."""
    spec = (await _cluster_document(call, cluster))["spec"]
    if spec.get("deletionProtection", True):
        patch = [_set("/spec/deletionProtection", "deletionProtection" in spec, False)]
        note = "step 1 of 2: the protection goes. When this change is ready, call cluster_delete again"
        edit, title = patching(cluster, "Cluster", cluster, patch), f"Delete cluster {cluster}, 1 of 2: unprotect"
    else:
        note = "step 2 of 2: the cluster goes, with everything that was made for it; buckets stay"
        edit, title = {"edit": "removeCluster", "cluster": cluster}, f"Delete cluster {cluster}, 2 of 2"
    return await propose(call, title, [edit], why=why, key=idempotency_key, note=note)


# Helpers -------------------------------------------------------------------------------------------------------------


async def _cluster_spec(call: Call, region: str, account: str, version: str, like: str) -> Json:
    spec: Json = {}
    if like:
        taken = (await _cluster_document(call, like))["spec"]
        spec = {field: value for field, value in taken.items() if field in _COPIED}
    spec["region"] = region
    if account:
        spec["account"] = account
    if version:
        spec["kubernetesVersion"] = version
    if "account" not in spec or "kubernetesVersion" not in spec:
        offered = await call.api.get("offerings", region=region, account=spec.get("account"))
        spec.setdefault("account", offered["account"])
        default = next((one["version"] for one in rows(offered, "kubernetes_versions") if one["default"]), None)
        if "kubernetesVersion" not in spec and default is None:
            text = "no Kubernetes version was given, and which one EKS takes by itself cannot be seen now"
            raise ApiProblem("VersionNeeded", text, status=422, way_out="give kubernetes_version")
        spec.setdefault("kubernetesVersion", default)
    return spec


async def _already(call: Call, name: str, documents: list[Json]) -> Json | None:
    """Look before creating. The change that proposed exactly this before, if there is one. Raises ApiProblem where the
    name is taken, by a cluster or by another proposal."""
    listed = await call.api.get("changes", cluster=name, limit=_LOOKED)
    changes = [await call.api.get("changes", one["id"]) for one in rows(listed, "items") if one["state"] != "closed"]
    creating = [one for one in changes if _creates(one, name)]
    for view in creating:
        if await _says(call, name, documents, at=view["id"]):
            return view
    there = await _condition(call, name)
    if there is not None:
        text = f"there is a cluster {name} already ({there})"
        raise ApiProblem("ExistsAlready", text, status=409, way_out="look at it (cluster_get), or take another name")
    waiting = next((one for one in creating if one["state"] == "open"), None)
    if waiting is not None:
        text = f"change {waiting['id']} already proposes a cluster {name}, with other settings"
        way = "show it to the person (change_get); close it before another is proposed"
        raise ApiProblem("ProposedAlready", text, status=409, way_out=way)
    return None


def _creates(view: Json, name: str) -> bool:
    return any(one["verb"] == "add" and one["path"] == f"clusters/{name}/cluster.yaml" for one in rows(view, "files"))


async def _says(call: Call, name: str, documents: list[Json], *, at: str) -> bool:
    for one in documents:
        if await written(call, name, one["kind"], one["metadata"]["name"], at=at) != one:
            return False
    return True


async def _condition(call: Call, name: str) -> str | None:
    try:
        view = await call.api.get("clusters", name)
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        return None
    return None if view["condition"] == "Gone" else str(view["condition"])


async def _cluster_document(call: Call, cluster: str) -> Json:
    found = await written(call, cluster, "Cluster", cluster)
    if found is None:
        raise ApiProblem("UnknownCluster", f"there is no cluster {cluster}", status=404, way_out="cluster_list")
    return found


def _set(path: str, there: bool, value: object) -> Json:
    return {"op": "replace" if there else "add", "path": path, "value": value}


TOOLS = (
    proposes(cluster_create),
    proposes(cluster_adopt),
    proposes(cluster_update, destructive=True),
    proposes(cluster_suspend),
    proposes(cluster_delete, destructive=True),
)
