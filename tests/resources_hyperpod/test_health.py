"""Health of HyperPod clusters and groups, from plain answers."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.resources.hyperpod.health import Condition, cluster_health, group_health
from schemas.resource import Health


def group(current: int, target: int, status: str = "InService", **more: Any) -> dict[str, Any]:
    return {"InstanceGroupName": "g", "CurrentCount": current, "TargetCount": target, "Status": status, **more}


def event(text: str, level: str = "Error", at: str = "2026-03-01T10:00:00.000Z") -> dict[str, Any]:
    return {"Description": text, "EventLevel": level, "EventTime": at}


def node(status: str, message: str = "") -> dict[str, Any]:
    return {"InstanceGroupName": "g", "InstanceStatus": {"Status": status, "Message": message}}


SCRIPT = event("Lifecycle script on_create.sh exited with code 1")
SHORT_OF = event("Insufficient capacity for ml.p5.48xlarge in use2-az1", "Warn")
LABELS = {"DesiredLabels": {"a": "b"}}


@pytest.mark.parametrize(
    ("reason", "live", "nodes", "events", "want"),
    [
        ("all there", group(4, 4), [], [], ("healthy", True, "", "4/4")),
        ("empty on purpose", group(0, 0), [], [], ("healthy", True, "", "0/0")),
        ("still made", group(0, 4, "Creating"), [], [], ("progressing", False, "GroupCreating", "0/4")),
        ("no capacity: progress, never failure (A17)", group(12, 16), [], [SHORT_OF],
         ("progressing", False, "CapacityPending", "12/16")),
        ("the minimum is enough", group(12, 16, MinCount=8), [], [], ("healthy", True, "MinimumReached", "12/16")),
        ("below the minimum", group(4, 16, "Updating", MinCount=8), [], [],
         ("progressing", False, "GroupUpdating", "4/16")),
        ("deep checks are a reason, no error (A13)", group(2, 2), [node("DeepHealthCheckInProgress")], [],
         ("progressing", False, "DeepHealthCheck", "2/2")),
        ("failed", group(0, 4, "Failed"), [], [SHORT_OF], ("failed", False, "GroupFailed", "0/4")),
        ("degraded", group(3, 4, "Degraded"), [], [], ("failed", False, "GroupDegraded", "3/4")),
        ("machines are there and starting", group(0, 2), [node("Pending")] * 2, [event("is being provisioned", "Info")],
         ("progressing", False, "NodesStarting", "0/2")),
        ("two failing scripts may be luck", group(0, 4), [], [SCRIPT] * 2,
         ("progressing", False, "CapacityPending", "0/4")),
        ("three cost money", group(0, 4), [], [SCRIPT] * 3, ("failed", False, "LifecycleScriptFailed", "0/4")),
        ("that the group failed says less", group(0, 4, "Failed"), [], [SCRIPT] * 3,
         ("failed", False, "LifecycleScriptFailed", "0/4")),
        ("old failures are history", group(0, 4), [],
         [event("scaling", "Info"), *[event(SCRIPT["Description"], at="2026-03-01T02:00:00Z")] * 3],
         ("progressing", False, "CapacityPending", "0/4")),
        ("labels on the way", group(1, 1, KubernetesConfig=LABELS), [], [],
         ("progressing", True, "LabelsPending", "1/1")),
        ("labels of an empty group", group(0, 0, KubernetesConfig=LABELS), [], [], ("healthy", True, "", "0/0")),
        ("scaling down", group(4, 2), [], [], ("progressing", True, "ScalingDown", "4/2")),
        ("going", group(4, 4, "Deleting"), [], [], ("deleting", False, "Deleting", None)),
        ("a word we do not know", group(4, 4, "Sleeping"), [], [], ("unknown", False, "StatusUnknown", None)),
    ],
)  # fmt: skip
def test_groups(
    reason: str, live: dict[str, Any], nodes: list[Any], events: list[Any], want: tuple[str, bool, str, str | None]
) -> None:
    found = group_health(live, nodes, events, counted=True)
    assert (found.health.value, found.ready, found.reason, found.progress) == want, reason


def test_capacity_is_explained_in_the_servers_words() -> None:
    found = group_health(group(0, 4), [], [event("started", "Info"), SHORT_OF], counted=True)
    assert found.message == SHORT_OF["Description"]


def test_a_failing_node_speaks_where_events_do_not() -> None:
    found = group_health(group(0, 1), [node("Failure", "EFA health check failed")], [], counted=True)
    assert found.message == "EFA health check failed"


def test_an_autoscaled_group_is_healthy_at_any_count() -> None:
    """B10"""
    assert group_health(group(0, 7), [], [], counted=False) == Condition(health=Health.HEALTHY, ready=True)


@pytest.mark.parametrize(
    ("reason", "live", "want"),
    [
        ("in service", {"ClusterStatus": "InService"}, ("healthy", True, "")),
        ("creating", {"ClusterStatus": "Creating"}, ("progressing", False, "Creating")),
        ("classic at work", {"ClusterStatus": "Updating"}, ("progressing", True, "Updating")),
        ("failed", {"ClusterStatus": "Failed", "FailureMessage": "no sufficient capacity"},
         ("failed", False, "ClusterFailed")),
        ("rolling back", {"ClusterStatus": "RollingBack"}, ("progressing", False, "RollingBack")),
        ("rolled back", {"ClusterStatus": "InService", "FailureMessage": "no sufficient capacity"},
         ("failed", True, "RolledBack")),
        ("a continuous cluster does not roll back",
         {"ClusterStatus": "InService", "FailureMessage": "x", "NodeProvisioningMode": "Continuous"},
         ("healthy", True, "")),
        ("going", {"ClusterStatus": "Deleting"}, ("deleting", False, "Deleting")),
    ],
)  # fmt: skip
def test_clusters(reason: str, live: dict[str, Any], want: tuple[str, bool, str]) -> None:
    """A17: FailureMessage is shown word for word."""
    found = cluster_health(live, [])
    assert (found.health.value, found.ready, found.reason) == want, reason
    assert found.message == live.get("FailureMessage", "")


def test_updates_wait_for_deep_health_checks() -> None:
    """A14"""
    found = cluster_health({"ClusterStatus": "InService"}, [node("DeepHealthCheckInProgress"), node("Running")])
    assert (found.reason, found.message) == ("DeepHealthCheck", "updates wait: 1 nodes in deep health check")
