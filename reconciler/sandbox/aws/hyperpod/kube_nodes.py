"""A HyperPod machine as a Kubernetes node: what the kubelet and the service write on it."""

from __future__ import annotations

from datetime import UTC, datetime

from reconciler.sandbox.aws.calls import Json, each, part
from reconciler.sandbox.aws.hyperpod.machines import machine
from reconciler.sandbox.aws.hyperpod.records import Group, HyperPodCluster, Node
from reconciler.sandbox.aws.kubernetes_seam import KubernetesCluster
from reconciler.sandbox.aws.world import World

_HEALTH = "sagemaker.amazonaws.com/node-health-status"
_DEEP = "sagemaker.amazonaws.com/deep-health-check-status"


def kubernetes_of(world: World, cluster: HyperPodCluster) -> KubernetesCluster | None:
    for eks in world.eks.get((cluster.account, cluster.region), {}).values():
        if eks.arn == cluster.eks_arn:
            return eks.kubernetes
    return None


def version_of(world: World, cluster: HyperPodCluster) -> str:
    for eks in world.eks.get((cluster.account, cluster.region), {}).values():
        if eks.arn == cluster.eks_arn:
            return eks.version
    return "1.34"


def push(world: World, cluster: HyperPodCluster, node: Node) -> None:
    """Write the node as it is now. Labels and taints that others set stay."""
    kubernetes = kubernetes_of(world, cluster)
    if kubernetes is None or not node.joined:
        return
    there = kubernetes.read("v1", "Node", node.hostname)
    kubernetes.put(_manifest(world, cluster, cluster.groups[node.group], node, there or {}))


def remove(world: World, cluster: HyperPodCluster, node: Node) -> None:
    kubernetes = kubernetes_of(world, cluster)
    node.joined = False
    if kubernetes is not None:
        kubernetes.remove("v1", "Node", node.hostname)


def settle_config(world: World, cluster: HyperPodCluster, group: Group) -> None:
    """Bring the group's labels and taints to its nodes; what the last request had and this one lacks goes."""
    old_labels, old_taints = group.current_labels, group.current_taints
    group.current_labels, group.current_taints = group.labels, group.taints
    kubernetes = kubernetes_of(world, cluster)
    if kubernetes is None:
        return
    for node in cluster.of_group(group.name):
        there = kubernetes.read("v1", "Node", node.hostname) if node.joined else None
        if there is None:
            continue
        labels: dict[str, str] = there["metadata"].setdefault("labels", {})
        for key in old_labels:
            labels.pop(key, None)
        gone = {taint["Key"] for taint in old_taints}
        taints: list[Json] = part(there, "spec").get("taints") or []
        there.setdefault("spec", {})["taints"] = [taint for taint in taints if taint["key"] not in gone]
        kubernetes.put(_manifest(world, cluster, group, node, there))


def _manifest(world: World, cluster: HyperPodCluster, group: Group, node: Node, there: Json) -> Json:
    hardware = machine(node.type)
    ready = node.status in ("Running", "DeepHealthCheckInProgress")
    testing = node.status == "DeepHealthCheckInProgress"
    metadata: Json = dict(there.get("metadata") or {"name": node.hostname})
    labels = {
        **part(metadata, "labels"),
        "kubernetes.io/hostname": node.hostname,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": node.type,
        "topology.kubernetes.io/region": cluster.region,
        "topology.kubernetes.io/zone": node.zone,
        "topology.k8s.aws/zone-id": node.zone_id,
        "sagemaker.amazonaws.com/compute-type": "hyperpod",
        "sagemaker.amazonaws.com/instance-group-name": group.name,
        "sagemaker.amazonaws.com/cluster-name": cluster.name,
        _HEALTH: "Schedulable" if node.status == "Running" else "Unschedulable",
        **group.labels,
    }
    if testing:
        labels[_DEEP] = "InProgress"
    elif group.spec.get("OnStartDeepHealthChecks"):
        labels[_DEEP] = "Passed"
    metadata["labels"] = labels
    owned = {_HEALTH, *(taint["Key"] for taint in group.taints)}
    spec: Json = dict(part(there, "spec"))
    kept = [taint for taint in each(spec, "taints") if taint["key"] not in owned]
    mine = [{k.lower(): v for k, v in taint.items()} for taint in group.taints]
    health = [] if node.status == "Running" else [{"key": _HEALTH, "value": "Unschedulable", "effect": "NoSchedule"}]
    spec |= {"taints": kept + mine + health, "providerID": f"aws:///{node.zone_id}/sagemaker/cluster/{node.id}"}
    moment = datetime.fromtimestamp(world.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False" if node.status == "Pending" else "Unknown",
        "reason": "KubeletReady" if ready else "NodeStatusUnknown",
        "message": "kubelet is posting ready status" if ready else "Kubelet stopped posting node status.",
        "lastHeartbeatTime": moment,
        "lastTransitionTime": moment,
    }
    capacity = _resources(hardware.vcpu, hardware.gib, hardware.pods, node.type)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {
            **part(there, "status"),
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [condition],
            "addresses": [
                {"type": "InternalIP", "address": node.ip},
                {"type": "Hostname", "address": node.hostname},
            ],
            "nodeInfo": _info(node, version_of(world, cluster)),
        },
    }


def _resources(vcpu: int, gib: int, pods: int, instance_type: str) -> dict[str, str]:
    hardware = machine(instance_type)
    amounts = {"cpu": str(vcpu), "memory": f"{gib}Gi", "pods": str(pods), "ephemeral-storage": "500Gi"}
    if hardware.accelerators:
        amounts["aws.amazon.com/neurondevice" if hardware.neuron else "nvidia.com/gpu"] = str(hardware.accelerators)
    if hardware.efa:
        amounts |= {"vpc.amazonaws.com/efa": str(hardware.efa), "hugepages-2Mi": "5120Mi"}
    return amounts


def _info(node: Node, version: str) -> Json:
    return {
        "machineID": node.id.removeprefix("i-"),
        "systemUUID": node.id.removeprefix("i-"),
        "bootID": node.boot,
        "kernelVersion": "6.1.0",
        "osImage": "Amazon Linux 2023",
        "containerRuntimeVersion": "containerd://2.0.5",
        "kubeletVersion": f"v{version}.0-eks-sandbox",
        "kubeProxyVersion": f"v{version}.0-eks-sandbox",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }
