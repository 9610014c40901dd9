"""Pods that wait, and pods that do not end: in the words of the scheduler, of kubelets and of quotas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from reconciler.live.clock import real_now
from tests.api.livebox import node, pod
from tests.diagnosis.ward import Ward, kube_event

NODE, DEAD = "i-0000000000000000a", "i-0000000000000000b"
NODES = "0/2 nodes are available: "


@dataclass(frozen=True, kw_only=True)
class Case:
    """`said`: of the scheduler, by an event; `condition`: by the pod's own condition alone; `waits`: why its container
    does. `found`: reason → confidence."""

    why: str
    found: Mapping[str, str] = field(default_factory=dict[str, str])
    said: str = ""
    condition: str = ""
    waits: str = ""
    restarts: int = 0
    phase: str = "Pending"
    on: str | None = None
    gpus: int = 1
    event: tuple[str, str] = ("", "")
    gate: str = ""


CASES = {
    "runs": Case(why="it runs", phase="Running", on=NODE),
    "done": Case(why="it is over", phase="Succeeded", on=NODE),
    "new": Case(why="nobody has looked at it yet"),
    "starts": Case(why="it is being started", on=NODE, waits="ContainerCreating"),
    "began-anew": Case(why="it restarted once and runs", phase="Running", on=NODE, restarts=1),
    "was-late": Case(
        why="an old word about a pod that has a node by now",
        said=f"{NODES}2 Insufficient cpu.",
        phase="Running",
        on=NODE,
    ),
    "no-gpu": Case(
        why="all are taken", said=f"{NODES}2 Insufficient nvidia.com/gpu.", found={"NotEnoughDevices": "certain"}
    ),
    "no-neuron": Case(
        why="the same of Trainium",
        said=f"{NODES}2 Insufficient aws.amazon.com/neurondevice.",
        found={"NotEnoughDevices": "certain"},
    ),
    "no-efa": Case(
        why="EFA is a device too",
        said=f"{NODES}2 Insufficient vpc.amazonaws.com/efa.",
        found={"NotEnoughDevices": "certain"},
    ),
    "no-event": Case(
        why="events end after an hour, the condition stays",
        condition=f"{NODES}2 Insufficient nvidia.com/gpu.",
        found={"NotEnoughDevices": "certain"},
    ),
    "no-memory": Case(why="as it says", said=f"{NODES}2 Insufficient memory.", found={"NotEnoughResources": "certain"}),
    "no-room": Case(why="A19: the type's limit", said=f"{NODES}2 Too many pods.", found={"TooManyPods": "certain"}),
    "taint": Case(
        why="a taint of the group",
        said=f"{NODES}2 node(s) had untolerated taint {{workload: training}}.",
        found={"Taint": "certain"},
    ),
    "not-ready": Case(
        why="this taint is a node's trouble, not the pod's",
        said=f"{NODES}2 node(s) had untolerated taint {{node.kubernetes.io/not-ready: }}.",
        found={"NodesNotReady": "certain"},
    ),
    "cordoned": Case(
        why="somebody took them out", said=f"{NODES}2 node(s) were unschedulable.", found={"Cordoned": "certain"}
    ),
    "affinity": Case(
        why="labels",
        said=f"{NODES}2 node(s) didn't match Pod's node affinity/selector.",
        found={"NoMatchingNode": "certain"},
    ),
    "spread": Case(
        why="no place keeps the skew",
        said=f"{NODES}2 node(s) didn't match pod topology spread constraints.",
        found={"TopologySpread": "certain"},
    ),
    "spread-by-nothing": Case(
        why="no node has the label by which to spread",
        said=f"{NODES}2 node(s) didn't match pod topology spread constraints (missing required label).",
        found={"TopologyLabelMissing": "certain"},
    ),
    "spread-and-labels": Case(
        why="some nodes have the wrong labels, the others would stand too close",
        said=f"{NODES}1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) didn't match pod topology spread constraints.",
        found={"NoMatchingNode": "likely", "TopologySpread": "likely"},
    ),
    "several": Case(
        why="several reasons: none of them is certain to be the one",
        said=f"{NODES}1 Insufficient memory, 1 node(s) were unschedulable.",
        found={"NotEnoughResources": "likely", "Cordoned": "likely"},
    ),
    "no-claim": Case(
        why="C22: it is in another namespace",
        said=f'{NODES}persistentvolumeclaim "shared" not found.',
        found={"VolumeNotBound": "certain"},
    ),
    "unbound": Case(
        why="the claim waits",
        said=f"{NODES}pod has unbound immediate PersistentVolumeClaims.",
        found={"VolumeNotBound": "certain"},
    ),
    "unknown-words": Case(
        why="what is not known is passed on as it is",
        said="words that nobody knows",
        found={"Unschedulable": "certain"},
    ),
    "too-large": Case(why="no node has so many", gpus=16, found={"NeverFits": "certain"}),
    "gated": Case(why="Kueue has not admitted it", gate="kueue.x-k8s.io/admission", found={"Queued": "certain"}),
    "no-image": Case(why="the name", on=NODE, waits="ImagePullBackOff", found={"ImageNotPulled": "certain"}),
    "no-config": Case(
        why="a Secret is missing", on=NODE, waits="CreateContainerConfigError", found={"ConfigMissing": "certain"}
    ),
    "crashes": Case(
        why="again and again",
        phase="Running",
        on=NODE,
        waits="CrashLoopBackOff",
        restarts=7,
        found={"Crashes": "certain"},
    ),
    "no-mount": Case(
        why="the role of the driver",
        on=NODE,
        waits="ContainerCreating",
        event=("FailedMount", 'MountVolume.SetUp failed for volume "shared": Access denied'),
        found={"VolumeNotMounted": "likely"},
    ),
    "no-address": Case(
        why="the subnet is full",
        on=NODE,
        waits="ContainerCreating",
        event=("FailedCreatePodSandBox", "plugin vpc-cni: failed to assign an IP address to container"),
        found={"NoPodAddress": "likely"},
    ),
    "no-network": Case(
        why="the CNI itself",
        on=NODE,
        waits="ContainerCreating",
        event=("FailedCreatePodSandBox", "connection refused"),
        found={"SandboxNotMade": "likely"},
    ),
}


STAYS: list[tuple[str, str]] = []
NS_FINALIZERS, NS_CONTENT = "NamespaceFinalizersRemaining", "NamespaceContentRemaining"
# Conditions that are True, by namespace: (type, message).
NAMESPACES: dict[str, list[tuple[str, str]]] = {
    "api": [("NamespaceDeletionDiscoveryFailure", "metrics.k8s.io/v1beta1: stale GroupVersion discovery")],
    "refused": [("NamespaceDeletionContentFailure", "webhook did not answer"), (NS_CONTENT, "2 pods")],
    "kept": [(NS_CONTENT, "claims has 1 instance"), (NS_FINALIZERS, "example.com/keep in 1 instance")],
    "full": [(NS_CONTENT, "pods has 1 instance")],
    "own": [*STAYS],
    "stays": STAYS,
}
NS_FOUND = {
    "api": ("DiscoveryFailed", "certain", "stale GroupVersion", "kubectl get apiservices"),
    "refused": ("ContentNotDeleted", "likely", "webhook did not answer", "kubectl get namespace ns-refused -o yaml"),
    "kept": ("FinalizersRemain", "certain", "example.com/keep in 1", "kubectl get namespace ns-kept -o yaml"),
    "full": ("ContentRemains", "possible", "pods has 1 instance", "kubectl get namespace ns-full -o yaml"),
    "own": ("FinalizersRemain", "certain", "finalizers example.com/keep", "kubectl get namespace ns-own -o yaml"),
}


@pytest.fixture(scope="module", autouse=True)
def planted(ward: Ward) -> None:
    live = ward.live
    live.ready()
    live.apply(node(NODE), node(DEAD, ready=False), *(body(name, case) for name, case in CASES.items()))
    events = [kube_event(name, case.said) for name, case in CASES.items() if case.said]
    events += [kube_event(name, case.event[1], case.event[0]) for name, case in CASES.items() if case.event[0]]
    quota = 'pods "x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=4, used: 8, limited: 8'
    events += [
        kube_event("over-quota", quota, "FailedCreate", kind="Job"),
        kube_event("has-pods-by-now", quota, "FailedCreate", kind="Job"),
        kube_event("other-trouble", "timed out", "FailedCreate", kind="Job"),
    ]
    late = pod("has-pods-by-now-0", on=NODE)
    late["metadata"]["ownerReferences"] = [ward.job("has-pods-by-now")]
    live.apply(late)
    live.kube.apply(events, op="test")
    for name, on, grace in (("ending", NODE, 0), ("kept", NODE, 0), ("patient", NODE, 7200), ("alone", DEAD, 7200)):
        going = pod(name, on=on)
        going["metadata"]["finalizers"] = ["example.com/keep"]
        going["spec"]["terminationGracePeriodSeconds"] = grace
        live.apply(going)
        live.gone("Pod", name, "default")
    for name, condition in NAMESPACES.items():
        meta = {"name": f"ns-{name}", "finalizers": ["example.com/keep"]}
        live.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        if condition is not STAYS:
            live.gone("Namespace", f"ns-{name}")
        told = [{"type": kind, "status": "True", "reason": "Why", "message": text} for kind, text in condition]
        told += [{"type": NS_FINALIZERS, "status": "False", "reason": "x", "message": "none"}] if not told else []
        live.status({"apiVersion": "v1", "kind": "Namespace", "metadata": meta, "status": {"conditions": told}})
    clock = live.api.rig.clock  # the API server's is the world's; a while passes
    clock.advance((real_now() - clock.now()).total_seconds() + 600)


def body(name: str, case: Case) -> dict[str, Any]:
    made = pod(name, on=case.on, gpus=case.gpus, phase=case.phase)
    if case.gate:
        made["spec"]["schedulingGates"] = [{"name": case.gate}]
    (status,) = made["status"]["containerStatuses"]
    status["restartCount"] = case.restarts
    if case.waits:
        status["state"] = {"waiting": {"reason": case.waits, "message": "as planted"}}
    elif case.phase == "Pending":
        del made["status"]["containerStatuses"]
    if case.condition:
        made["status"]["conditions"] = [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": case.condition}
        ]
    return made


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=CASES.keys())
def test_each_pod(ward: Ward, name: str, case: Case) -> None:
    found = ward.of("pending_pods", f"Pod/default/{name}")
    assert {one["reason"]: one["confidence"] for one in found} == case.found, case.why
    for text in filter(None, (case.said, case.condition, case.event[1])):
        assert not found or found[0]["evidence"][0]["text_untrusted"].startswith(text[:40])


def test_pods_that_a_quota_keeps_from_being_made(ward: Ward) -> None:
    """There is no pod to ask. One that could be made meanwhile, and one with another trouble, are not told."""
    told = {
        one["subject_untrusted"]: one["reason"]
        for one in ward.once("pending_pods")
        if not one["subject_untrusted"].startswith("Pod/")
    }
    assert told == {"Job/default/over-quota": "QuotaOfNamespace"}


def test_one_pod_is_asked_about_alone(ward: Ward) -> None:
    found = ward.diagnosed("pending_pods", namespace="default", pod="no-image")
    assert [one["subject_untrusted"] for one in found] == ["Pod/default/no-image"]
    assert ward.diagnosed("pending_pods", namespace="elsewhere") == []


def test_pods_that_do_not_end(ward: Ward) -> None:
    """Only those that are over their time, or whose node does not answer: ending takes what it was given."""
    told = [one for one in ward.once("stuck_deletion") if one["subject_untrusted"].startswith("Pod/")]
    found = {one["subject_untrusted"].rpartition("/")[2]: one for one in told}
    assert {name: one["reason"] for name, one in found.items()} == {
        "ending": "PodEnding",
        "kept": "PodEnding",
        "alone": "PodOnDeadNode",
    }
    assert "example.com/keep" in found["kept"]["evidence"][0]["text_untrusted"]
    assert found["alone"]["confidence"] == "likely" and "diagnose the node" in found["alone"]["next_step"]


def test_namespaces_that_do_not_go(ward: Ward) -> None:
    """By the condition that is why: what others say beside it follows from it. One that nobody deletes is not told."""
    told = [one for one in ward.once("stuck_deletion") if one["subject_untrusted"].startswith("Namespace/")]
    found = {one["subject_untrusted"].removeprefix("Namespace/ns-"): one for one in told}
    assert found.keys() == NS_FOUND.keys()
    for name, (reason, confidence, text, command) in NS_FOUND.items():
        one = found[name]
        assert (one["reason"], one["confidence"], one["step"]) == (reason, confidence, "investigate"), name
        assert text in one["evidence"][0]["text_untrusted"] and one["command_untrusted"] == command, name
