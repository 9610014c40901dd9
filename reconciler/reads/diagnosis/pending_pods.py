"""Why pods do not run: the scheduler's words, images, volumes, configuration, and what no node could ever give."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis import pending_words as words
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, evidence
from reconciler.reads.happenings import EventView
from reconciler.reads.trimmed import PodFacts

LOOKED_AT = ("scheduler's words", "container states", "GPUs of nodes", "volumes and networks of bound pods", "quotas")


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    for pod in facts.pods:
        if pod.phase == "Pending" or _crashes(pod):
            yield from _of_pod(facts, pod)
    yield from _never_made(facts)


def _of_pod(facts: Facts, pod: PodFacts) -> Iterator[DiagnosisFinding]:
    largest = max((node.gpus or 0 for node in facts.nodes), default=0)
    if pod.gpus and facts.nodes and pod.gpus > largest:
        text = f"asks for {pod.gpus} devices; the largest node has {largest}"
        yield _finding(pod, words.NEVER, "certain", "pod", text)
        return
    for container in pod.containers:
        why = words.match(words.CONTAINERS, container.reason)
        if container.state == "waiting" and why is not None:
            text = f"{container.name}: {container.reason} {container.message}"
            yield _finding(pod, why, "certain", "container", text)
    if pod.node:
        yield from _starting(facts, pod)
    else:
        yield from _unscheduled(facts, pod)


def _unscheduled(facts: Facts, pod: PodFacts) -> Iterator[DiagnosisFinding]:
    """The scheduler's newest word; events of Kubernetes end after an hour, the pod's own condition does not."""
    if pod.gated:
        yield _finding(pod, words.QUEUED, "certain", "pod", f"scheduling gates: {', '.join(pod.gated)}")
        return
    told = next((one for one in _events(facts, pod) if one.reason == "FailedScheduling"), None)
    text, at = (told.message, told.at) if told is not None else (pod.message, "")
    if not text:
        return
    matches = [why for why in words.SCHEDULER if why.words.search(text)]
    for why in matches:
        yield _finding(pod, why, "certain" if len(matches) == 1 else "likely", "scheduler", text, at)
    if not matches:
        yield _finding(pod, words.UNKNOWN, "certain", "scheduler", text, at)


def _starting(facts: Facts, pod: PodFacts) -> Iterator[DiagnosisFinding]:
    for event in _events(facts, pod):
        why = words.match(words.STARTING, f"{event.reason}: {event.message}") if event.level == "warning" else None
        if why is not None:
            yield _finding(pod, why, "likely", "kubelet", event.message, event.at)
            return


def _never_made(facts: Facts) -> Iterator[DiagnosisFinding]:
    """Pods that a controller may not make: there is no pod to ask, only what is told of its owner."""
    told: dict[tuple[str, str], EventView] = {}
    for event in sorted(facts.events, key=lambda one: one.at):
        if event.reason == "FailedCreate" and words.QUOTA.words.search(event.message) and _is_wanted(facts, event):
            told[event.namespace, event.about] = event
    for (namespace, about), event in told.items():
        kind, _, name = about.partition("/")
        if any(pod.owner == about and pod.namespace == namespace and pod.created > event.at for pod in facts.pods):
            continue  # meanwhile it could
        yield DiagnosisFinding(
            reason=words.QUOTA.reason,
            subject=f"{kind}/{namespace}/{name}",
            says=words.QUOTA.says,
            confidence="likely",
            step=words.QUOTA.step,
            next_step=words.QUOTA.next_step,
            command=commands.shell("kubectl", "-n", namespace, "describe", "resourcequota"),
            evidence=(evidence("kubernetes", about, event.message, event.at),),
        )


def _is_wanted(facts: Facts, event: EventView) -> bool:
    return facts.focus.namespace in ("", event.namespace) and not facts.focus.pod


def _events(facts: Facts, pod: PodFacts) -> list[EventView]:
    """Of this pod, newest first."""
    return [one for one in facts.about(f"Pod/{pod.name}") if one.namespace in ("", pod.namespace)]


def _finding(
    pod: PodFacts, why: words.Why, confidence: Confidence, source: str, text: str, at: str = ""
) -> DiagnosisFinding:
    return DiagnosisFinding(
        reason=why.reason,
        subject=f"Pod/{pod.namespace}/{pod.name}",
        says=why.says,
        confidence=confidence,
        step=why.step,
        next_step=why.next_step,
        command=commands.kubectl("describe", "pod", pod.name, pod.namespace),
        evidence=(evidence(source, f"Pod/{pod.name}", text, at),),
    )


def _crashes(pod: PodFacts) -> bool:
    return any(one.state == "waiting" and one.restarts for one in pod.containers)
