"""Why something does not go: protection, holds, what still uses it, operations that fail, pods that cannot end."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.reads.diagnosis.causes import cause_of
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import DiagnosisFinding, evidence
from schemas.plan import Verb
from schemas.resource import Health

LOOKED_AT = ("deletion protection", "holds", "operations", "what is being deleted", "pods that are ending")
_GUARDS = ("DeletionProtected", "PruneGuard", "BlastRadius", "RunningPods", "JournalIncomplete", "NeedsApproval")


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    deleting = _deletes(facts)
    yield from _guarded(facts, deleting)
    yield from _failing(facts, deleting)
    yield from _lingering(facts)
    yield from _pods(facts)


def _deletes(facts: Facts) -> frozenset[str]:
    """Keys that the plan would delete, or that are being deleted."""
    if facts.sight is None:
        return frozenset()
    planned = facts.sight.plan.actions if facts.sight.plan is not None else ()
    gone = {action.key for action in planned if action.verb is Verb.DELETE}
    return frozenset(gone | {one.key for one in facts.sight.observed.values() if one.health is Health.DELETING})


def _guarded(facts: Facts, deleting: frozenset[str]) -> Iterator[DiagnosisFinding]:
    held = [one for one in facts.view.held if one.reason in _GUARDS and (one.key in deleting or not deleting)]
    for reason in dict.fromkeys(one.reason for one in held):
        same = [one for one in held if one.reason == reason]
        first = same[0]
        yield DiagnosisFinding(
            reason=reason,
            subject=first.key,
            says=f"{len(same)} deletions wait for a person's word",
            confidence="certain",
            step="decide",
            next_step=f"{first.who or 'a person'} decides",
            command=f"instantstart {first.order} {facts.cluster} {first.subject}" if first.order else first.way,
            evidence=tuple(evidence("journal", one.key, one.message, one.since) for one in same[:5]),
        )


def _failing(facts: Facts, deleting: frozenset[str]) -> Iterator[DiagnosisFinding]:
    for op in (*facts.view.failed_ops, *(one for one in facts.view.open_ops if one.reason)):
        if op.key not in deleting and "delete" not in op.call.lower():
            continue
        cause = cause_of(op.reason or "", op.msg or "")
        region = facts.view.desired.region
        yield DiagnosisFinding(
            reason=cause.reason if cause is not None else op.reason or "DeleteFailed",
            subject=op.key,
            says=cause.says if cause is not None else f"{op.call} does not succeed",
            confidence="likely" if cause is not None else "certain",
            step="investigate",
            next_step=cause.next_step if cause is not None else "read the evidence, then retry",
            command=(cause.command.format(cluster=facts.cluster, region=region) if cause is not None else "")
            or f"instantstart retry {facts.cluster} {op.op}",
            evidence=(evidence("journal", f"{op.call} of {op.key}", f"{op.reason}: {op.msg}", op.since),),
        )


def _lingering(facts: Facts) -> Iterator[DiagnosisFinding]:
    """What is being deleted, and needs another thing to go first."""
    for one in facts.sight.observed.values() if facts.sight is not None else ():
        if one.present and one.health is Health.DELETING and one.message:
            yield DiagnosisFinding(
                reason=one.reason or "Deleting",
                subject=one.key,
                says="it is being deleted and not gone yet",
                confidence="possible",
                step="investigate",
                next_step="wait; deleting EKS and HyperPod takes ten to twenty minutes",
                evidence=(evidence("look", one.key, one.message, facts.view.observed_at or ""),),
            )


def _pods(facts: Facts) -> Iterator[DiagnosisFinding]:
    ready = {node.node.name: node.node.ready for node in facts.nodes if node.node is not None}
    for pod in facts.pods:
        if not pod.deleting:
            continue
        alone = pod.node and ready.get(pod.node) is not True
        yield DiagnosisFinding(
            reason="PodOnDeadNode" if alone else "PodEnding",
            subject=f"Pod/{pod.namespace}/{pod.name}",
            says="it is to end, and its node does not answer" if alone else "it was told to end and has not yet",
            confidence="likely" if alone else "possible",
            step="investigate",
            next_step="diagnose the node first; it is only taken away by force when the node is surely gone"
            if alone
            else "look at its finalizers and its grace period",
            command=f"kubectl -n {pod.namespace} get pod {pod.name} -o yaml",
            evidence=(evidence("kubernetes", f"Pod/{pod.name}", f"deleting, on {pod.node or 'no node'}"),),
        )
