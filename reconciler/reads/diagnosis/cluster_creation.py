"""Why a cluster is not Ready: documents, holds, failed operations, health, preflight, HyperPod's own events."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.reads.diagnosis.causes import Cause, cause_of
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import DiagnosisFinding, EvidenceView, evidence
from schemas.resource import Health

LOOKED_AT = (
    "documents",
    "holds",
    "operations",
    "health of resources",
    "preflight (quota, zone, capacity, addresses)",
    "HyperPod events",
)


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    yield from _documents(facts)
    yield from _held(facts)
    yield from _failed(facts)
    yield from _unhealthy(facts)
    yield from _foreseen(facts)
    yield from _told(facts)


def _documents(facts: Facts) -> Iterator[DiagnosisFinding]:
    problems = facts.view.desired.problems
    if problems:
        yield DiagnosisFinding(
            reason="DocumentsInvalid",
            subject=f"Cluster/{facts.cluster}",
            says=f"{len(problems)} problems in its documents: nothing of it is planned",
            confidence="certain",
            step="decide",
            next_step="propose a change that mends them; each says where and what was expected",
            command="instantstart validate",
            evidence=tuple(evidence("git", f"{one.file}:{one.line}", one.text) for one in problems[:5]),
        )


def _held(facts: Facts) -> Iterator[DiagnosisFinding]:
    by_reason: dict[str, list[EvidenceView]] = {}
    for held in facts.view.held:
        by_reason.setdefault(held.reason, []).append(evidence("journal", held.key, held.message, held.since))
    for reason, found in by_reason.items():
        first = next(held for held in facts.view.held if held.reason == reason)
        yield DiagnosisFinding(
            reason=reason,
            subject=first.key,
            says=f"{len(found)} actions wait for a person's word",
            confidence="certain",
            step="decide",
            next_step=f"{first.who or 'a person'} decides",
            command=f"instantstart {first.order} {facts.cluster} {first.subject}" if first.order else first.way,
            evidence=tuple(found[:5]),
        )


def _failed(facts: Facts) -> Iterator[DiagnosisFinding]:
    for op in (*facts.view.failed_ops, *(op for op in facts.view.open_ops if op.reason)):
        cause = cause_of(op.reason or "", op.msg or "")
        found = (evidence("journal", f"{op.call} of {op.key}", f"{op.reason}: {op.msg}", op.since),)
        if op.phase == "unknown":
            yield DiagnosisFinding(
                reason="OutcomeUnknown",
                subject=op.key,
                says=f"nobody knows whether {op.call} happened",
                confidence="certain",
                step="decide",
                next_step="look in AWS, then say what became of it",
                command=f"instantstart resolve {facts.cluster} {op.op} --as happened|not-happened",
                evidence=found,
            )
            continue
        command = f"instantstart retry {facts.cluster} {op.op}" if op.phase == "failed" else ""
        yield _because(facts, cause, op.reason or "CallFailed", op.key, f"{op.call} does not succeed", found, command)


def _unhealthy(facts: Facts) -> Iterator[DiagnosisFinding]:
    for one in facts.sight.observed.values() if facts.sight is not None else ():
        troubled = one.health is Health.FAILED or (one.health is Health.PROGRESSING and one.reason == "CapacityPending")
        if one.present and troubled:
            cause = cause_of(one.reason, one.message)
            found = (evidence("look", one.key, f"{one.reason}: {one.message}", facts.view.observed_at or ""),)
            yield _because(facts, cause, one.reason or "NotHealthy", one.key, "it is not healthy", found, "")


def _foreseen(facts: Facts) -> Iterator[DiagnosisFinding]:
    plan = facts.sight.plan if facts.sight is not None else None
    for finding in plan.findings if plan is not None else ():
        if finding.severity == "info":
            continue
        cause = cause_of(finding.reason, finding.message)
        found = (evidence("preflight", str(finding.source or ""), finding.message),)
        yield _because(facts, cause, finding.reason, f"Cluster/{facts.cluster}", "it cannot go well", found, "")
    for refusal in plan.refusals if plan is not None else ():
        yield DiagnosisFinding(
            reason=refusal.reason,
            subject=refusal.key,
            says=refusal.message,
            confidence="certain",
            step="decide",
            next_step=refusal.way_out,
            evidence=(evidence("plan", refusal.key, refusal.message),),
        )


def _told(facts: Facts) -> Iterator[DiagnosisFinding]:
    """HyperPod's events of level error, those with one cause together."""
    by_cause: dict[str, tuple[Cause, list[EvidenceView]]] = {}
    errors = sorted(
        (one for one in facts.events if one.source == "hyperpod" and one.level == "error"), key=lambda one: one.at
    )
    for event in reversed(errors):
        cause = cause_of(event.message)
        if cause is not None:
            found = by_cause.setdefault(cause.reason, (cause, []))[1]
            found.append(evidence("hyperpod", event.about, event.message, event.at))
    for cause, found in by_cause.values():
        yield _because(facts, cause, cause.reason, found[0].about, "HyperPod says so", tuple(found[:5]), "")


def _because(
    facts: Facts,
    cause: Cause | None,
    reason: str,
    subject: str,
    otherwise: str,
    found: tuple[EvidenceView, ...],
    command: str,
) -> DiagnosisFinding:
    region = facts.view.desired.region
    if cause is None:
        return DiagnosisFinding(
            reason=reason,
            subject=subject,
            says=otherwise,
            confidence="certain",
            step="investigate",
            next_step="read the evidence; the cause is none of those that are known here",
            command=command,
            evidence=found,
        )
    return DiagnosisFinding(
        reason=cause.reason,
        subject=subject,
        says=cause.says,
        confidence=cause.confidence,
        step=cause.step,
        next_step=cause.next_step,
        command=cause.command.format(cluster=facts.cluster, region=region) or command,
        evidence=found,
    )
