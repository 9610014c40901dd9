"""Why pods do not run: the scheduler's words, images, volumes, configuration, and what no node could ever give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, Step, evidence
from reconciler.reads.trimmed import PodFacts

LOOKED_AT = ("scheduler events", "container states", "GPUs of nodes", "volumes")
_MOST = 40


@dataclass(frozen=True, kw_only=True)
class Why:
    reason: str
    words: re.Pattern[str]
    says: str
    next_step: str
    step: Step = "investigate"


def _why(reason: str, words: str, says: str, next_step: str, step: Step = "investigate") -> Why:
    return Why(reason=reason, words=re.compile(words, re.IGNORECASE), says=says, next_step=next_step, step=step)


SCHEDULER: Final = (
    _why(
        "NotEnoughDevices",
        r"Insufficient (?:nvidia\.com/gpu|aws\.amazon\.com/neuron|vpc\.amazonaws\.com/efa)",
        "no node has enough free GPUs or EFA interfaces",
        "wait for others to end, scale the group up by a change, or ask for fewer",
        "decide",
    ),
    _why(
        "NotEnoughResources",
        r"Insufficient (?:cpu|memory|ephemeral-storage|hugepages)",
        "no node has enough free CPU, memory or disk",
        "ask for less, or scale up by a change",
        "decide",
    ),
    _why(
        "TooManyPods",
        r"Too many pods",
        "nodes take no more pods",
        "scale up by a change, or use larger nodes",
        "decide",
    ),
    _why(
        "Taint",
        r"untolerated taint|had taint",
        "nodes have a taint that the pod does not tolerate",
        "add the toleration to the pod, if it belongs there; a node's health taint goes when the node is well",
    ),
    _why(
        "NoMatchingNode",
        r"node affinity|node selector|nodeSelector|didn't match",
        "no node has the labels that the pod asks for",
        "compare its nodeSelector and affinity with the labels of nodes",
    ),
    _why(
        "VolumeNotBound",
        r"unbound immediate PersistentVolumeClaims|persistentvolumeclaim .* not found|volume node affinity",
        "a volume claim is not bound, or not there",
        "look at the claim; a Storage of the documents makes one of its name in its namespace",
    ),
)
CONTAINERS: Final = (
    _why(
        "ImageNotPulled",
        r"ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull",
        "its image cannot be pulled",
        "check the image's name, and that the node's role may read the repository",
    ),
    _why(
        "ConfigMissing",
        r"CreateContainerConfigError|CreateContainerError",
        "a ConfigMap or Secret that it names is not there",
        "make what it names, or correct the name",
    ),
    _why(
        "Crashes",
        r"CrashLoopBackOff|RunContainerError",
        "its container ends again and again",
        "read its log, of the life before too (previous)",
    ),
)


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    waiting = [pod for pod in facts.pods if pod.phase == "Pending" or _crashes(pod)]
    for pod in waiting[:_MOST]:
        yield from _of_pod(facts, pod)


def _of_pod(facts: Facts, pod: PodFacts) -> Iterator[DiagnosisFinding]:
    largest = max((node.gpus or 0 for node in facts.nodes), default=0)
    if pod.gpus and facts.nodes and pod.gpus > largest:
        text = f"asks for {pod.gpus} devices; the largest node has {largest}"
        found = Why(
            reason="NeverFits",
            words=re.compile(""),
            says="no node could ever hold it",
            next_step="ask for fewer devices in each pod, or add a group of larger nodes by a change",
            step="decide",
        )
        yield _finding(pod, found, "certain", "pod", text)
        return
    for container in pod.containers:
        why = _match(CONTAINERS, container.reason)
        if container.state == "waiting" and why is not None:
            yield _finding(
                pod, why, "certain", "container", f"{container.name}: {container.reason} {container.message}"
            )
    told = next((one for one in facts.about(f"Pod/{pod.name}") if one.reason == "FailedScheduling"), None)
    if pod.node or told is None or told.namespace not in ("", pod.namespace):
        return
    matches = [why for why in SCHEDULER if why.words.search(told.message)]
    for why in matches:
        yield _finding(pod, why, "certain" if len(matches) == 1 else "likely", "scheduler", told.message, told.at)
    if not matches:
        other = Why(
            reason="Unschedulable",
            words=re.compile(""),
            says="the scheduler finds no node",
            next_step="read what it says",
        )
        yield _finding(pod, other, "certain", "scheduler", told.message, told.at)


def _finding(pod: PodFacts, why: Why, confidence: Confidence, source: str, text: str, at: str = "") -> DiagnosisFinding:
    return DiagnosisFinding(
        reason=why.reason,
        subject=f"Pod/{pod.namespace}/{pod.name}",
        says=why.says,
        confidence=confidence,
        step=why.step,
        next_step=why.next_step,
        command=f"kubectl -n {pod.namespace} describe pod {pod.name}",
        evidence=(evidence(source, f"Pod/{pod.name}", text, at),),
    )


def _match(table: tuple[Why, ...], text: str) -> Why | None:
    return next((why for why in table if text and why.words.search(text)), None)


def _crashes(pod: PodFacts) -> bool:
    return any(one.state == "waiting" and one.restarts for one in pod.containers)
