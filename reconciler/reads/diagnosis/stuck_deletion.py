"""Why something does not go: protection, holds, what still uses it, operations that fail, pods that cannot end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from reconciler.reads.diagnosis import commands, holding, namespaces
from reconciler.reads.diagnosis.causes import cause_of
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import DiagnosisFinding, EvidenceView, evidence
from reconciler.reads.trimmed import PodFacts
from schemas.plan import Verb
from schemas.resource import Health

LOOKED_AT = (
    "deletion protection",
    "holds",
    "operations",
    "what is being deleted",
    "pods that are ending",
    "namespaces",
)
_GUARDS: Final = (
    "DeletionProtected",
    "MarkTakenOff",
    "PruneGuard",
    "BlastRadius",
    "RunningPods",
    "JournalIncomplete",
    "NeedsApproval",
)
_SLACK: Final = timedelta(seconds=30)


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    deleting = _deletes(facts)
    yield from _guarded(facts, deleting)
    yield from _failing(facts, deleting)
    yield from _lingering(facts)
    yield from _pods(facts)
    yield from namespaces.stuck(facts)


def _deletes(facts: Facts) -> frozenset[str]:
    """Keys that the plan would delete, or that are being deleted."""
    if facts.sight is None:
        return frozenset()
    planned = facts.sight.plan.actions if facts.sight.plan is not None else ()
    gone = {action.key for action in planned if action.verb is Verb.DELETE}
    return frozenset(gone | {one.key for one in facts.sight.observed.values() if one.health is Health.DELETING})


def _guarded(facts: Facts, deleting: frozenset[str]) -> Iterator[DiagnosisFinding]:
    """Of a suspension, which holds all, only if there is something to delete."""
    held = [one for one in facts.view.held if one.reason in _GUARDS and (one.key in deleting or not deleting)]
    held += [one for one in facts.view.held if one.reason == "Suspended" and deleting]
    yield from holding.of(facts, held, "deletions")


def _failing(facts: Facts, deleting: frozenset[str]) -> Iterator[DiagnosisFinding]:
    for op in (*facts.view.failed_ops, *(one for one in facts.view.open_ops if one.reason)):
        if op.key not in deleting and "delete" not in op.call.lower():
            continue
        cause = cause_of(op.msg or "", op.reason or "")
        again = (
            commands.order("retry", facts.cluster, op.op) if op.phase == "failed" else commands.status(facts.cluster)
        )
        yield DiagnosisFinding(
            reason=cause.reason if cause is not None else op.reason or "DeleteFailed",
            subject=op.key,
            says=cause.says if cause is not None else f"{op.call} does not succeed",
            confidence="likely" if cause is not None else "certain",
            step="investigate",
            next_step=cause.next_step if cause is not None else "read the evidence, then retry",
            command=cause.command_for(facts) if cause is not None else again,
            evidence=(evidence("journal", f"{op.call} of {op.key}", f"{op.reason}: {op.msg}", op.since),),
        )


def _lingering(facts: Facts) -> Iterator[DiagnosisFinding]:
    """What is being deleted, and needs another thing to go first."""
    for one in facts.sight.observed.values() if facts.sight is not None else ():
        if not one.present or one.health is not Health.DELETING or not one.message:
            continue
        used = one.reason == "InUse"
        yield DiagnosisFinding(
            reason=one.reason or "Deleting",
            subject=one.key,
            says="it is still used, and goes when that is over" if used else "it is being deleted and not gone yet",
            confidence="certain" if used else "possible",
            step="decide" if used else "investigate",
            next_step="ask whose that is and whether it may end"
            if used
            else "wait; deleting EKS and HyperPod takes ten to twenty minutes",
            command=commands.status(facts.cluster),
            evidence=(evidence("look", one.key, one.message, facts.view.observed_at or ""),),
        )


def _pods(facts: Facts) -> Iterator[DiagnosisFinding]:
    """Pods that are ending for longer than they were given."""
    nodes = {node.node.name: node.node for node in facts.nodes if node.node is not None}
    for pod in facts.pods:
        if not pod.deleting:
            continue
        alone = pod.node and (pod.node not in nodes or nodes[pod.node].ready is not True)
        if not alone and not _is_late(pod, facts.at):
            continue
        yield DiagnosisFinding(
            reason="PodOnDeadNode" if alone else "PodEnding",
            subject=f"Pod/{pod.namespace}/{pod.name}",
            says="it is to end, and its node does not answer" if alone else "it was told to end and has not yet",
            confidence="likely" if alone else "possible",
            step="investigate",
            next_step="diagnose the node first; it is only taken away by force when the node is surely gone"
            if alone
            else "look at its finalizers, and what its containers still do",
            command=commands.kubectl("get", "pod", pod.name, pod.namespace, "-o", "yaml"),
            evidence=(_evidence(pod),),
        )


def _evidence(pod: PodFacts) -> EvidenceView:
    kept = f"; finalizers {', '.join(pod.finalizers)}" if pod.finalizers else ""
    return evidence("kubernetes", f"Pod/{pod.name}", f"to be gone by {pod.ends}, on {pod.node or 'no node'}{kept}")


def _is_late(pod: PodFacts, now: str) -> bool:
    try:
        return datetime.fromisoformat(pod.ends) + _SLACK < datetime.fromisoformat(now)
    except ValueError:
        return False
