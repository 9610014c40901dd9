"""Nodes: each trouble that is planted is found, with its step; what is well, or in HyperPod's hands, is let be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.api.livebox import LiveBox, machine, node
from tests.diagnosis.ward import Ward, hyperpod_event
from tests.engine.fakes import cluster_yaml
from tests.mcp_face.facebox import ask

HEALTH = "sagemaker.amazonaws.com/node-health-status"
DEEP = "sagemaker.amazonaws.com/deep-health-check-status"
FAULT = "sagemaker.amazonaws.com/fault-reason"
TIME = 1772359200.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """`status`: HyperPod's, None: it does not list the machine. `node` False: Kubernetes does not have it.
    `found`: reason → step."""

    why: str
    found: Mapping[str, str] = field(default_factory=dict[str, str])
    status: str | None = "Running"
    node: bool = True
    ready: str = "True"
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    condition: str = ""
    cordoned: bool = False
    usable: int = 4
    events: tuple[str, ...] = ()


CASES = {
    "well": Case(why="nothing is wrong with it"),
    "checked": Case(why="it passed", labels={DEEP: "Passed"}),
    "starting": Case(why="it is on its way", status="Pending", node=False),
    "foreign": Case(why="a node that HyperPod does not list may be well all the same", status=None),
    "was-rebooted": Case(why="a past reboot is no trouble", events=("Instance {id} was rebooted",)),
    "to-be-replaced": Case(
        why="the agent's word", labels={HEALTH: "UnschedulablePendingReplacement"}, found={"Unhealthy": "replace"}
    ),
    "to-be-rebooted": Case(
        why="the agent's word", labels={HEALTH: "UnschedulablePendingReboot"}, found={"Unhealthy": "restart"}
    ),
    "marked": Case(
        why="faults stand beside", labels={HEALTH: "Unschedulable", FAULT: "Xid79"}, found={"Unhealthy": "restart"}
    ),
    "fault": Case(why="a fault alone", labels={FAULT: "NvidiaErrorXid79"}, found={"Fault": "restart"}),
    "failed-check": Case(
        why="a deep check tells hardware", labels={DEEP: "Failed"}, found={"DeepCheckFailed": "replace"}
    ),
    "in-check": Case(
        why="A13: its taint is the check's, no trouble",
        labels={DEEP: "InProgress", HEALTH: "Unschedulable"},
        found={"DeepCheckRunning": "investigate"},
    ),
    "in-check-by-hyperpod": Case(
        why="the label may come later than the status",
        status="DeepHealthCheckInProgress",
        labels={HEALTH: "Unschedulable"},
        found={"DeepCheckRunning": "investigate"},
    ),
    "rebooting": Case(
        why="what HyperPod does already is not done twice",
        status="Pending",
        ready="False",
        found={"BeingRecovered": "investigate"},
    ),
    "updating": Case(why="as above", status="SystemUpdating", ready="Unknown", found={"BeingRecovered": "investigate"}),
    "not-joined": Case(why="it runs, and nobody knows it", node=False, found={"NotJoined": "investigate"}),
    "failed": Case(why="HyperPod's word", status="Failure", found={"MachineFailed": "replace"}),
    "silent": Case(why="a dead kubelet", ready="Unknown", found={"NotReady": "restart"}),
    "not-ready": Case(why="the kubelet says why", ready="False", found={"NotReady": "investigate"}),
    **{
        kind.lower(): Case(why="the kubelet's word", condition=kind, found={kind: "investigate"})
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
    },
    "cordoned": Case(why="somebody's doing, not health's", cordoned=True, found={"Cordoned": "decide"}),
    "one-gpu-less": Case(
        why="its plugin took a broken device out of what can be had, not out of what is there",
        usable=3,
        found={"DevicesMissing": "restart"},
    ),
    "rebooted-and-ill": Case(
        why="the order is restart, then replace",
        labels={HEALTH: "UnschedulablePendingReboot"},
        events=("Instance {id} was rebooted",),
        found={"Unhealthy": "replace"},
    ),
}
IDS = {name: f"i-{number:017x}" for number, name in enumerate(CASES, 1)}


@pytest.fixture(scope="module", autouse=True)
def planted(ward: Ward) -> None:
    live = ward.live
    live.ready()
    live.machines(*(machine(IDS[name], status=case.status) for name, case in CASES.items() if case.status))
    live.apply(*(body(name, case) for name, case in CASES.items() if case.node))
    ward.events(
        *(
            hyperpod_event(text.format(id=IDS[name]), TIME, level="Info", instance=IDS[name])
            for name, case in CASES.items()
            for text in case.events
        )
    )


def body(name: str, case: Case) -> dict[str, Any]:
    made = node(IDS[name])
    made["metadata"]["labels"] |= case.labels
    made["status"]["conditions"][0] |= {"status": case.ready, "reason": "Planted", "message": "as planted"}
    made["status"]["allocatable"]["nvidia.com/gpu"] = str(case.usable)
    if case.cordoned:
        made["spec"]["unschedulable"] = True
    if case.condition:
        ready = made["status"]["conditions"][0]
        made["status"]["conditions"].append({**ready, "type": case.condition, "status": "True"})
    return made


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=CASES.keys())
def test_each_node(ward: Ward, name: str, case: Case) -> None:
    found = ward.of("node_health", f"Node/{IDS[name]}")
    assert {one["reason"]: one["step"] for one in found} == case.found, case.why
    for one in found:
        assert IDS[name] in one["command_untrusted"]
        if case.events:
            assert any("was rebooted" in each["text_untrusted"] for each in one["evidence"]), "recovery so far"


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("to-be-replaced", "batch-replace-cluster-nodes"),
        ("to-be-rebooted", "batch-reboot-cluster-nodes"),
        ("not-ready", "kubectl describe node"),
        ("cordoned", "kubectl uncordon"),
        ("not-joined", "describe-cluster-node"),
    ],
)
def test_the_command_is_that_of_the_step(ward: Ward, name: str, verb: str) -> None:
    (found,) = ward.of("node_health", f"Node/{IDS[name]}")
    assert verb in found["command_untrusted"]


def test_where_recovery_is_automatic_it_comes_first(ward: Ward) -> None:
    (found,) = ward.of("node_health", f"Node/{IDS['to-be-rebooted']}")
    assert found["next_step"].startswith("automatic recovery")


@pytest.mark.parametrize("name", ["{id}", "hyperpod-{id}"], ids=["by instance", "by its name in Kubernetes"])
def test_one_node_is_asked_about_alone(ward: Ward, name: str) -> None:
    found = ward.diagnosed("node_health", node=name.format(id=IDS["silent"]))
    assert {one["subject_untrusted"] for one in found} == {f"Node/{IDS['silent']}"}


def test_a_node_that_nobody_knows_is_not_called_well(ward: Ward) -> None:
    told = ask(ward.live.api, "diagnose_node_health", cluster="prod", node="hyperpod-i-0")
    assert told.error and told.data["error"] == "UnknownNode"


def test_where_nobody_recovers_a_reboot_is_proposed(live: LiveBox) -> None:
    """NodeRecovery None: the same label, another next step."""
    live.ready()
    live.api.rig.commit({"cluster": cluster_yaml(extra="  hyperpod:\n    nodeRecovery: None\n")})
    live.api.rig.settle()
    sick = node(IDS["well"])
    sick["metadata"]["labels"] |= {HEALTH: "UnschedulablePendingReboot"}
    live.machines(machine(IDS["well"]))
    live.apply(sick)
    (found,) = ask(live.api, "diagnose_node_health", cluster="prod").data["findings"]
    assert "propose a reboot" in found["next_step"] and found["step"] == "restart"


def test_without_kubernetes_nobody_is_called_not_joined(live: LiveBox) -> None:
    """A source that cannot be seen proves nothing, and is named."""
    live.ready()
    live.machines(machine(IDS["well"]))
    live.server.host.down = True
    told = ask(live.api, "diagnose_node_health", cluster="prod")
    assert told.data["findings"] == []
    assert "kubernetes-nodes" in {one["source_untrusted"] for one in told.data["unseen"]}
