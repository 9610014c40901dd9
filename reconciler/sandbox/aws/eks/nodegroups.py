"""Managed node groups: ordinary EC2 machines for system pods, which join as nodes after a while."""

from __future__ import annotations

import uuid

from reconciler.sandbox.aws.calls import Call, Handler, Json, each, part
from reconciler.sandbox.aws.eks.clusters import paged, shown_update
from reconciler.sandbox.aws.eks.records import (
    EksCluster,
    NodeGroup,
    Update,
    active,
    cluster_of,
    in_use,
    invalid,
    missing,
    repeated,
    token_of,
)
from reconciler.sandbox.aws.hyperpod.machines import machine
from reconciler.sandbox.aws.hyperpod.records import instance_id
from reconciler.sandbox.aws.world import World

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
_DEFAULT_TYPE = "t3.medium"


class NodeGroups:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {
            "CreateNodegroup": self.create,
            "DescribeNodegroup": self.describe,
            "UpdateNodegroupConfig": self.update,
            "DeleteNodegroup": self.delete,
            "ListNodegroups": self.list,
        }

    def create(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["clusterName"]))
        name = str(params["nodegroupName"])
        known = cluster.nodegroups.get(name)
        if known is not None:
            if repeated(known.token, params):
                return {"nodegroup": self._shown(cluster, known)}
            raise in_use(f"NodeGroup already exists with name {name} and cluster name {cluster.name}")
        _check_scaling(part(params, "scalingConfig"))
        for subnet in params["subnets"]:
            if self._world.moto.subnet(call.account, call.region, subnet) is None:
                raise invalid(f"The subnet ID '{subnet}' does not exist")
        why_not = self._world.roles.why_not(str(params["nodeRole"]), "ec2.amazonaws.com")
        if why_not:
            raise invalid(f"Following required service principals [ec2.amazonaws.com] were not found. {why_not}")
        group = NodeGroup(
            name=name,
            arn=call.arn("eks", f"nodegroup/{cluster.name}/{name}/{uuid.uuid4()}"),
            request={"scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 2}, **params},
            status="CREATING",
            created=self._world.now(),
            tags=dict(part(params, "tags")),
            token=token_of(params),
        )
        cluster.nodegroups[name] = group
        call.changed("created", "eks.nodegroup", f"{cluster.name}/{name}")
        self._world.agenda.after(self._world.pace.nodegroup_create, lambda: self._settle(cluster, group))
        return {"nodegroup": self._shown(cluster, group)}

    def describe(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        return {"nodegroup": self._shown(cluster, _group(cluster, params))}

    def list(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        return paged(sorted(cluster.nodegroups), "nodegroups", params)

    def update(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["clusterName"]))
        group = _group(cluster, params)
        if group.status != "ACTIVE":
            raise in_use(f"Nodegroup {group.name} cannot be updated as it is currently in {group.status} state")
        wanted = _updated(group.request, params)
        _check_scaling(wanted["scalingConfig"])
        if wanted != group.request:
            call.changed("updated", "eks.nodegroup", f"{cluster.name}/{group.name}")
        group.request, group.status = wanted, "UPDATING"
        update = Update(
            id=str(uuid.uuid4()),
            kind="ConfigUpdate",
            status="InProgress",
            params=[],
            created=self._world.now(),
            subject=group.name,
        )
        cluster.updates[update.id] = update

        def done() -> None:
            update.status = "Successful"
            self._settle(cluster, group)

        self._world.agenda.after(self._world.pace.nodegroup_create, done)
        return {"update": shown_update(update)}

    def delete(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        group = _group(cluster, params)
        if group.status != "DELETING":
            group.status = "DELETING"
            call.changed("deleted", "eks.nodegroup", f"{cluster.name}/{group.name}")

            def gone() -> None:
                self._scale(cluster, group, 0)
                cluster.nodegroups.pop(group.name, None)

            self._world.agenda.after(self._world.pace.nodegroup_delete, gone)
        return {"nodegroup": self._shown(cluster, group)}

    def _settle(self, cluster: EksCluster, group: NodeGroup) -> None:
        if group.status == "DELETING":
            return
        self._scale(cluster, group, int(group.request["scalingConfig"]["desiredSize"]))
        group.status = "ACTIVE"

    def _scale(self, cluster: EksCluster, group: NodeGroup, count: int) -> None:
        kubernetes = cluster.kubernetes
        while len(group.nodes) > count:
            name = group.nodes.pop()
            if kubernetes is not None:
                kubernetes.remove("v1", "Node", name)
        while len(group.nodes) < count:
            group.nodes.append(f"ip-{instance_id()[2:]}.{cluster.region}.compute.internal")
        for place, name in enumerate(group.nodes):
            if kubernetes is not None:
                kubernetes.put(self._node(cluster, group, name, place))

    def _node(self, cluster: EksCluster, group: NodeGroup, name: str, place: int) -> Json:
        subnets: list[str] = group.request["subnets"]
        subnet = self._world.moto.subnet(cluster.account, cluster.region, subnets[place % len(subnets)])
        zone = str(subnet.availability_zone) if subnet is not None else f"{cluster.region}a"
        types = each(group.request, "instanceTypes") or [_DEFAULT_TYPE]
        hardware = machine(f"ml.{types[0]}")
        amounts = {"cpu": str(hardware.vcpu), "memory": f"{hardware.gib}Gi", "pods": str(hardware.pods)}
        taints = [
            {"key": one["key"], "value": one.get("value", ""), "effect": _EFFECTS[one["effect"]]}
            for one in each(group.request, "taints")
        ]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    "node.kubernetes.io/instance-type": types[0],
                    "topology.kubernetes.io/region": cluster.region,
                    "topology.kubernetes.io/zone": zone,
                    "eks.amazonaws.com/nodegroup": group.name,
                    **part(group.request, "labels"),
                },
            },
            "spec": {"taints": taints, "providerID": f"aws:///{zone}/{name}"},
            "status": {
                "capacity": amounts,
                "allocatable": amounts,
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                "nodeInfo": {"kubeletVersion": f"v{cluster.version}.0-eks-sandbox", "bootID": name},
            },
        }

    def _shown(self, cluster: EksCluster, group: NodeGroup) -> Json:
        request = group.request
        return {
            "nodegroupName": group.name,
            "nodegroupArn": group.arn,
            "clusterName": cluster.name,
            "version": request.get("version", cluster.version),
            "releaseVersion": f"{cluster.version}.0-20260101",
            "createdAt": group.created,
            "modifiedAt": group.created,
            "status": group.status,
            "capacityType": request.get("capacityType", "ON_DEMAND"),
            "scalingConfig": request["scalingConfig"],
            "instanceTypes": each(request, "instanceTypes") or [_DEFAULT_TYPE],
            "subnets": request["subnets"],
            "amiType": request.get("amiType", "AL2023_x86_64_STANDARD"),
            "nodeRole": request["nodeRole"],
            "labels": part(request, "labels"),
            "taints": each(request, "taints"),
            "diskSize": request.get("diskSize", 20),
            "health": {"issues": []},
            "updateConfig": request.get("updateConfig", {"maxUnavailable": 1}),
            "tags": group.tags,
        }


def _group(cluster: EksCluster, params: Json) -> NodeGroup:
    group = cluster.nodegroups.get(params["nodegroupName"])
    if group is None:
        raise missing(f"No node group found for name: {params['nodegroupName']}.")
    return group


def _check_scaling(scaling: Json) -> None:
    low, high, wanted = (int(scaling.get(name, 1)) for name in ("minSize", "maxSize", "desiredSize"))
    if not low <= wanted <= high:
        raise invalid(f"Minimum capacity {low}, desired size {wanted} and maximum capacity {high} are not in order")


def _updated(request: Json, params: Json) -> Json:
    """The request as it would have been with this update in it."""
    labels = {**part(request, "labels"), **part(part(params, "labels"), "addOrUpdateLabels")}
    for gone in each(part(params, "labels"), "removeLabels"):
        labels.pop(gone, None)
    changes = part(params, "taints")
    taints: dict[tuple[str, str], Json] = {(one["key"], one["effect"]): one for one in each(request, "taints")}
    taints |= {(one["key"], one["effect"]): one for one in each(changes, "addOrUpdateTaints")}
    for gone in each(changes, "removeTaints"):
        taints.pop((gone["key"], gone["effect"]), None)
    wanted: Json = {**request, "labels": labels, "taints": list(taints.values())}
    wanted["scalingConfig"] = {**request["scalingConfig"], **part(params, "scalingConfig")}
    if "updateConfig" in params:
        wanted["updateConfig"] = params["updateConfig"]
    return wanted
