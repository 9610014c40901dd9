"""A HyperPod API that fits on two pages: it keeps groups, shows them in read form, moves when nobody expects it, and
hands every request to a judge before it has an effect. Stands where an `AwsSession` stands.

As in the real one a listed group is replaced whole, counts are absolute, and a classic cluster takes one change at a
time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.live.errors import CallRefused, CallRejected, NotFound
from schemas.errors import LostReply, Refused
from tests.resources_hyperpod.shapes import described

NAME = "prod"
ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
Judge = Callable[[str, str, Mapping[str, Any]], None]


@dataclass(kw_only=True)
class SmallSageMaker:
    """`judge` hears of every change before it has an effect, `landed` when it had one. `moves`: (reads to wait, group,
    count) of what others do to counts, at the moment of a read: the caller sees it. `faults`: what happens to the next
    changes. `objects`: groups that are refused while they are named here."""

    judge: Judge = field(default=lambda _op, _operation, _params: None)
    landed: Callable[[], None] = field(default=lambda: None)
    live: dict[str, Any] | None = None
    groups: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    current: dict[str, int] = field(default_factory=dict[str, int])
    tags: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    moves: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    faults: list[str] = field(default_factory=list[str])
    objects: set[str] = field(default_factory=set[str])
    scarce: set[str] = field(default_factory=set[str])
    blind: bool = False
    requests: int = 0

    # Reading

    def read(self, service: str, operation: str, /, **params: Any) -> dict[str, Any]:
        assert service == "sagemaker"
        if self.blind:
            raise Refused("cannot look", reason="Throttled")
        if operation == "ListClusterEvents":
            return {"Events": []}
        assert (operation, params) == ("DescribeCluster", {"ClusterName": NAME})
        self._others_move()
        if self.live is None:
            raise NotFound("no such cluster")
        shown = [self._shown(name) for name in sorted(self.groups, reverse=self.requests % 2 == 1)]
        return copy.deepcopy({**self.live, "InstanceGroups": shown})

    def pages(self, service: str, operation: str, key: str, /, **params: Any) -> list[dict[str, Any]]:
        if self.blind:
            raise Refused("cannot look", reason="Throttled")
        return list(self.tags) if operation == "ListTags" else []

    def _shown(self, name: str) -> dict[str, Any]:
        body = self.groups[name]
        shown = described(body, current=self.current.get(name, 0))
        wish = body.get("KubernetesConfig", {})
        shown["KubernetesConfig"] = {
            **{f"Desired{what}": value for what, value in wish.items()},
            **{f"Current{what}": value for what, value in wish.items()},
        }
        return shown

    def _others_move(self) -> None:
        waiting: list[tuple[int, str, int]] = []
        for reads, group, count in self.moves:
            if reads > 0:
                waiting.append((reads - 1, group, count))
            elif group in self.groups:
                self.scale(group, count)
        self.moves = waiting

    # What others do

    def scale(self, group: str, count: int) -> None:
        """Somebody else, or an autoscaler."""
        body = self.groups[group]
        body["InstanceCount"] = count
        if "MinInstanceCount" in body:
            body["MinInstanceCount"] = min(body["MinInstanceCount"], count)

    def taint(self, group: str) -> None:
        """By hand."""
        config = self.groups[group].setdefault("KubernetesConfig", {})
        config["Taints"] = [{"Key": "hand", "Effect": "NoSchedule"}]

    def pass_time(self) -> None:
        """Nodes come and go; a classic cluster is over with its change."""
        if self.live is not None:
            self.live["ClusterStatus"] = "InService"
        for name, body in self.groups.items():
            if name not in self.scarce or body["InstanceCount"] < self.current.get(name, 0):
                self.current[name] = body["InstanceCount"]

    # Changing

    def mutate(self, service: str, operation: str, /, *, op: str, **params: Any) -> dict[str, Any]:
        assert service == "sagemaker"
        self.requests += 1
        self.judge(op, operation, params)
        fault = self.faults.pop(0) if self.faults else "ok"
        if fault == "refused":
            raise CallRefused("busy", reason="Conflict")
        if fault == "lost":
            raise LostReply("no answer", reason="Timeout")
        if operation in ("AddTags", "DeleteTags"):
            self._tag(operation, params)
        else:
            {"CreateCluster": self._create, "UpdateCluster": self._update}[operation](params)
        self.landed()
        if fault == "lost_effect":
            raise LostReply("no answer", reason="Timeout")
        return {"ClusterArn": ARN}

    def _create(self, params: Mapping[str, Any]) -> None:
        if self.live is not None:
            raise CallRefused("is there", reason="ResourceInUse")
        self.tags = list(params["Tags"])
        kept = ("Orchestrator", "VpcConfig", "NodeRecovery", "NodeProvisioningMode")
        self.live = {
            "ClusterArn": ARN,
            "ClusterName": NAME,
            "ClusterStatus": "Creating",
            "CreationTime": "2026-03-01T10:00:00.000Z",
            **{name: params[name] for name in kept if name in params},
        }
        self.groups = {body["InstanceGroupName"]: copy.deepcopy(body) for body in params["InstanceGroups"]}

    def _update(self, params: Mapping[str, Any]) -> None:
        assert self.live is not None
        if self.live["ClusterStatus"] != "InService":
            raise CallRefused("the cluster is being updated", reason="Conflict")
        bodies: list[dict[str, Any]] = params.get("InstanceGroups", [])
        gone: list[str] = params.get("InstanceGroupsToDelete", [])
        for body in bodies:
            self._check(body)
        if set(self.groups) <= set(gone):
            raise rejected("the cluster must keep at least one instance group")
        self.groups.update({body["InstanceGroupName"]: copy.deepcopy(body) for body in bodies})
        for name in gone:
            self.groups.pop(name, None)
            self.current.pop(name, None)
        self.live["NodeRecovery"] = params.get("NodeRecovery", self.live["NodeRecovery"])
        if (bodies or gone) and not self.continuous:
            self.live["ClusterStatus"] = "Updating"

    @property
    def continuous(self) -> bool:
        return self.live is not None and self.live.get("NodeProvisioningMode") == "Continuous"

    def _check(self, body: Mapping[str, Any]) -> None:
        name = body["InstanceGroupName"]
        if name in self.objects:
            raise rejected(f"{name}: a label key is reserved")
        if body.get("MinInstanceCount", 0) > body["InstanceCount"]:
            raise rejected(f"{name}: the minimum is above the count")
        if body.get("MinInstanceCount") and not self.continuous:
            raise rejected(f"{name}: a minimum needs Continuous")
        for fixed in ("InstanceType", "ExecutionRole", "OverrideVpcConfig", "CapacityRequirements"):
            if name in self.groups and self.groups[name].get(fixed) != body.get(fixed):
                raise rejected(f"{name}: {fixed} cannot change")

    def _tag(self, operation: str, params: Mapping[str, Any]) -> None:
        named = {tag["Key"] for tag in params.get("Tags", [])} | set(params.get("TagKeys", []))
        self.tags = [tag for tag in self.tags if tag["Key"] not in named]
        self.tags += params.get("Tags", []) if operation == "AddTags" else []


def rejected(text: str) -> Exception:
    error = CallRejected(text, reason="ValidationException")
    return error.told(code="ValidationException", operation="sagemaker:UpdateCluster")
