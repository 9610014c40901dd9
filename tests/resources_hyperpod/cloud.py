"""A HyperPod API in a few lines: it keeps requests, shows groups in read form, and can be told to object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import Clock
from reconciler.live.errors import CallRejected, NotFound
from reconciler.resources.handler import World
from reconciler.resources.hyperpod.handler import HyperPod
from schemas.journal import EffectClass, OpRecord, Phase
from schemas.plan import Action, Cost, Verb
from schemas.resource import Observed, Presence, Resource, Source, Stage
from tests.resources_hyperpod.shapes import ROLE, SPEC, VPC, described

NAME = "prod"
ARN = "arn:aws:sagemaker:us-east-2:111122223333:cluster/abcdefghijkl"
EKS = "arn:aws:eks:us-east-2:111122223333:cluster/prod"
CLUSTER = "hyperpod.Cluster/prod"
SOURCE = Source("InstanceGroup", "g")
CLUSTER_SPEC: dict[str, Any] = {
    "eks": EKS,
    "nodeRecovery": "Automatic",
    "provisioning": "Continuous",
    "subnets": ["subnet-1"],
    "securityGroups": ["sg-1"],
}


class Cloud:
    """Stands where `AwsSession` stands. `calls` are the mutations as they came; `objections` reject by group name."""

    def __init__(self) -> None:
        self.live: dict[str, Any] | None = None
        self.tags: list[dict[str, str]] = []
        self.nodes: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.objections: dict[str, str] = {}
        self.refusal: Exception | None = None

    def read(self, service: str, operation: str, /, **params: Any) -> dict[str, Any]:
        if operation == "ListClusterEvents":
            return {"Events": self.events}
        if self.live is None:
            raise NotFound("no such cluster")
        return self.live

    def pages(self, service: str, operation: str, key: str, /, **params: Any) -> list[dict[str, Any]]:
        return self.tags if operation == "ListTags" else self.nodes

    def mutate(self, service: str, operation: str, /, *, op: str, **params: Any) -> dict[str, Any]:
        self.calls.append((operation, params))
        if self.refusal is not None:
            raise self.refusal
        groups = params.get("InstanceGroups", [])
        bad = [g["InstanceGroupName"] for g in groups if g["InstanceGroupName"] in self.objections]
        if bad:
            error = CallRejected(self.objections[bad[0]], reason="ValidationException")
            raise error.told(code="ValidationException", operation=f"{service}:{operation}")
        effects = {
            "CreateCluster": self.create_cluster,
            "UpdateCluster": self.update_cluster,
            "DeleteCluster": self.delete_cluster,
            "AddTags": self.add_tags,
            "DeleteTags": self.delete_tags,
        }
        effects[operation](params)
        return {"ClusterArn": ARN}

    def group(self, name: str) -> dict[str, Any]:
        assert self.live is not None
        return next(g for g in self.live["InstanceGroups"] if g["InstanceGroupName"] == name)

    def create_cluster(self, params: Mapping[str, Any]) -> None:
        self.tags = params["Tags"]
        self.live = {
            "ClusterArn": ARN,
            "ClusterName": params["ClusterName"],
            "ClusterStatus": "Creating",
            "CreationTime": "2026-03-01T10:00:00.000Z",
            "InstanceGroups": [described(body) for body in params["InstanceGroups"]],
            **{name: params[name] for name in ("Orchestrator", "VpcConfig", "NodeRecovery", "NodeProvisioningMode")},
        }

    def update_cluster(self, params: Mapping[str, Any]) -> None:
        assert self.live is not None
        groups = {g["InstanceGroupName"]: g for g in self.live["InstanceGroups"]}
        groups |= {body["InstanceGroupName"]: described(body) for body in params.get("InstanceGroups", [])}
        for name in params.get("InstanceGroupsToDelete", []):
            del groups[name]
        self.live["InstanceGroups"] = list(reversed(groups.values()))
        self.live["NodeRecovery"] = params.get("NodeRecovery", self.live["NodeRecovery"])

    def delete_cluster(self, params: Mapping[str, Any]) -> None:
        self.live = None

    def add_tags(self, params: Mapping[str, Any]) -> None:
        named = {tag["Key"] for tag in params["Tags"]}
        self.tags = [*(tag for tag in self.tags if tag["Key"] not in named), *params["Tags"]]

    def delete_tags(self, params: Mapping[str, Any]) -> None:
        self.tags = [tag for tag in self.tags if tag["Key"] not in params["TagKeys"]]


def running(groups: Mapping[str, Mapping[str, Any]], **more: Any) -> Cloud:
    """A cluster of ours in service. `groups`: members that differ from a plain write form."""
    cloud = Cloud()
    bodies = [{**write(name), **change} for name, change in groups.items()]
    cloud.create_cluster(
        {
            "ClusterName": NAME,
            "Tags": [
                {"Key": "instantstart:cluster", "Value": NAME},
                {"Key": "instantstart:key", "Value": CLUSTER},
                {"Key": "instantstart:op", "Value": "01OLD"},
            ],
            "Orchestrator": {"Eks": {"ClusterArn": EKS}},
            "VpcConfig": VPC,
            "NodeRecovery": "Automatic",
            "NodeProvisioningMode": "Continuous",
            "InstanceGroups": bodies,
        }
    )
    assert cloud.live is not None
    cloud.live |= {"ClusterStatus": "InService", **more}
    return cloud


def write(name: str) -> dict[str, Any]:
    return {"InstanceGroupName": name, "InstanceCount": 4, "InstanceType": "ml.c5.xlarge", "ExecutionRole": ROLE}


class Bench:
    """One cluster's world over a `Cloud`, and the handler at work in it."""

    def __init__(self, cloud: Cloud, groups: Sequence[str] = (), *, adopt: str | None = None) -> None:
        self.cloud = cloud
        self.handler = HyperPod()
        resources = [cluster_resource(adopt), *(group_resource(name) for name in groups)]
        self.world = World(
            cluster=NAME,
            account="111122223333",
            region="us-east-2",
            aws=cast(AwsSession, cloud),
            kube=lambda: cast(Any, None),
            clock=Clock(),
            desired={resource.key: resource for resource in resources},
            previous={},
            observed={},
            file=lambda path: b"",
            cache_dir="",
        )
        self.look()

    def look(self) -> dict[str, Observed]:
        self.world.observed.clear()
        self.world.observed.update({o.key: o for o in self.handler.look(self.world, [*self.world.desired.values()])})
        return self.world.observed

    def bodies(self, number: int = -1) -> dict[str, dict[str, Any]]:
        """The groups of one UpdateCluster or CreateCluster, by name."""
        return {g["InstanceGroupName"]: g for g in self.cloud.calls[number][1].get("InstanceGroups", [])}


def cluster_resource(adopt: str | None = None, tags: Mapping[str, str] | None = None) -> Resource:
    return Resource(
        key=CLUSTER,
        type="hyperpod.Cluster",
        name=NAME,
        cluster=NAME,
        stage=Stage.COMPUTE,
        lane="hyperpod/prod",
        spec={**CLUSTER_SPEC, "tags": {"cost": "research"} if tags is None else dict(tags)},
        source=SOURCE,
        adopt=adopt,
    )


def group_resource(name: str, **spec: Any) -> Resource:
    return Resource(
        key=f"hyperpod.InstanceGroup/prod/{name}",
        type="hyperpod.InstanceGroup",
        name=name,
        cluster=NAME,
        stage=Stage.COMPUTE,
        lane="hyperpod/prod",
        spec={**SPEC, **spec},
        source=SOURCE,
    )


def action(verb: Verb, resource: Resource, *fields: str, **want: Any) -> Action:
    return Action(
        verb=verb,
        key=resource.key,
        type=resource.type,
        name=resource.name,
        stage=resource.stage,
        lane=resource.lane,
        cost=Cost.IN_PLACE,
        source=SOURCE,
        want={**resource.spec, **want},
        fields=fields or tuple(want),
    )


def create_cluster() -> Action:
    return action(Verb.CREATE, cluster_resource())


def add(name: str, **spec: Any) -> Action:
    return action(Verb.CREATE, group_resource(name, **spec))


def change(name: str, **want: Any) -> Action:
    return action(Verb.UPDATE, group_resource(name), **want)


def delete(name: str) -> Action:
    return action(Verb.DELETE, group_resource(name))


def record(call: Any, phase: Phase = Phase.SUBMITTED, *, op: str = "01NEW", ref: Any = None) -> OpRecord:
    """The op of a call as the journal would give it back."""
    return OpRecord.model_validate(
        {
            "op": op,
            "phase": phase,
            "key": call.key,
            "lane": call.lane,
            "verb": call.verb,
            "call": call.call,
            "class": EffectClass(call.cls),
            "before": call.before,
            "ref": ref,
        }
    )


def is_absent(seen: Observed) -> bool:
    return seen.presence is Presence.ABSENT
