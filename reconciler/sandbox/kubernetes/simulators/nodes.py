"""The kubelets' side of nodes: they register, stay ready, reboot and go. Who decides that is the AWS simulator."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.objects import Object, rfc3339
from reconciler.sandbox.kubernetes.simulators.client import Client, Refused

KUBELET_VERSION = "v1.34.1-sandbox"
CONFLICT_TRIES = 10


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """A node as its kubelet announces it. Quantities are Kubernetes strings: {"cpu": "192", "nvidia.com/gpu": "8"}."""

    name: str  # hyperpod-i-0123…
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: tuple[Mapping[str, str], ...] = ()  # key, value?, effect
    allocatable: Mapping[str, str] = field(default_factory=lambda: {"cpu": "4", "memory": "16Gi", "pods": "110"})
    provider_id: str = ""
    address: str = "10.0.0.1"
    boot_id: str = ""  # made up if empty


class Nodes:
    """Registers and changes nodes through the API. All calls may be repeated."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    def register(self, spec: NodeSpec) -> str:
        """Create the node, ready; a node of that name that exists is made ready again. Answers its boot id."""
        boot_id = spec.boot_id or str(uuid.uuid4())
        node: Object = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": spec.name, "labels": {**_own_labels(spec.name), **spec.labels}},
            "spec": {"taints": [dict(taint) for taint in spec.taints]} if spec.taints else {},
            "status": self._status(spec, boot_id),
        }
        if spec.provider_id:
            node["spec"]["providerID"] = spec.provider_id
        try:
            self._client.create(_NODES, node)
            # the server's own taint goes when the node controller sees it ready
            self._client.merge(f"{_NODES}/{spec.name}", {"spec": {"taints": [dict(taint) for taint in spec.taints]}})
        except Refused as refused:
            if refused.reason != "AlreadyExists":
                raise
            self._client.strategic(f"{_NODES}/{spec.name}/status", {"status": node["status"]})
        return boot_id

    def not_ready(self, name: str, reason: str = "NodeStatusUnknown") -> None:
        self._condition(
            name,
            "Unknown" if reason == "NodeStatusUnknown" else "False",
            reason,
            "Kubelet stopped posting node status.",
        )

    def ready(self, name: str, *, boot_id: str = "") -> None:
        """Ready again, after a reboot with a new boot id."""
        self._condition(name, "True", "KubeletReady", "kubelet is posting ready status", boot_id=boot_id)

    def reboot(self, name: str, *, seconds: float = 120.0) -> str:
        """Not ready for so many simulated seconds (it blocks that long), then ready with the new boot id it answers."""
        self.not_ready(name)
        self._clock.sleep(seconds)
        boot_id = str(uuid.uuid4())
        self.ready(name, boot_id=boot_id)
        return boot_id

    def remove(self, name: str) -> None:
        """The node object goes; its pods follow by the pod collector. Nothing happens if it is gone."""
        self._client.delete(f"{_NODES}/{name}")

    def apply_labels(
        self, name: str, labels: Mapping[str, str | None], taints: tuple[Mapping[str, str], ...] | None = None
    ) -> None:
        """Set labels (None takes one away); `taints`, if given, replace all the node has."""
        patch: Object = {"metadata": {"labels": dict(labels)}}
        if taints is not None:
            patch["spec"] = {"taints": [dict(taint) for taint in taints]}
        self._client.merge(f"{_NODES}/{name}", patch)

    def boot_id(self, name: str) -> str:
        found: str = self._client.get(f"{_NODES}/{name}")["status"]["nodeInfo"]["bootID"]
        return found

    def _condition(self, name: str, status: str, reason: str, message: str, *, boot_id: str = "") -> None:
        now = rfc3339(self._clock.now())
        ready: Object = {
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        patch: Object = {"status": {"conditions": [ready]}}
        if boot_id:
            patch["status"]["nodeInfo"] = {"bootID": boot_id}
        self._client.strategic(f"{_NODES}/{name}/status", patch)

    def _status(self, spec: NodeSpec, boot_id: str) -> Object:
        now = rfc3339(self._clock.now())
        conditions: list[dict[str, Any]] = []
        for kind, status, reason in (
            ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID"),
            ("Ready", "True", "KubeletReady"),
        ):
            conditions.append(
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": "",
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
            )
        info = {
            "bootID": boot_id,
            "machineID": uuid.uuid5(uuid.NAMESPACE_DNS, spec.name).hex,
            "systemUUID": str(uuid.uuid5(uuid.NAMESPACE_DNS, spec.name)),
            "kernelVersion": "6.1.0-sandbox",
            "osImage": "Amazon Linux 2023",
            "containerRuntimeVersion": "containerd://2.0.0",
            "kubeletVersion": KUBELET_VERSION,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": "amd64",
        }
        return {
            "capacity": dict(spec.allocatable),
            "allocatable": dict(spec.allocatable),
            "conditions": conditions,
            "addresses": [{"type": "InternalIP", "address": spec.address}, {"type": "Hostname", "address": spec.name}],
            "nodeInfo": info,
        }


_NODES = "/api/v1/nodes"


def _own_labels(name: str) -> dict[str, str]:
    return {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
    }
