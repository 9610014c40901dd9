"""Which nodes are not well: HyperPod's status, labels of its health agent, deep checks, kubelets, recovery so far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, EvidenceView, Step, evidence
from reconciler.reads.nodes import KubeNodeView, NodeView
from schemas import instance_types
from schemas.errors import NotFound

LOOKED_AT = ("HyperPod status", "health labels", "deep health checks", "kubelet", "conditions", "recovery history")
_FAILED: Final = ("Failure", "Failed", "NotFound")
_BUSY: Final = ("Pending", "ShuttingDown", "SystemUpdating", "AttachInProgress", "DetachInProgress")
_CHECKED: Final = "DeepHealthCheckInProgress"
_PRESSURE: Final = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
_WAIT: Final = "wait: propose nothing for this node before that is over"
_REBOOTED: Final = re.compile(r"\breboot", re.IGNORECASE)


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    """Raises NotFound if one node is asked about, and there is none of that name."""
    wanted = [node for node in facts.nodes if _is_wanted(node, facts.focus.node)]
    if not wanted and facts.focus.node and facts.knows("kubernetes-nodes") and facts.knows("hyperpod-nodes"):
        raise NotFound(f"{facts.cluster} has no node {facts.focus.node[:100]!r}", reason="UnknownNode")
    for node in wanted:
        yield from _of_node(facts, node)


def _is_wanted(node: NodeView, name: str) -> bool:
    """By instance, or by the name that it has in Kubernetes."""
    return name in ("", node.id, node.instance) or (node.node is not None and node.node.name == name)


def _of_node(facts: Facts, node: NodeView) -> Iterator[DiagnosisFinding]:
    """What HyperPod does already comes first: a node that it checks, starts or takes away is left to it."""
    kube, machine = node.node, node.machine
    if machine is not None and machine.status in _FAILED:
        told = evidence("hyperpod", node.id, f"{machine.status}: {machine.message}", machine.updated)
        yield _finding(facts, node, "MachineFailed", "HyperPod calls the machine failed", "certain", "replace", told)
    if kube is None:
        if machine is not None and machine.status == "Running" and facts.knows("kubernetes-nodes"):
            told = evidence("kubernetes", node.id, "Running in HyperPod, and Kubernetes has no such node")
            yield _finding(
                facts, node, "NotJoined", "it runs and has not joined Kubernetes", "likely", "investigate", told
            )
        return
    if kube.deep_check == "InProgress" or (machine is not None and machine.status == _CHECKED):
        told = evidence("label", kube.name, f"deep-health-check-status={kube.deep_check or 'InProgress'}")
        says = "a deep health check runs on it: it takes no pods for one to two hours"
        yield _finding(facts, node, "DeepCheckRunning", says, "certain", "investigate", told, _WAIT)
        return
    if machine is not None and machine.status in _BUSY:
        told = evidence("hyperpod", node.id, f"{machine.status}: {machine.message}", machine.updated)
        says = f"HyperPod is at it ({machine.status})"
        yield _finding(facts, node, "BeingRecovered", says, "certain", "investigate", told, _WAIT)
        return
    yield from _labels(facts, node, kube)
    yield from _kubelet(facts, node, kube)
    expected, offered = instance_types.accelerators(node.instance_type), _devices(facts, node, kube)
    if kube.ready and expected is not None and offered is not None and offered < expected:
        told = evidence("kubernetes", kube.name, f"offers {offered} devices, its type has {expected}")
        yield _finding(facts, node, "DevicesMissing", "it offers fewer devices than it has", "likely", "restart", told)


def _labels(facts: Facts, node: NodeView, kube: KubeNodeView) -> Iterator[DiagnosisFinding]:
    if kube.health not in ("", "Schedulable"):
        told = evidence("label", kube.name, f"node-health-status={kube.health}; faults: {', '.join(kube.faults)}")
        step: Step = "replace" if "Replacement" in kube.health else "restart"
        yield _finding(facts, node, "Unhealthy", "HyperPod's agent marked it as not well", "certain", step, told)
    elif kube.faults:
        told = evidence("label", kube.name, f"faults: {', '.join(kube.faults)}")
        yield _finding(facts, node, "Fault", "HyperPod's agent saw a fault", "likely", "restart", told)
    if kube.deep_check not in ("", "Passed"):
        told = evidence("label", kube.name, f"deep-health-check-status={kube.deep_check}")
        yield _finding(facts, node, "DeepCheckFailed", "it failed a deep health check", "certain", "replace", told)


def _kubelet(facts: Facts, node: NodeView, kube: KubeNodeView) -> Iterator[DiagnosisFinding]:
    if kube.ready is not True:
        silent = kube.ready is None
        ready = next((one for one in kube.conditions if one.type == "Ready"), None)
        text = f"Ready {ready.status}: {ready.reason} {ready.message}" if ready is not None else "no Ready condition"
        says = "its kubelet is silent" if silent else "its kubelet says that it is not ready"
        told = evidence("kubernetes", kube.name, text, kube.ready_since)
        yield _finding(facts, node, "NotReady", says, "certain", "restart" if silent else "investigate", told)
    for condition in kube.conditions:
        if condition.type in _PRESSURE and condition.status == "True":
            told = evidence("kubernetes", kube.name, f"{condition.reason}: {condition.message}", condition.since)
            yield _finding(facts, node, condition.type, f"it has {condition.type}", "certain", "investigate", told)
    if kube.cordoned and kube.health in ("", "Schedulable"):
        told = evidence("kubernetes", kube.name, "spec.unschedulable is set, and not for its health")
        yield _finding(facts, node, "Cordoned", "somebody cordoned it", "certain", "decide", told)


def _devices(facts: Facts, node: NodeView, kube: KubeNodeView) -> int | None:
    """What it offers now: a device that its plugin calls broken is still in the node's capacity."""
    return facts.usable.get(kube.name, node.gpus)


def _finding(
    facts: Facts,
    node: NodeView,
    reason: str,
    says: str,
    confidence: Confidence,
    step: Step,
    found: EvidenceView,
    next_step: str = "",
) -> DiagnosisFinding:
    history = [one for one in facts.events if one.instance and one.instance == node.instance]
    history.sort(key=lambda one: one.at, reverse=True)
    recovered = tuple(evidence("hyperpod", one.about, one.message, one.at) for one in history[:3])
    again = step == "restart" and any(_REBOOTED.search(one.message) for one in history)
    if again:
        says, step = f"{says}, though it was rebooted before", "replace"
    return DiagnosisFinding(
        reason=reason,
        subject=f"Node/{node.id}",
        says=says,
        confidence=confidence,
        step=step,
        next_step=next_step or _next(facts, step, node),
        command=_command(facts, node, step),
        evidence=(found, *recovered),
    )


def _next(facts: Facts, step: Step, node: NodeView) -> str:
    if step == "decide":
        return "ask who did it and whether it may take work again"
    if step == "investigate":
        return "look at its conditions, events and what runs there; then reboot it"
    if _recovers(facts, node):
        done = "replaces it" if step == "replace" else "reboots or replaces it"
        return f"automatic recovery {done}: wait for that first, and look at its events"
    if step == "replace":
        return "nothing replaces it by itself: a person does, after its work has moved"
    return "nothing recovers it by itself: propose a reboot of this node; if that does not help, a person replaces it"


def _recovers(facts: Facts, node: NodeView) -> bool:
    """The service recovers accelerated machines alone, and only where it may."""
    return facts.view.desired.node_recovery == "Automatic" and instance_types.is_accelerated(node.instance_type)


def _command(facts: Facts, node: NodeView, step: Step) -> str:
    nodes = ("--cluster-name", facts.hyperpod, "--node-ids", node.instance)
    if step == "restart" and node.instance:
        return commands.aws("sagemaker", "batch-reboot-cluster-nodes", facts.region, *nodes)
    if step == "replace" and node.instance:
        return commands.aws("sagemaker", "batch-replace-cluster-nodes", facts.region, *nodes)
    if node.node is None:
        about = ("--cluster-name", facts.hyperpod, "--node-id", node.instance)
        return commands.aws("sagemaker", "describe-cluster-node", facts.region, *about)
    name = node.node.name
    return (
        commands.shell("kubectl", "uncordon", name) if step == "decide" else commands.kubectl("describe", "node", name)
    )
