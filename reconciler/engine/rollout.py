"""Step 5b, opening a rollout: the old note is closed with its open ops, the new one begins with them."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.engine.doubt import doubt
from reconciler.engine.library import Library
from reconciler.engine.load import base_of
from reconciler.engine.scope import Scope
from reconciler.engine.stages import states
from reconciler.journal.fold import JOURNAL
from reconciler.plan import once
from schemas.journal import ClusterStatus, Hold
from schemas.plan import Plan
from schemas.resource import Mark
from schemas.values import JsonObject


def open_rollout(scope: Scope, library: Library, writer: str) -> None:
    """Write `end` and `rollout` if this revision is not the one that the journal is at."""
    status = scope.status
    if status.rev == scope.revision:
        return
    carried = status.open_ops()
    base = base_of(scope, library)
    if scope.desired is not None:
        # Removed and put back before anything was Ready is no new Operation.
        before = {} if status.last_ready == status.rev else scope.earlier
        operations = {**before, **{one.identity: one for one in scope.desired.operations}}
        done = once.done(operations.values(), status)
    else:  # no document can be read: what had its turn must not be forgotten
        done = {**status.done, **once.done(scope.earlier.values(), status)}
    approved, holds = _words(scope)
    kinds = sorted({*status.kinds, *(r.type for r in (scope.desired.resources.values() if scope.desired else ()))})
    if status.rev is not None:
        scope.write(
            "end",
            f"superseded by {scope.revision[:7]}",
            revision=status.rev if scope.memory.tip is not None else scope.revision,
            by=scope.revision,
            carried=[op.op for op in carried],
        )
    scope.write(
        "rollout",
        _say(scope),
        rev=scope.revision,
        input=scope.input,
        **{"from": status.rev},
        base=list(base),
        rewritten=True if scope.rewritten else None,
        writer=writer,
        plan=summary(scope.plan, len(scope.held)),
        open=[op.model_dump_compact() for op in carried],
        done=done,
        holds=[hold.model_dump(mode="json", exclude_defaults=True) for hold in holds],
        kinds=kinds,
        ready=status.last_ready,
        approved=approved,
        lets=_lets(status, approved) or None,
        refs=_adopted(scope) | status.refs,
        adopted={**_taken_over(scope), **status.adopted} or None,
        stages=list(states(scope)),
    )


def _adopted(scope: Scope) -> dict[str, str]:
    """Ids of what carries our mark where the journal may have lost them; an ARN where there is no id."""
    if doubt(scope) is None:
        return {}
    marked = {key: seen for key, seen in scope.observed.items() if seen.present and seen.mark is Mark.OURS}
    ids = {key: seen.attrs.get("id") or seen.attrs.get("arn") for key, seen in marked.items()}
    return {key: id_ for key, id_ in ids.items() if isinstance(id_, str)}


def _taken_over(scope: Scope) -> dict[str, str]:
    """Names of what carries our mark of adoption where the journal may have lost them."""
    if doubt(scope) is None:
        return {}
    return {key: seen.name for key, seen in scope.observed.items() if seen.present and seen.mark is Mark.ADOPTED}


def _words(scope: Scope) -> tuple[list[str], list[Hold]]:
    """Approvals and holds that go on: those of actions that are still planned, or may be again once they can be
    seen."""
    status, plan = scope.status, scope.plan
    if plan is None or plan.unknown:
        return list(status.approved), [hold for hold in status.holds.values() if hold.state == "held"]
    planned = {action.digest for action in plan.actions}
    approved = [text for text in status.approved if text in planned or text == JOURNAL]
    held = [h for k, h in status.holds.items() if h.state == "held" and (h.action in scope.held or k == JOURNAL)]
    return approved, held


def _lets(status: ClusterStatus, approved: Iterable[str]) -> dict[str, list[JsonObject]]:
    lets = {digest: status.lets[digest] for digest in approved if digest in status.lets}
    return {digest: [let.model_dump(exclude_defaults=True) for let in told] for digest, told in lets.items()}


def summary(plan: Plan | None, held: int) -> JsonObject | None:
    """The few numbers of a plan that the journal keeps."""
    if plan is None:
        return None
    counts = {verb: number for verb, number in plan.counts().items() if number}
    return {"digest": plan.digest, **counts, "refused": len(plan.refusals), "held": held}


def _say(scope: Scope) -> str:
    if scope.input is None:
        return f"the folder of {scope.cluster} is gone: take everything down"
    if scope.plan is None:
        return f"cannot plan {scope.revision[:7]}"
    counts = [f"{number} to {verb}" for verb, number in scope.plan.counts().items() if number]
    refused = [f"{len(scope.plan.refusals)} refused"] if scope.plan.refusals else []
    rewritten = ", history was rewritten" if scope.rewritten else ""
    return f"apply {scope.revision[:7]}: {', '.join([*counts, *refused]) or 'nothing to change'}{rewritten}"
