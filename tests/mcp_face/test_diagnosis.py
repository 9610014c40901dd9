"""Diagnoses through the agents' face: each known trouble is found, with evidence, a next step and a command; a cluster
without trouble has no finding."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.livebox import GPU_TYPE, LiveBox, machine, node, pod
from tests.engine.fakes import group_yaml
from tests.live.aws_server import Answer
from tests.mcp_face.facebox import ask

NODE, OTHER = "i-0000000000000000a", "i-0000000000000000b"
HEALTH = "sagemaker.amazonaws.com/node-health-status"
DEEP = "sagemaker.amazonaws.com/deep-health-check-status"
FAULT = "sagemaker.amazonaws.com/fault-reason"
SUBJECTS = ("cluster_creation", "node_health", "nccl", "stuck_deletion", "pending_pods")


def diagnosed(live: LiveBox, subject: str, **more: Any) -> list[dict[str, Any]]:
    told = ask(live.api, f"diagnose_{subject}", cluster="prod", **more)
    assert not told.error, told.text
    assert told.data["looked_at"]
    for finding in told.data["findings"]:
        assert (
            finding["evidence"] and finding["next_step"] and finding["confidence"] in ("certain", "likely", "possible")
        )
    found: list[dict[str, Any]] = told.data["findings"]
    return found


def reasons(found: list[dict[str, Any]]) -> set[str]:
    return {one["reason"] for one in found}


@pytest.fixture
def well(live: LiveBox) -> LiveBox:
    """Ready, with one machine that joined and one pod that runs on it."""
    live.ready()
    live.machines(machine(NODE))
    live.apply(node(NODE), pod("train-0", on=NODE, gpus=4))
    return live


@pytest.mark.parametrize("subject", SUBJECTS)
def test_where_nothing_is_wrong_nothing_is_found(well: LiveBox, subject: str) -> None:
    assert diagnosed(well, subject) == []


@pytest.mark.parametrize(
    ("labels", "ready", "status", "reason", "step"),
    [
        ({HEALTH: "UnschedulablePendingReplacement"}, True, "Running", "Unhealthy", "replace"),
        ({HEALTH: "UnschedulablePendingReboot"}, True, "Running", "Unhealthy", "restart"),
        ({FAULT: "NvidiaErrorXid79"}, True, "Running", "Fault", "restart"),
        ({DEEP: "Failed"}, True, "Running", "DeepCheckFailed", "replace"),
        ({}, False, "Running", "NotReady", "restart"),
        ({}, True, "Failure", "MachineFailed", "replace"),
    ],
    ids=["to be replaced", "to be rebooted", "a fault", "deep check", "silent kubelet", "machine failed"],
)
def test_nodes(live: LiveBox, labels: dict[str, str], ready: bool, status: str, reason: str, step: str) -> None:
    live.ready()
    live.machines(machine(NODE, status=status), machine(OTHER))
    sick = node(NODE, ready=ready)
    sick["metadata"]["labels"] |= labels
    live.apply(sick, node(OTHER))
    found = diagnosed(live, "node_health")
    assert [(one["reason"], one["subject"], one["step"]) for one in found] == [(reason, f"Node/{NODE}", step)]
    assert NODE in found[0]["command"]


def test_a_machine_that_did_not_join(live: LiveBox) -> None:
    live.ready()
    live.machines(machine(NODE), machine(OTHER))
    live.apply(node(OTHER))
    assert [(one["reason"], one["step"]) for one in diagnosed(live, "node_health")] == [("NotJoined", "investigate")]


def event(name: str, message: str, reason: str = "FailedScheduling") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": name, "namespace": "default"},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "firstTimestamp": "2026-03-01T10:00:00Z",
        "lastTimestamp": "2026-03-01T10:00:00Z",
        "count": 3,
    }


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", "NotEnoughDevices"),
        ("0/2 nodes are available: 2 Insufficient memory.", "NotEnoughResources"),
        ("0/2 nodes are available: 2 node(s) had untolerated taint {workload: training}.", "Taint"),
        ("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.", "NoMatchingNode"),
        ('persistentvolumeclaim "shared" not found', "VolumeNotBound"),
        ("0/2 nodes are available: 2 Too many pods.", "TooManyPods"),
        ("words that nobody knows", "Unschedulable"),
    ],
)
def test_pods_that_wait(live: LiveBox, message: str, reason: str) -> None:
    live.ready()
    live.apply(node(NODE), pod("train-0", gpus=4, phase="Pending"))
    live.kube.apply([event("train-0", message)], op="test")
    found = diagnosed(live, "pending_pods")
    assert reasons(found) == {reason}
    assert found[0]["evidence"][0]["text_untrusted"].startswith(message[:20])


def test_a_pod_that_no_node_could_ever_hold(live: LiveBox) -> None:
    live.ready()
    live.apply(node(NODE), pod("train-0", gpus=16, phase="Pending"))
    assert reasons(diagnosed(live, "pending_pods")) == {"NeverFits"}


class TestNccl:
    def two(self, live: LiveBox, **more: Any) -> None:
        live.ready()
        live.apply(node(NODE), node(OTHER), pod("job-0", on=NODE, gpus=4, **more), pod("job-1", on=OTHER, gpus=4))

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("job-0:12:34 [0] NCCL INFO Using network Socket NET/Socket", "EfaNotUsed"),
            ("libnccl-net.so: cannot open shared object file: No plugin found", "PluginMissing"),
            ("[Rank 0] Watchdog caught collective operation timeout: WorkNCCL", "CollectiveTimedOut"),
            ("NCCL WARN Connection closed by remote peer", "PeerGone"),
            ("NVRM: Xid (PCI:0000:10:1c): 79, GPU has fallen off the bus.", "DeviceError"),
            ("Error while creating shared memory segment /dev/shm/nccl-x", "SharedMemoryTooSmall"),
        ],
    )
    def test_patterns_of_logs(self, live: LiveBox, line: str, reason: str) -> None:
        self.two(live)
        live.server.log("default", "job-0", "starting", line, "more")
        found = [one for one in diagnosed(live, "nccl") if one["subject"] == "Pod/default/job-0"]
        assert reasons(found) == {reason}
        assert found[0]["evidence"][0]["text_untrusted"] == line

    def test_a_variable_that_switches_efa_off(self, live: LiveBox) -> None:
        self.two(live, env=[{"name": "NCCL_IB_DISABLE", "value": "1"}])
        assert "Environment" in reasons(diagnosed(live, "nccl"))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("ResourceLimitExceeded: account-level service limit 'ml.g5.12xlarge for cluster usage' is 0", "QuotaTooSmall"),
        ("We currently do not have sufficient capacity: insufficient capacity in usw2-az2", "NoCapacity"),
        ("Lifecycle scripts did not run successfully on instance", "LifecycleScriptFailed"),
        ("User is not authorized to perform: ec2:CreateNetworkInterface", "RoleNotUsable"),
        ("There are not enough free addresses in subnet-1", "NoAddresses"),
        ("Instance could not reach the VPC endpoint of S3", "EndpointUnreachable"),
    ],
)
def test_what_hyperpod_says_of_a_creation(live: LiveBox, said: str, reason: str) -> None:
    live.ready()
    told = {
        "EventId": "e-1",
        "ClusterName": "prod",
        "ResourceType": "Cluster",
        "EventTime": 1772359200.0,
        "EventLevel": "Error",
        "Description": said,
    }
    live.says["ListClusterEvents"] = lambda _: Answer(json={"Events": [told]})
    found = diagnosed(live, "cluster_creation")
    assert reasons(found) == {reason}
    assert found[0]["evidence"][0]["source"] == "hyperpod"


class TestJournal:
    def test_a_failed_call_names_its_cause_and_the_way_on(self, live: LiveBox) -> None:
        live.ready()
        live.api.rig.cloud.faults += [("hyperpod.InstanceGroup", "failed")] * 20
        live.api.rig.commit({"gpu": group_yaml("gpu", 3).replace("ml.m5.2xlarge", GPU_TYPE)})
        live.api.rig.settle()
        (found,) = [one for one in diagnosed(live, "cluster_creation") if one["evidence"][0]["source"] == "journal"]
        assert found["reason"] == "ValidationException" and found["command"].startswith("instantstart retry prod ")

    def test_a_folder_that_vanished_waits_for_a_word(self, live: LiveBox) -> None:
        live.ready()
        live.api.rig.commit(dict.fromkeys(("cluster", "system", "gpu", "shared")))
        live.api.rig.settle()
        found = diagnosed(live, "stuck_deletion")
        assert reasons(found) == {"DeletionProtected"} and found[0]["step"] == "decide"
