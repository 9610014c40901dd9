"""A service over the invented cloud with a Kubernetes API of its own behind the cluster, and a scripted SageMaker
and S3 for what readers ask them. Both are reached by HTTP, with the product's own clients."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.engine.settings import Settings
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.aws.sessions import Patience
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import FixedToken
from reconciler.resources.handler import World
from reconciler.sandbox.kubernetes.records import Fault
from reconciler.sandbox.kubernetes.server import ApiServers
from tests.api.apibox import ApiBox
from tests.engine.fakes import Rig, cluster_yaml, group_yaml
from tests.live.aws_server import Answer, FakeAws, Seen
from tests.live.kube_server import ADMIN, TOKEN

Said = Callable[[dict[str, Any]], Answer]
GPU_TYPE = "ml.g5.12xlarge"
STORAGE = """apiVersion: instantstart/v1
kind: Storage
metadata:
  name: shared
spec:
  s3: {}
"""


class KubeHost:
    """API servers, one after the other, each new and empty."""

    def __init__(self) -> None:
        self._names = itertools.count()
        self.down = False
        self.servers = ApiServers(
            authenticate=lambda _: lambda given: ADMIN if given == TOKEN else None,
            before_request=lambda _: Fault(status=503) if self.down else None,
        )

    def new(self) -> KubeApi:
        name = f"cluster-{next(self._names)}"
        endpoint = self.servers.start(name)
        self.down = False
        return KubeApi(host=self, name=name, url=endpoint.url, ca_pem=endpoint.ca_pem)


@dataclass(kw_only=True)
class KubeApi:
    host: KubeHost
    name: str
    url: str
    ca_pem: str

    def client(self) -> KubeCluster:
        return KubeCluster(self.url, self.ca_pem, FixedToken(TOKEN), pause=lambda _: None, threads=2)

    def log(self, namespace: str, pod: str, *lines: str, container: str = "main", at: float | None = None) -> None:
        """What a container writes. `at`: epoch seconds."""
        logs = self.host.servers.api(self.name).logs
        for line in lines:
            logs.append(namespace, pod, container, line, at=at)

    def close(self) -> None:
        self.host.servers.stop(self.name)


class OneKube:
    """Every cluster has the same Kubernetes API."""

    def __init__(self, server: KubeApi) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._open: KubeCluster | None = None

    def of(self, _world: World) -> KubeCluster:
        with self._lock:
            if self._open is None or self._open.transport.closed:
                self._open = self._server.client()
            return self._open

    def forget(self, _cluster: str) -> None:
        self.close()

    def close(self) -> None:
        if self._open is not None:
            self._open.close()


@dataclass(kw_only=True)
class LiveRig(Rig):
    kube: OneKube

    def accounts(self) -> AwsAccounts:
        return AwsAccounts(patience=Patience(connect=20, read=60, mutate=60, attempts=1))

    def kubes(self) -> object:
        return self.kube


@dataclass(kw_only=True)
class LiveBox:
    """`says`: what AWS answers, by operation. `kube` writes to the API server as an administrator."""

    api: ApiBox
    aws: FakeAws
    server: KubeApi
    kube: KubeCluster
    says: dict[str, Said] = field(default_factory=dict[str, Said])

    def __post_init__(self) -> None:
        self.says |= {
            "DescribeCluster": lambda _: Answer(json=HYPERPOD),
            "ListClusterNodes": lambda _: Answer(json={"ClusterNodeSummaries": []}),
            "ListClusterEvents": lambda _: Answer(json={"Events": []}),
        }
        self.aws.script = self._answer

    def _answer(self, seen: Seen) -> Answer:
        told = self.says.get(seen.operation)
        if told is None:
            return Answer(status=400, code="ValidationException", message=f"{seen.operation} is not told here")
        return told(json.loads(seen.body) if seen.body.startswith(b"{") else {"path": seen.path})

    def ready(self) -> Any:
        """A cluster that is Ready, with two groups and a Storage; somebody who reads."""
        gpu = group_yaml("gpu", 2).replace("ml.m5.2xlarge", GPU_TYPE)
        self.api.rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system"), "gpu": gpu, "shared": STORAGE})
        self.api.rig.settle()
        return self.api.client("read")

    def apply(self, *bodies: dict[str, Any]) -> None:
        """Create objects and write their status, as a kubelet or a controller does."""
        for body in bodies:
            self.kube.apply([body], op="test")
            if "status" in body:
                self.status(body)

    def status(self, body: dict[str, Any]) -> None:
        key = self.kube.key(body)
        path = self.kube.served(key.gvk).path(key.namespace or None, key.name)
        patch = {"status": body["status"]}
        merge = "application/merge-patch+json"
        self.kube.transport.change("PATCH", f"{path}/status", op="test", body=patch, content_type=merge)

    def gone(self, kind: str, name: str, namespace: str | None = None) -> None:
        self.kube.delete(Gvk("v1", kind), namespace, name, op="test")

    def close(self) -> None:
        self.api.close()
        self.kube.close()
        self.server.close()

    def machines(self, *nodes: dict[str, Any]) -> None:
        self.says["ListClusterNodes"] = lambda _: Answer(json={"ClusterNodeSummaries": list(nodes)})


HYPERPOD: dict[str, Any] = {
    "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
    "ClusterName": "prod",
    "ClusterStatus": "InService",
    "InstanceGroups": [],
}


def machine(instance: str, group: str = "gpu", status: str = "Running", **more: Any) -> dict[str, Any]:
    """An entry of ListClusterNodes."""
    return {
        "InstanceGroupName": group,
        "InstanceId": instance,
        "InstanceType": GPU_TYPE,
        "LaunchTime": 1772352000.0,
        "InstanceStatus": {"Status": status},
        "NodeLogicalId": f"logical-{instance}",
        **more,
    }


def node(instance: str, group: str = "gpu", gpus: int = 4, ready: bool = True, **labels: str) -> dict[str, Any]:
    """A node as its kubelet announces it: apply it, then write its status."""
    name = f"hyperpod-{instance}"
    health = {"sagemaker.amazonaws.com/node-health-status": "Schedulable"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "sagemaker.amazonaws.com/instance-group-name": group,
                "node.kubernetes.io/instance-type": GPU_TYPE,
                "topology.kubernetes.io/zone": "us-west-2b",
                **health,
                **labels,
            },
        },
        "spec": {"taints": []},
        "status": {
            "capacity": {"nvidia.com/gpu": str(gpus), "cpu": "48"},
            "allocatable": {"nvidia.com/gpu": str(gpus), "cpu": "48"},
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True" if ready else "Unknown",
                    "reason": "KubeletReady" if ready else "NodeStatusUnknown",
                    "message": "kubelet is posting ready status",
                    "lastTransitionTime": "2026-03-01T10:00:00Z",
                    "lastHeartbeatTime": "2026-03-01T10:00:00Z",
                }
            ],
            "nodeInfo": {
                "bootID": f"boot-{instance}",
                "kubeletVersion": "v1.33.0",
                **dict.fromkeys(
                    (
                        "machineID",
                        "systemUUID",
                        "kernelVersion",
                        "osImage",
                        "containerRuntimeVersion",
                        "kubeProxyVersion",
                        "operatingSystem",
                        "architecture",
                    ),
                    "x",
                ),
            },
        },
    }


def pod(
    name: str,
    *,
    namespace: str = "default",
    on: str | None = None,
    gpus: int = 0,
    containers: Sequence[str] = ("main",),
    env: Sequence[dict[str, str]] = (),
    phase: str = "Running",
) -> dict[str, Any]:
    asked = {"limits": {"nvidia.com/gpu": str(gpus)}, "requests": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    spec: dict[str, Any] = {
        "containers": [
            {"name": each, "image": "example.com/image:1", "resources": asked, "env": list(env)} for each in containers
        ]
    }
    if on is not None:
        spec["nodeName"] = f"hyperpod-{on}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
        "status": {
            "phase": phase,
            "containerStatuses": [
                {
                    "name": each,
                    "ready": phase == "Running",
                    "restartCount": 0,
                    "image": "example.com/image:1",
                    "imageID": "",
                    "state": {"running": {"startedAt": "2026-03-01T10:00:00Z"}},
                }
                for each in containers
            ],
        },
    }


def make(root: Path, aws: FakeAws, server: KubeApi) -> LiveBox:
    rig = LiveRig(path=root / "config", state=root / "state", kube=OneKube(server))
    rig.cloud.endpoint = server.url
    settings = Settings(repository=str(rig.path), state_dir=rig.state, writer=rig.writer)
    return LiveBox(api=ApiBox(rig=rig, settings=settings), aws=aws, server=server, kube=server.client())
