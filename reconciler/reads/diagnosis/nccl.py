"""Why GPUs of several nodes do not talk, or talk slowly: EFA requested and there, security group, placement,
environment, and what NCCL and libfabric write into logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, Step, evidence
from reconciler.reads.trimmed import PodFacts
from schemas import instance_types

LOOKED_AT = ("EFA requested and offered", "security group self rules", "placement", "environment", "log patterns")
_SHM: Final = "/dev/shm"

LOGS: Final[tuple[tuple[str, re.Pattern[str], str, str], ...]] = (
    (
        "EfaNotUsed",
        re.compile(
            r"NET/Socket|No (?:EFA|eligible) (?:device|provider)|Failed to find.*efa|provider: tcp", re.IGNORECASE
        ),
        "NCCL falls back to TCP sockets",
        "ask for vpc.amazonaws.com/efa in the pod, and use an image with libfabric and aws-ofi-nccl",
    ),
    (
        "PluginMissing",
        re.compile(r"(?:libnccl-net|aws-ofi-nccl|libnccl-net\.so).*(?:not found|No plugin|cannot open)", re.IGNORECASE),
        "NCCL's plugin for EFA is not in the image",
        "use an image with aws-ofi-nccl, and have it in LD_LIBRARY_PATH",
    ),
    (
        "CollectiveTimedOut",
        re.compile(r"Watchdog caught collective operation timeout|NCCL.*[Tt]imed? ?out|Timeout.*ALLREDUCE"),
        "a collective did not end in time: a rank hangs, died, or never came",
        "find the rank that wrote nothing last, and diagnose its node",
    ),
    (
        "PeerGone",
        re.compile(
            r"Connection (?:closed|reset) by (?:remote )?peer|ncclRemoteError|ncclSystemError.*socket", re.IGNORECASE
        ),
        "another rank's process or node is gone",
        "look at the other pods of the job and their nodes first",
    ),
    (
        "DeviceError",
        re.compile(r"\bXid\b|CUDA error|ECC error|uncorrectable|NVLink.*error|ncclUnhandledCudaError", re.IGNORECASE),
        "a GPU reported an error",
        "diagnose the node; HyperPod's deep check tells hardware from software",
    ),
    (
        "SharedMemoryTooSmall",
        re.compile(r"/dev/shm.*(?:No space|too small)|Error while creating shared memory|Bus error", re.IGNORECASE),
        "shared memory is too small",
        f"mount an emptyDir with medium Memory at {_SHM}",
    ),
    (
        "MemoryLockLimit",
        re.compile(r"memlock|ibv_reg_mr.*failed|fi_mr_reg.*failed|Cannot allocate memory.*reg", re.IGNORECASE),
        "memory cannot be registered with the adapter",
        "ask for hugepages-2Mi in the pod, and lift the memlock limit",
    ),
)
_BAD_ENVIRONMENT: Final[dict[str, tuple[str, str]]] = {
    "NCCL_IB_DISABLE": ("1", "it switches EFA off for NCCL"),
    "NCCL_NET": ("Socket", "it makes NCCL use TCP sockets"),
    "NCCL_P2P_DISABLE": ("1", "it switches traffic over NVLink off"),
    "FI_PROVIDER": ("tcp", "libfabric is told to use TCP"),
}


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    jobs: dict[str, list[PodFacts]] = {}
    for pod in facts.pods:
        if pod.gpus and pod.phase != "Succeeded":
            jobs.setdefault(f"{pod.namespace}/{pod.owner or pod.name}", []).append(pod)
    for job, pods in jobs.items():
        yield from _efa(facts, job, pods)
        yield from _placement(facts, job, pods)
    yield from _security_group(facts)
    for name, body in facts.bodies.items():
        yield from _environment(name, body)
    for name, lines in facts.logs.items():
        for reason, words, says, next_step in LOGS:
            hits = [line for line in lines if words.search(line.text)]
            if hits:
                found = tuple(evidence("log", f"Pod/{name}", line.text, line.at) for line in hits[-3:])
                step: Step = "investigate"
                yield DiagnosisFinding(
                    reason=reason,
                    subject=f"Pod/{name}",
                    says=says,
                    confidence="likely",
                    step=step,
                    next_step=next_step,
                    command=_logs(name),
                    evidence=found,
                )


def _efa(facts: Facts, job: str, pods: list[PodFacts]) -> Iterator[DiagnosisFinding]:
    nodes = {node.node.name: node for node in facts.nodes if node.node is not None}
    several = len({pod.node for pod in pods if pod.node}) > 1
    for pod in pods:
        node = nodes.get(pod.node)
        if node is None or not several:
            continue
        has = instance_types.efa_interfaces(node.instance_type)
        if has and not pod.efa:
            text = f"{pod.name} asks for no vpc.amazonaws.com/efa; {node.instance_type} has {has}"
            yield _finding(
                "EfaNotRequested",
                job,
                "it spans nodes and asks for no EFA",
                "certain",
                text,
                pod,
                f"ask for vpc.amazonaws.com/efa: {has} in each pod that takes a whole node",
            )
            return
        if has and node.efa_interfaces == 0:
            text = f"{pod.node} offers no EFA interfaces; {node.instance_type} has {has}"
            yield _finding(
                "EfaNotAttached",
                job,
                "its node offers no EFA interface",
                "likely",
                text,
                pod,
                "check that the group has interface: efa, and that the EFA device plugin runs there",
            )
            return
        if has == 0:
            text = f"{node.instance_type} has no EFA"
            yield _finding(
                "NoEfaOnType",
                job,
                "machines of this type talk over TCP only",
                "certain",
                text,
                pod,
                "a type with EFA is another group",
            )
            return


def _placement(facts: Facts, job: str, pods: list[PodFacts]) -> Iterator[DiagnosisFinding]:
    zones = {node.node.name: node.zone for node in facts.nodes if node.node is not None}
    used = {zones.get(pod.node, "") for pod in pods if pod.node} - {""}
    if len(used) > 1:
        text = f"zones {', '.join(sorted(used))}"
        yield _finding(
            "AcrossZones",
            job,
            "its pods are in several zones, where EFA does not reach",
            "certain",
            text,
            pods[0],
            "keep a job in one group, which is in one zone: nodeSelector on its group",
        )


def _security_group(facts: Facts) -> Iterator[DiagnosisFinding]:
    """EFA needs all traffic from and to the group itself. The tick compares the rules with what they ought to be."""
    for one in facts.sight.observed.values() if facts.sight is not None else ():
        if one.type != "ec2.SecurityGroup" or not one.present:
            continue
        for way in ("ingress", "egress"):
            rules = list(cast("Iterable[Any]", one.spec.get(way) or ()))
            if way in one.spec and not any(_is_self(rule) for rule in rules):
                yield DiagnosisFinding(
                    reason="NoSelfRule",
                    subject=one.key,
                    says=f"the nodes' security group has no {way} rule for itself: EFA is blocked",
                    confidence="certain",
                    step="investigate",
                    next_step="the next tick puts our rule back, unless it is held; see the drift of the cluster",
                    command="aws ec2 describe-security-group-rules --region " + facts.view.desired.region,
                    evidence=(evidence("look", one.key, f"{way}: {len(rules)} rules, none of the group itself"),),
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
        for variable in told:
            bad, why = _BAD_ENVIRONMENT.get(str(variable.get("name")), ("", ""))
            if bad and str(variable.get("value")).lower() == bad.lower():
                yield DiagnosisFinding(
                    reason="Environment",
                    subject=f"Pod/{name}",
                    says=f"{variable['name']}={bad}: {why}",
                    confidence="certain",
                    step="investigate",
                    next_step="take the variable out of the job",
                    evidence=(evidence("pod", f"container {container.get('name')}", f"{variable['name']}={bad}"),),
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
        command=f"kubectl -n {pod.namespace} get pod {pod.name} -o yaml",
        evidence=(evidence("kubernetes", f"Pod/{pod.name}", text),),
    )


def _logs(name: str) -> str:
    namespace, _, pod = name.partition("/")
    return f"kubectl -n {namespace} logs {pod} --tail=200"
