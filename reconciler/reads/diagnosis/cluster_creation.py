"""Why a cluster is not Ready: documents, what cannot be seen, holds, failed operations, health, what stands below the
nodes, preflight, HyperPod's own events, and what takes too long."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from reconciler.reads.diagnosis import commands, foundations, holding
from reconciler.reads.diagnosis.causes import Cause, cause_of
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, EvidenceView, evidence
from reconciler.reads.happenings import EventView
from schemas.resource import Health

LOOKED_AT = (
    "documents",
    "what cannot be seen",
    "holds",
    "operations",
    "health of resources",
    "routes, endpoints and roles below the nodes",
    "preflight (quota, zone, capacity, addresses)",
    "HyperPod events",
    "usual times",
)
_SLACK = timedelta(minutes=5)  # between AWS's clock and ours
_TOO_LONG = 2  # times what it mostly takes at most


def diagnose(facts: Facts) -> Iterator[DiagnosisFinding]:
    yield from _documents(facts)
    yield from _blind(facts)
    yield from holding.of(facts, facts.view.held)
    yield from _failed(facts)
    yield from _unhealthy(facts)
    yield from foundations.changed(facts)
    yield from _foreseen(facts)
    yield from _told(facts)
    yield from _slow(facts)


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
            command=commands.shell("instantstart", "validate"),
            evidence=tuple(evidence("git", f"{one.file}:{one.line}", one.text) for one in problems[:5]),
        )


def _blind(facts: Facts) -> Iterator[DiagnosisFinding]:
    """The engine does nothing to what its look cannot see."""
    if facts.sight is None or facts.sight.blind is None:
        return
    reason, message = facts.sight.blind
    cause = cause_of(message, reason)
    yield DiagnosisFinding(
        reason="CannotSee",
        subject=f"Cluster/{facts.cluster}",
        says=f"AWS or Kubernetes cannot be seen: {cause.says if cause is not None else reason}",
        confidence="certain",
        step="investigate",
        next_step=cause.next_step if cause is not None else "read the evidence: whoever runs InstantStart mends it",
        command=cause.command_for(facts) if cause is not None else commands.status(facts.cluster),
        evidence=(
            evidence("look", f"Cluster/{facts.cluster}", f"{reason}: {message}", facts.sight.unseen_since or ""),
        ),
    )


def _failed(facts: Facts) -> Iterator[DiagnosisFinding]:
    for op in (*facts.view.failed_ops, *(op for op in facts.view.open_ops if op.reason or op.phase == "unknown")):
        found = (evidence("journal", f"{op.call} of {op.key}", f"{op.reason}: {op.msg}", op.since),)
        if op.phase == "unknown":
            yield DiagnosisFinding(
                reason="OutcomeUnknown",
                subject=op.key,
                says=f"nobody knows whether {op.call} happened",
                confidence="certain",
                step="decide",
                next_step="look in AWS; if it happened, say so; if not: --as not-happened",
                command=commands.order("resolve", facts.cluster, op.op, "--as", "happened"),
                evidence=found,
            )
            continue
        again = (
            commands.order("retry", facts.cluster, op.op) if op.phase == "failed" else commands.status(facts.cluster)
        )
        cause = cause_of(op.msg or "", op.reason or "")
        yield _because(facts, cause, op.reason or "CallFailed", op.key, f"{op.call} does not succeed", found, again)


def _unhealthy(facts: Facts) -> Iterator[DiagnosisFinding]:
    for one in facts.sight.observed.values() if facts.sight is not None else ():
        troubled = one.health is Health.FAILED or (one.health is Health.PROGRESSING and one.reason == "CapacityPending")
        if one.present and troubled:
            cause = cause_of(one.message, one.reason)
            found = (evidence("look", one.key, f"{one.reason}: {one.message}", facts.view.observed_at or ""),)
            yield _because(facts, cause, one.reason or "NotHealthy", one.key, "it is not healthy", found, "")


def _foreseen(facts: Facts) -> Iterator[DiagnosisFinding]:
    plan = facts.sight.plan if facts.sight is not None else None
    for finding in plan.findings if plan is not None else ():
        if finding.severity == "info":
            continue
        cause = cause_of(finding.reason, finding.message)
        found = (evidence("preflight", finding.key or f"Cluster/{facts.cluster}", finding.message),)
        sure: Confidence = "likely" if finding.severity == "error" else "possible"
        subject = finding.key or f"Cluster/{facts.cluster}"
        yield DiagnosisFinding(
            reason=cause.reason if cause is not None else finding.reason,
            subject=subject,
            says=cause.says if cause is not None else "it was foreseen before anything was sent",
            confidence=sure,
            step=cause.step if cause is not None else "decide",
            next_step=cause.next_step if cause is not None else "the evidence says what to change; propose that",
            command=cause.command_for(facts) if cause is not None else commands.plan(facts.cluster),
            evidence=found,
        )
    for refusal in plan.refusals if plan is not None else ():
        yield DiagnosisFinding(
            reason=refusal.reason,
            subject=refusal.key,
            says=refusal.message,
            confidence="certain",
            step="decide",
            next_step=refusal.way_out,
            command=commands.plan(facts.cluster),
            evidence=(evidence("plan", refusal.key, refusal.message),),
        )


def _told(facts: Facts) -> Iterator[DiagnosisFinding]:
    """HyperPod's events of level error, those with one cause together; not those of a trouble that is over."""
    by_cause: dict[str, tuple[Cause, list[EvidenceView]]] = {}
    since = _since(facts)
    for event in sorted(facts.events, key=lambda one: one.at, reverse=True):
        cause = cause_of(event.message) if _is_error(event) and not _is_before(event.at, since) else None
        if cause is not None:
            found = by_cause.setdefault(cause.reason, (cause, []))[1]
            found.append(evidence("hyperpod", event.about, event.message, event.at))
    for cause, found in by_cause.values():
        yield _because(facts, cause, cause.reason, found[0].about, "HyperPod says so", tuple(found[:5]), "")


def _slow(facts: Facts) -> Iterator[DiagnosisFinding]:
    for stage in facts.view.stages:
        if stage.state != "Progressing" or stage.expected is None:
            continue
        late = timedelta(seconds=_TOO_LONG * stage.expected.most)
        if not _is_before(stage.since, facts.at, by=late):
            continue
        text = f"since {stage.since}; mostly {stage.expected.least // 60} to {stage.expected.most // 60} minutes"
        yield DiagnosisFinding(
            reason="TakesLong",
            subject=stage.expected.of,
            says=f"stage {stage.stage} takes longer than it mostly does",
            confidence="possible",
            step="investigate",
            next_step="look at events and at what it waits for; waiting does no harm",
            command=commands.status(facts.cluster),
            evidence=(evidence("journal", stage.stage, text, stage.since),),
        )


# Helpers -------------------------------------------------------------------------------------------------------------


def _because(
    facts: Facts,
    cause: Cause | None,
    reason: str,
    subject: str,
    otherwise: str,
    found: tuple[EvidenceView, ...],
    command: str,
) -> DiagnosisFinding:
    if cause is None:
        return DiagnosisFinding(
            reason=reason,
            subject=subject,
            says=otherwise,
            confidence="certain",
            step="investigate",
            next_step="read the evidence; the cause is none of those that are known here",
            command=command or commands.status(facts.cluster),
            evidence=found,
        )
    return DiagnosisFinding(
        reason=cause.reason,
        subject=subject,
        says=cause.says,
        confidence="likely",
        step=cause.step,
        next_step=cause.next_step,
        command=cause.command_for(facts),
        evidence=found,
    )


def _is_error(event: EventView) -> bool:
    return event.source == "hyperpod" and event.level == "error"


def _since(facts: Facts) -> str:
    """What was told before a cluster's compute became Ready, or before this revision was begun, is over."""
    compute = next((stage for stage in facts.view.stages if stage.stage == "compute"), None)
    return compute.since if compute is not None and compute.state == "Ready" else facts.view.started


def _is_before(at: str, other: str, *, by: timedelta = _SLACK) -> bool:
    """Whether one moment is so much before another; no if one of them is none."""
    try:
        return datetime.fromisoformat(at) + by < datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False
