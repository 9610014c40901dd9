"""What HyperPod remembers. Records are mutable: they are the simulated cloud's state, always touched under its lock."""

from __future__ import annotations

import random
import secrets
import uuid
from dataclasses import dataclass, field

from reconciler.sandbox.aws.calls import Json, each, part
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.world import World


@dataclass(kw_only=True)
class Node:
    id: str
    logical: str
    group: str
    type: str
    zone: str
    zone_id: str
    subnet: str
    interface: str
    ip: str
    launched: float
    status: str = "Pending"
    message: str = ""
    boot: str = field(default_factory=lambda: str(uuid.uuid4()))
    joined: bool = False
    life: int = 0  # raised by every act on the node; due work of an older life does nothing
    lifecycle: Json = field(default_factory=Json)

    @property
    def hostname(self) -> str:
        return f"hyperpod-{self.id}"

    @property
    def leaving(self) -> bool:
        return self.status == "ShuttingDown"


@dataclass(kw_only=True)
class Group:
    name: str
    spec: Json  # the last request, counts taken out
    target: int
    minimum: int | None = None
    status: str = "Creating"
    message: str = ""
    current_labels: dict[str, str] = field(default_factory=dict[str, str])
    current_taints: list[Json] = field(default_factory=list[Json])
    last_good: tuple[int, int | None] = (0, None)
    minimum_round: int = 0
    retry_due: bool = False
    script_failed: bool = False
    script_broken: bool = False  # told to fail, whatever it is

    @property
    def labels(self) -> dict[str, str]:
        config: Json = part(self.spec, "KubernetesConfig")
        return dict(part(config, "Labels"))

    @property
    def taints(self) -> list[Json]:
        config: Json = part(self.spec, "KubernetesConfig")
        return list(each(config, "Taints"))

    @property
    def types(self) -> list[str]:
        flexible = each(part(self.spec, "InstanceRequirements"), "InstanceTypes")
        return [str(kind) for kind in flexible or [self.spec["InstanceType"]]]

    @property
    def spot(self) -> bool:
        return "Spot" in part(self.spec, "CapacityRequirements")


@dataclass(kw_only=True)
class HyperPodCluster:
    name: str
    arn: str
    account: str
    region: str
    request: Json
    eks_arn: str
    created: float
    tags: dict[str, str]
    status: str = "Creating"
    message: str = ""
    recovery: str = "Automatic"
    role: str | None = None
    tiered: Json | None = None
    autoscaling: Json | None = None
    groups: dict[str, Group] = field(default_factory=dict[str, Group])
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    events: list[Json] = field(default_factory=list[Json])  # oldest first
    entries: list[str] = field(default_factory=list[str])  # access entries it made
    before: Json | None = None  # classic: groups as they were, to roll back to

    @property
    def continuous(self) -> bool:
        return self.request.get("NodeProvisioningMode") == "Continuous"

    def of_group(self, group: str) -> list[Node]:
        """The group's machines, those on their way out excluded."""
        return [node for node in self.nodes.values() if node.group == group and not node.leaving]

    def running(self, group: str) -> list[Node]:
        return [node for node in self.of_group(group) if node.status == "Running"]

    def event(
        self, now: float, text: str, *, group: str | None = None, node: str | None = None, level: str = "Info"
    ) -> None:
        if not self.continuous:
            return  # events exist on Continuous clusters only
        event: Json = {
            "EventId": str(uuid.uuid4()),
            "ClusterArn": self.arn,
            "ClusterName": self.name,
            "ResourceType": "Instance" if node else "InstanceGroup" if group else "Cluster",
            "EventTime": now,
            "Description": text,
            "EventLevel": level,
        }
        if group:
            event["InstanceGroupName"] = group
        if node:
            event["InstanceId"] = node
        self.events.append(event)


def cluster_of(world: World, account: str, region: str, name_or_arn: str) -> HyperPodCluster:
    for cluster in world.hyperpod.get((account, region), {}).values():
        if name_or_arn in (cluster.name, cluster.arn):
            return cluster
    raise not_found(f"Cluster with name {name_or_arn} not found.")


def instance_id() -> str:
    return "i-" + secrets.token_hex(9)[:17]


def shuffled(names: list[str], seed: str) -> list[str]:
    """An order that is not the request's, but always the same for the same cluster."""
    order = sorted(names)
    random.Random(seed).shuffle(order)
    return order


def not_found(message: str) -> AwsError:
    return AwsError("ResourceNotFound", message, 400)


def invalid(message: str) -> AwsError:
    return AwsError("ValidationException", message, 400)


def conflict(message: str) -> AwsError:
    return AwsError("ConflictException", message, 400)
