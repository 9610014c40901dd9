"""Which nodes are not well: HyperPod's status, labels of its health agent, deep checks, kubelets, recovery so far."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, EvidenceView, Step, evidence
from reconciler.reads.nodes import NodeView
from schemas import instance_types

LOOKED_AT = ("HyperPod status", "health labels", "deep health checks", "kubelet", "conditions", "recovery history")
_PRESSURE = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    for node in facts.nodes:
        yield from _of_node(facts, node)


def _of_node(facts: Facts, node: NodeView) -> Iterator[DiagnosisFinding]:
    kube, machine = node.node, node.machine
    if machine is not None and machine.status in ("Failure", "Failed", "NotFound"):
        told = evidence("hyperpod", node.id, f"{machine.status}: {machine.message}", machine.updated)
        yield _finding(facts, node, "MachineFailed", "HyperPod calls the machine failed", "certain", "replace", (told,))
    if kube is None:
        joined = machine is not None and machine.status == "Running"
        if joined and _sees(facts, "kubernetes-nodes"):
            told = evidence("kubernetes", node.id, "Running in HyperPod, and Kubernetes has no such node")
            yield _finding(
                facts, node, "NotJoined", "it runs and has not joined Kubernetes", "likely", "investigate", (told,)
            )
        return
    if kube.health not in ("", "Schedulable"):
        told = evidence("label", kube.name, f"node-health-status={kube.health}; faults: {', '.join(kube.faults)}")
        step: Step = "replace" if "Replacement" in kube.health else "restart"
        yield _finding(facts, node, "Unhealthy", f"HyperPod marked it {kube.health}", "certain", step, (told,))
    elif kube.faults:
        told = evidence("label", kube.name, f"faults: {', '.join(kube.faults)}")
        yield _finding(facts, node, "Fault", "HyperPod's agent saw a fault", "likely", "restart", (told,))
    if kube.deep_check and kube.deep_check not in ("Passed", "InProgress"):
        told = evidence("label", kube.name, f"deep-health-check-status={kube.deep_check}")
        yield _finding(facts, node, "DeepCheckFailed", "it failed a deep health check", "certain", "replace", (told,))
    if kube.ready is not True:
        silent = kube.ready is None
        ready = next((one for one in kube.conditions if one.type == "Ready"), None)
        text = f"Ready {ready.status}: {ready.reason} {ready.message}" if ready is not None else "no Ready condition"
        says = "its kubelet is silent" if silent else "its kubelet says that it is not ready"
        told = evidence("kubernetes", kube.name, text, kube.ready_since)
        yield _finding(facts, node, "NotReady", says, "certain", "restart" if silent else "investigate", (told,))
    for condition in kube.conditions:
        if condition.type in _PRESSURE and condition.status == "True":
            told = evidence("kubernetes", kube.name, f"{condition.reason}: {condition.message}", condition.since)
            yield _finding(facts, node, condition.type, f"it has {condition.type}", "certain", "investigate", (told,))
    if kube.cordoned and kube.health in ("", "Schedulable"):
        told = evidence("kubernetes", kube.name, "spec.unschedulable is set, and not for its health")
        yield _finding(facts, node, "Cordoned", "somebody cordoned it", "certain", "decide", (told,))
    if kube.ready and node.gpus is not None and _expected(node) is not None and node.gpus < (_expected(node) or 0):
        told = evidence("kubernetes", kube.name, f"offers {node.gpus} devices, its type has {_expected(node)}")
        yield _finding(
            facts, node, "DevicesMissing", "it offers fewer devices than it has", "likely", "restart", (told,)
        )


def _expected(node: NodeView) -> int | None:
    return instance_types.accelerators(node.instance_type)


def _finding(
    facts: Facts,
    node: NodeView,
    reason: str,
    says: str,
    confidence: Confidence,
    step: Step,
    found: tuple[EvidenceView, ...],
) -> DiagnosisFinding:
    history = [one for one in facts.events if one.instance and one.instance == node.instance]
    history.sort(key=lambda one: one.at, reverse=True)
    recovered = tuple(evidence("hyperpod", one.about, one.message, one.at) for one in history[:3])
    name = node.node.name if node.node is not None else f"hyperpod-{node.instance}"
    return DiagnosisFinding(
        reason=reason,
        subject=f"Node/{node.id}",
        says=says,
        confidence=confidence,
        step=step,
        next_step=_NEXT[step],
        command=_command(facts, node, name, step),
        evidence=(*found, *recovered),
    )


_NEXT: dict[Step, str] = {
    "investigate": "look at its conditions, events and what runs there; then reboot it",
    "restart": "if it does not recover by itself, propose a reboot of this node; if that does not help, replace it",
    "replace": "automatic recovery replaces it; if that is off, a person replaces it after its work has moved",
    "decide": "ask who did it and whether it may take work again",
}


def _command(facts: Facts, node: NodeView, name: str, step: Step) -> str:
    region = facts.view.desired.region
    target = f"--cluster-name {facts.cluster} --node-ids {node.instance} --region {region}"
    if step == "restart" and node.instance:
        return f"aws sagemaker batch-reboot-cluster-nodes {target}"
    if step == "replace" and node.instance:
        return f"aws sagemaker batch-replace-cluster-nodes {target}"
    return f"kubectl uncordon {name}" if step == "decide" else f"kubectl describe node {name}"


def _sees(facts: Facts, part: str) -> bool:
    return any(one.name == part and one.known for one in facts.parts)
