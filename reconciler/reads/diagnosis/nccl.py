"""Why GPUs of several nodes do not talk, or talk slowly: EFA requested and there, security group, placement,
environment, and what NCCL and libfabric write into logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, evidence
from reconciler.reads.diagnosis.nccl_logs import PATTERNS, VARIABLES
from reconciler.reads.nodes import NodeView
from reconciler.reads.trimmed import OVER, PodFacts
from schemas import instance_types

LOOKED_AT = ("EFA requested and offered", "security group self rules", "placement", "environment", "log patterns")
_WAYS: Final = ("ingress", "egress")


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    asked = {_job(pod) for pod in facts.pods}
    jobs: dict[str, list[PodFacts]] = {}
    for pod in facts.beside:  # who asks about one pod wants to know of its job
        if pod.gpus and pod.phase not in OVER and _job(pod) in asked:
            jobs.setdefault(_job(pod), []).append(pod)
    nodes = {node.node.name: node for node in facts.nodes if node.node is not None}
    for job, pods in jobs.items():
        placed = [(pod, nodes[pod.node]) for pod in pods if pod.node in nodes]
        if len({pod.node for pod, _ in placed}) > 1:
            yield from _efa(facts, job, placed)
            yield from _placement(job, placed)
    yield from _security_group(facts)
    for name, body in facts.bodies.items():
        yield from _environment(name, body)
    yield from _logs(facts)


def _job(pod: PodFacts) -> str:
    return f"{pod.namespace}/{pod.owner or pod.name}"


def _efa(facts: Facts, job: str, placed: list[tuple[PodFacts, NodeView]]) -> Iterator[DiagnosisFinding]:
    """Of a job, the first thing that keeps it from EFA."""
    for pod, node in placed:
        has = instance_types.efa_interfaces(node.instance_type)
        if has == 0:
            text = f"{node.instance_type} has no EFA"
            says, next_step = "machines of this type talk over TCP only", "a type with EFA is another group"
            yield _finding("NoEfaOnType", job, says, "certain", text, pod, next_step)
            return
        if has and node.efa_interfaces == 0:
            text = f"{pod.node} offers no EFA interfaces; {node.instance_type} has {has}"
            says = "its node offers no EFA interface"
            yield _finding("EfaNotAttached", job, says, "likely", text, pod, _attached_by(facts, node))
            return
        if has and not pod.efa:
            text = f"{pod.name} asks for no vpc.amazonaws.com/efa; {node.instance_type} has {has}"
            next_step = f"ask for vpc.amazonaws.com/efa: {has} in each pod that takes a whole node"
            yield _finding(
                "EfaNotRequested", job, "it spans nodes and asks for no EFA", "certain", text, pod, next_step
            )
            return


def _attached_by(facts: Facts, node: NodeView) -> str:
    wish = next((one for one in facts.view.desired.groups if one.name == node.group), None)
    if wish is not None and wish.interface is None:
        return f"group {node.group} does not say interface: efa; it cannot be added, so that is a new group"
    return "see that the EFA device plugin runs on the node (DaemonSet aws-efa-k8s-device-plugin in kube-system)"


def _placement(job: str, placed: list[tuple[PodFacts, NodeView]]) -> Iterator[DiagnosisFinding]:
    first = placed[0][0]
    zones = sorted({node.zone for _, node in placed} - {""})
    if len(zones) > 1:
        says = "its pods are in several zones, where EFA does not reach"
        next_step = "keep a job in one group, which is in one zone: nodeSelector on its group"
        yield _finding("AcrossZones", job, says, "certain", f"zones {', '.join(zones)}", first, next_step)
    types = sorted({node.instance_type for _, node in placed} - {""})
    if len(types) > 1:
        says = "its pods are on machines of several types: the slowest sets the pace"
        next_step = "keep a job in one group: nodeSelector on its group"
        yield _finding("MixedTypes", job, says, "possible", f"types {', '.join(types)}", first, next_step)


def _security_group(facts: Facts) -> Iterator[DiagnosisFinding]:
    """EFA needs all traffic from and to the group itself; a way out to everywhere is not enough."""
    for one in facts.sight.observed.values() if facts.sight is not None else ():
        if one.type != "ec2.SecurityGroup" or not one.present:
            continue
        for way in _WAYS:
            rules = list(cast("Iterable[Any]", one.spec.get(way) or ()))
            if way in one.spec and not any(_is_self(rule) for rule in rules):
                yield DiagnosisFinding(
                    reason="NoSelfRule",
                    subject=one.key,
                    says=f"the nodes' security group has no {way} rule for itself: EFA is blocked",
                    confidence="certain",
                    step="investigate",
                    next_step="the next tick puts our rule back, unless it is held; see the drift of the cluster",
                    command=commands.aws(
                        "ec2",
                        "describe-security-group-rules",
                        facts.region,
                        "--filters",
                        f"Name=group-id,Values={one.attrs.get('id')}",
                    ),
                    evidence=(
                        evidence("look", f"{one.key} {way}", f"{way}: {len(rules)} rules, none of the group itself"),
                    ),
                )


def _is_self(rule: Any) -> bool:
    if not isinstance(rule, Mapping):
        return False
    told = cast("Mapping[str, Any]", rule)
    return str(told.get("protocol")) in ("-1", "all") and told.get("peer") == "self"


def _environment(name: str, body: Mapping[str, Any]) -> Iterator[DiagnosisFinding]:
    spec: Mapping[str, Any] = body.get("spec") or {}
    containers: list[Mapping[str, Any]] = spec.get("containers") or []
    for container in containers:
        told: list[Mapping[str, Any]] = container.get("env") or []
        values = {str(one.get("name")): str(one.get("value")) for one in told if one.get("value") is not None}
        for variable in VARIABLES:
            value = values.get(variable.name, "")
            if value.lower() not in variable.values:
                continue
            namespace, _, pod = name.partition("/")
            yield DiagnosisFinding(
                reason="Environment",
                subject=f"Pod/{name}",
                says=f"{variable.name}={value}: {variable.why}",
                confidence=variable.confidence,
                step="investigate",
                next_step="take the variable out of the job",
                command=commands.kubectl("get", "pod", pod, namespace, "-o", "yaml"),
                evidence=(evidence("pod", f"container {container.get('name')}", f"{variable.name}={value}"),),
            )


def _logs(facts: Facts) -> Iterator[DiagnosisFinding]:
    for name, lines in facts.logs.items():
        namespace, _, pod = name.partition("/")
        for pattern in PATTERNS:
            hits = [line for line in lines if pattern.words.search(line.text)]
            if hits:
                yield DiagnosisFinding(
                    reason=pattern.reason,
                    subject=f"Pod/{name}",
                    says=pattern.says,
                    confidence="likely",
                    step="investigate",
                    next_step=pattern.next_step,
                    command=commands.shell("kubectl", "-n", namespace, "logs", pod, "--all-containers", "--tail=200"),
                    evidence=tuple(evidence("log", f"Pod/{name}", line.text, line.at) for line in hits[-3:]),
                )


def _finding(
    reason: str, job: str, says: str, confidence: Confidence, text: str, pod: PodFacts, next_step: str
) -> DiagnosisFinding:
    return DiagnosisFinding(
        reason=reason,
        subject=f"Job/{job}",
        says=says,
        confidence=confidence,
        step="investigate",
        next_step=next_step,
        command=commands.kubectl("get", "pod", pod.name, pod.namespace, "-o", "yaml"),
        evidence=(evidence("kubernetes", f"Pod/{pod.name}", text),),
    )
