"""Step 4: the plan of this tick, and what of it is once-only."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import datetime, timedelta

from ulid import ULID

from reconciler.engine.scope import Scope
from reconciler.live.clock import Clock
from reconciler.plan import once
from reconciler.plan.make import PlanInput, make
from schemas.plan import Finding, Refusal, Severity
from schemas.resource import Mark, Source, Stage

JOURNAL = "journal"  # the key of the hold on everything that a doubtful journal must not do
_TOLERANCE = timedelta(seconds=120)  # clocks of two writers may differ a little


def plan(scope: Scope, clock: Clock) -> None:
    """No plan where documents have problems, the policy cannot be read, or nothing could be looked at."""
    if scope.world is None or (scope.input is not None and scope.desired is None):
        return
    desired = scope.desired.resources if scope.desired is not None else {}
    if scope.desired is not None:
        scope.due = once.due(
            scope.desired.operations,
            baseline=scope.baseline,
            status=scope.status,
            now=clock.now(),
            trusted=doubt(scope) is None,
        )
    made = make(
        PlanInput(
            cluster=scope.cluster,
            revision=scope.revision,
            desired=desired,
            previous=scope.previous,
            observed=scope.observed,
            due=scope.due.keys,
            hold_count_drift=scope.hold_counts,
            made=scope.status.refs,
        )
    )
    scope.plan = dataclasses.replace(
        made,
        refusals=(*made.refusals, *_edited(scope)),
        findings=(*made.findings, *_late(scope)),
    )
    scope.memory.plan = scope.plan


def doubt(scope: Scope) -> str | None:
    """Why the journal cannot be trusted to know everything of ours, or None. A person confirms with the order
    `release journal`."""
    status = scope.status
    if JOURNAL in status.approved:
        return None
    held = status.holds.get(JOURNAL)
    if held is not None and held.state == "held":
        return held.msg  # what was written since does not make up for what was lost
    ours = [seen for seen in scope.observed.values() if seen.present and seen.mark in (Mark.OURS, Mark.ADOPTED)]
    young = status.rev is None or (status.roll <= 1 and not status.ops)
    adopts = scope.desired is not None and scope.desired.adopts
    if young and ours and not adopts:
        return f"{min(seen.key for seen in ours)} is live and ours but the journal knows nothing of it"
    newer = _newest_op(seen.op for seen in ours)
    if newer is not None and status.at and newer[1] > datetime.fromisoformat(status.at) + _TOLERANCE:
        return f"op {newer[0]} left its tag but its intent is not in the journal"
    return None


def _newest_op(ops: Iterable[str | None]) -> tuple[str, datetime] | None:
    found: list[tuple[datetime, str]] = []
    for op in ops:
        try:
            found.append((ULID.from_str(op).datetime, op) if op else (datetime.min, ""))
        except ValueError:
            continue  # a tag that somebody wrote by hand
    newest = max((pair for pair in found if pair[1]), default=None)
    return None if newest is None else (newest[1], newest[0])


def _edited(scope: Scope) -> list[Refusal]:
    """An Operation that had its turn and was then edited: once for ever is per name."""
    if scope.desired is None:
        return []
    had = {text.split("@")[0]: text for text in scope.baseline}
    had.update({text.split("#")[0]: text.split("#")[0] + "@" + text.rsplit("@", 1)[-1] for text in scope.status.done})
    return [
        Refusal(
            key=operation.keys[0],
            stage=Stage.OPERATIONS,
            source=Source("Operation", operation.name),
            reason="OperationEdited",
            message=f"Operation {operation.name} was changed after it had its turn",
            way_out="put it back, and write a new Operation under a new name",
        )
        for operation in scope.desired.operations
        if had.get(f"Operation/{operation.name}") not in (None, operation.identity)
    ]


def _late(scope: Scope) -> list[Finding]:
    return [
        Finding(
            severity=Severity.WARNING,
            reason="OperationExpired",
            message=f"{identity.split('@')[0]} expired before it was done; it will not be started",
        )
        for identity in scope.due.late
    ]
