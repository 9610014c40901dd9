"""Step 4: the plan of this tick, and what of it is once-only."""

from __future__ import annotations

import dataclasses

from reconciler.engine.doubt import doubt, is_held
from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from reconciler.plan import once
from reconciler.plan.make import PlanInput, make
from schemas.once import Operation
from schemas.plan import Finding, Refusal, Severity
from schemas.resource import Source, Stage

FORGOTTEN = "stopped"  # the end of an Operation of which a lost journal may have known


def plan(scope: Scope, clock: Clock) -> None:
    """No plan where documents have problems, the policy cannot be read, or nothing could be looked at."""
    if scope.world is None or (scope.input is not None and scope.desired is None):
        return
    desired = scope.desired.resources if scope.desired is not None else {}
    edited = _edited(scope)
    if scope.desired is not None:
        scope.due = once.due(
            [operation for operation in scope.desired.operations if operation not in edited],
            baseline=scope.baseline,
            status=scope.status,
            now=clock.now(),
            trusted=doubt(scope) is None or is_held(scope.status),  # those that come later wait at the gate
        )
    made = make(
        PlanInput(
            cluster=scope.cluster,
            revision=scope.revision,
            desired=desired,
            previous=scope.previous,
            moved=scope.moved_fields,
            observed=scope.observed,
            due=scope.due.keys,
            hold_count_drift=scope.hold_counts,
            made=scope.status.refs,
            adopted=scope.status.adopted,
            unmade=scope.status.unmade(),
        )
    )
    scope.plan = dataclasses.replace(
        made,
        refusals=(*made.refusals, *(_refusal(operation) for operation in edited)),
        findings=(*made.findings, *_late(scope), *_doubtful(scope), *_forgotten(scope), *_ignored(scope)),
    )
    scope.memory.plan = scope.plan


def _edited(scope: Scope) -> list[Operation]:
    """Operations that had their turn and were then edited: once for ever is per name."""
    if scope.desired is None:
        return []
    had = dict(_name_and_digest(text) for text in (*scope.baseline, *scope.status.done))
    operations = scope.desired.operations
    return [o for o in operations if not o.digest.startswith(had.get(f"Operation/{o.name}", ""))]


def _refusal(edited: Operation) -> Refusal:
    return Refusal(
        key=edited.keys[0],
        stage=Stage.OPERATIONS,
        source=Source("Operation", edited.name),
        reason="OperationEdited",
        message=f"Operation {edited.name} was changed after it had its turn",
        way_out="put it back, and write a new Operation under a new name",
    )


def _name_and_digest(identity: str) -> tuple[str, str]:
    """`Operation/a@<digest>` or, for one of its nodes, `Operation/a#i-0@<beginning of the digest>`."""
    name, _, digest = identity.rpartition("@")
    return name.split("#")[0], digest


def _late(scope: Scope) -> list[Finding]:
    return [
        Finding(
            severity=Severity.WARNING,
            reason="OperationExpired",
            message=f"{identity.split('@')[0]} expired before it was done; it will not be started",
        )
        for identity in scope.due.late
    ]


def _doubtful(scope: Scope) -> list[Finding]:
    why = doubt(scope)
    if why is None:
        return []
    text = f"{why}. Nothing is deleted and no operation runs: look, then order release {scope.cluster} journal"
    return [Finding(severity=Severity.WARNING, reason="JournalIncomplete", message=text)]


def _ignored(scope: Scope) -> list[Finding]:
    return scope.approvals.findings(scope.cluster) if scope.approvals is not None else []


def _forgotten(scope: Scope) -> list[Finding]:
    """Operations that a lost journal may have known of: never run twice, so they wait for a person."""
    operations = scope.desired.operations if scope.desired is not None else ()
    return [
        Finding(
            severity=Severity.WARNING,
            reason="OperationForgotten",
            message=(
                f"whether Operation {operation.name} had its turn before the journal lost lines cannot be told: "
                f"look, then order retry {scope.cluster} Operation/{operation.name}, or remove it"
            ),
        )
        for operation in operations
        if FORGOTTEN in {scope.status.done.get(operation.done_id(key)) for key in operation.keys}
    ]
