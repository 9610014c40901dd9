"""One look at a HyperPod cluster: DescribeCluster, its tags, all its nodes, and events of groups that are short.

Groups cannot carry a mark: one is ours (CHILD) if its cluster is ours and a document wants it, or wanted it before.
The groups of a cluster that a document adopts count as ours at once, so that the plan shows what comes, but nothing
is sent before the cluster is marked. Other groups are shown and never sent. A cluster without `Orchestrator.Eks`
(Slurm) is not ours to manage, whatever its tags say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reconciler.live.errors import NotFound
from reconciler.resources.base import TAG_OP, bar_of, mark_of, of_types, tag_map, written_tags
from reconciler.resources.handler import World
from reconciler.resources.hyperpod.health import cluster_health, group_health, short
from reconciler.resources.hyperpod.write_form import member, normal_form
from schemas.errors import InstantStartError
from schemas.resource import Bar, Health, Mark, Observed, Presence, Resource, absent, unknown
from schemas.values import JsonObject

CLUSTER = "hyperpod.Cluster"
GROUP = "hyperpod.InstanceGroup"
EVENTS_READ = 20  # newest events of one group
GROUPS_WITH_EVENTS = 20  # short groups whose events are read in one look


def cluster_key(cluster: str) -> str:
    return f"{CLUSTER}/{cluster}"


def group_key(cluster: str, group: str) -> str:
    return f"{GROUP}/{cluster}/{group}"


def cluster_name(world: World, wanted: Sequence[Resource] = ()) -> str:
    """What SageMaker calls the cluster: ours has our name, an adopted one the name in the document."""
    known = (*of_types(wanted, CLUSTER), world.desired.get(cluster_key(world.cluster)))
    return next((r.adopt or r.name for r in known if r is not None), world.cluster)


def describe(world: World, name: str) -> JsonObject | None:
    """DescribeCluster now; None if it is certainly not there."""
    try:
        return world.aws.read("sagemaker", "DescribeCluster", ClusterName=name)
    except NotFound:
        return None


def look(world: World, wanted: Sequence[Resource]) -> Iterator[Observed]:
    name = cluster_name(world, wanted)
    live = describe(world, name)
    clusters, groups = of_types(wanted, CLUSTER), of_types(wanted, GROUP)
    if live is None:
        yield from (absent(resource) for resource in (*clusters, *groups))
        return
    if not is_eks(live):
        yield _not_eks(world, live)
        said = f"{name} is no cluster on EKS: nothing is done with it"
        wanted_now = [group for group in groups if group.key in world.desired]
        yield from (unknown(group, "NotEks", said) for group in wanted_now)
        yield from (absent(group) for group in groups if group.key not in world.desired)  # none of ours is in there
        return
    try:
        tags = tag_map(world.aws.pages("sagemaker", "ListTags", "Tags", ResourceArn=live["ClusterArn"]))
        nodes = world.aws.pages("sagemaker", "ListClusterNodes", "ClusterNodeSummaries", ClusterName=name)
    except NotFound:
        if describe(world, name) is not None:
            raise
        yield from (absent(resource) for resource in (*clusters, *groups))  # it went while we looked
        return
    cluster = _cluster(world, live, tags, nodes)
    yield cluster
    document = world.desired.get(cluster_key(world.cluster))
    adopting = document is not None and document.adopt is not None
    yield from _groups(
        world, cluster, live, nodes, {group.name: group for group in groups}, ours=cluster.ours or adopting
    )


def is_eks(live: Mapping[str, Any]) -> bool:
    return bool(member(live, "Orchestrator").get("Eks"))


def _not_eks(world: World, live: Mapping[str, Any]) -> Observed:
    return Observed(
        key=cluster_key(world.cluster),
        type=CLUSTER,
        name=str(live.get("ClusterName", world.cluster)),
        presence=Presence.PRESENT,
        attrs={"arn": live.get("ClusterArn"), "status": live.get("ClusterStatus")},
        health=Health.UNKNOWN,
        reason="NotEks",
        message="a HyperPod cluster of this name is orchestrated by Slurm: not managed here",
        mark=Mark.FOREIGN,
        identity=_identity(live),
        bar=Bar(
            "NotEks",
            f"HyperPod cluster {live.get('ClusterName')} is orchestrated by Slurm: not managed here",
            "take it out of spec.adopt; InstantStart works with clusters on EKS only",
        ),
    )


def _cluster(
    world: World, live: Mapping[str, Any], tags: Mapping[str, str], nodes: Sequence[Mapping[str, Any]]
) -> Observed:
    vpc: Mapping[str, Any] = member(live, "VpcConfig")
    arn = str(live["ClusterArn"])
    key = cluster_key(world.cluster)
    condition = cluster_health(live, nodes)
    return Observed(
        key=key,
        type=CLUSTER,
        name=str(live["ClusterName"]),
        presence=Presence.PRESENT,
        spec={
            "eks": live["Orchestrator"]["Eks"].get("ClusterArn", ""),
            "nodeRecovery": live.get("NodeRecovery") or "None",
            "provisioning": live.get("NodeProvisioningMode") or "Classic",
            "tags": written_tags(tags, world, key),
            "subnets": sorted(vpc.get("Subnets", ())),
            "securityGroups": sorted(vpc.get("SecurityGroupIds", ())),
        },
        attrs={
            "arn": arn,
            "id": arn.rpartition("/")[2],
            "status": live.get("ClusterStatus"),
            "createdAt": live.get("CreationTime"),
        },
        health=condition.health,
        ready=condition.ready,
        reason=condition.reason,
        message=condition.message,
        mark=mark_of(tags, key, world.cluster),
        bar=bar_of(tags, world.cluster),
        op=tags.get(TAG_OP),
        identity=_identity(live),
        guards={"status": live.get("ClusterStatus")},
        detail={
            "continuous": live.get("NodeProvisioningMode") == "Continuous",
            "groups": [g["InstanceGroupName"] for g in (*_plain(live), *_restricted(live))],
            "nodes": {str(n["InstanceId"]): member(n, "InstanceStatus").get("Status", "") for n in nodes},
        },
    )


def _groups(
    world: World,
    cluster: Observed,
    live: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, Resource],
    *,
    ours: bool,
) -> Iterator[Observed]:
    by_group: dict[str, list[Mapping[str, Any]]] = {}
    for node in nodes:
        by_group.setdefault(str(node["InstanceGroupName"]), []).append(node)
    seen = {str(group["InstanceGroupName"]): group for group in _plain(live)}
    questions = GROUPS_WITH_EVENTS if live.get("NodeProvisioningMode") == "Continuous" else 0
    for name, group in seen.items():
        events: list[JsonObject] = []
        if questions and cluster.ours and short(group):
            questions -= 1
            events = _events(world, cluster.name, name)
        yield _group(world, cluster, live, group, by_group.get(name, []), events, wanted.get(name), ours)
    yield from (_restricted_group(world, cluster, group) for group in _restricted(live))
    yield from (absent(resource) for name, resource in wanted.items() if name not in seen)


def _group(
    world: World,
    cluster: Observed,
    live: Mapping[str, Any],
    group: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]],
    wanted: Resource | None,
    ours: bool,
) -> Observed:
    name = str(group["InstanceGroupName"])
    document = world.desired.get(group_key(world.cluster, name), wanted)
    counted = document is None or "count" in document.spec
    condition = group_health(group, nodes, events, counted=counted)
    ours = ours and wanted is not None
    spec = normal_form(group, member(live, "VpcConfig"))
    zone = _zone(world, spec["subnets"])
    if zone is not None:
        spec["zone"] = zone
    return Observed(
        key=group_key(world.cluster, name),
        type=GROUP,
        name=name,
        presence=Presence.PRESENT,
        spec=spec,
        attrs={
            "name": name,
            "status": group.get("Status"),
            "target": group.get("TargetCount", 0),
            "current": group.get("CurrentCount", 0),
        },
        health=condition.health,
        ready=condition.ready,
        reason=condition.reason if ours else "UnmanagedGroup",
        message=condition.message if ours else "unmanaged group: no document asks for it",
        progress=condition.progress,
        mark=Mark.CHILD if ours else Mark.FOREIGN,
        identity=f"{cluster.identity}/{name}",
        guards={"count": group.get("TargetCount", 0)},
    )


def _zone(world: World, subnets: Sequence[str]) -> str | None:
    """The zone that a group's subnets are in, if it is one, and one of our VPC."""
    vpc = f"ec2.Vpc/{world.cluster}"
    zones = {world.attr(vpc, f"zone:{subnet}") for subnet in subnets}
    return str(zones.pop()) if len(zones) == 1 and None not in zones else None


def _restricted_group(world: World, cluster: Observed, group: Mapping[str, Any]) -> Observed:
    name = str(group["InstanceGroupName"])
    return Observed(
        key=group_key(world.cluster, name),
        type=GROUP,
        name=name,
        presence=Presence.PRESENT,
        attrs={"status": group.get("Status")},
        reason="UnmanagedGroup",
        message="restricted instance group: not managed here",
        identity=f"{cluster.identity}/{name}",
    )


def _events(world: World, cluster: str, group: str) -> list[JsonObject]:
    """The group's newest events. They explain and decide nothing, so a failing read is no failing look."""
    try:
        answer = world.aws.read(
            "sagemaker",
            "ListClusterEvents",
            ClusterName=cluster,
            InstanceGroupName=group,
            SortBy="EventTime",
            SortOrder="Descending",
            MaxResults=EVENTS_READ,
        )
    except InstantStartError:
        return []
    events: list[JsonObject] = answer.get("Events") or []
    return events


def _identity(live: Mapping[str, Any]) -> str:
    """The ARN ends in a random id, so a cluster made again under the same name is another one."""
    return f"{live.get('ClusterArn', '')}@{live.get('CreationTime', '')}"


def _plain(live: Mapping[str, Any]) -> list[JsonObject]:
    return live.get("InstanceGroups") or []


def _restricted(live: Mapping[str, Any]) -> list[JsonObject]:
    return live.get("RestrictedInstanceGroups") or []
