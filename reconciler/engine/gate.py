"""Step 5: what may go. One gate for every path; what may not is journalled as held, once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from reconciler.engine.approvals import of_orders
from reconciler.engine.doubt import doubt, is_held
from reconciler.engine.planning import FORGOTTEN
from reconciler.engine.scope import Scope
from reconciler.journal.fold import JOURNAL
from reconciler.plan import once
from reconciler.plan.approvals import passing
from reconciler.plan.gates import Fleet, GateInput, decide, spent
from schemas.journal import Hold
from schemas.plan import Action

WHOLE = "*"  # the key of a hold that concerns the cluster as a whole


def gate(scope: Scope, fleet: Fleet, now: datetime) -> None:
    """Fill `scope.held` with the digests of planned actions that may not go."""
    scope.fleet = fleet
    plan = scope.plan
    if plan is None:
        return
    status = scope.status
    told = scope.approvals.approvals if scope.approvals is not None else ()
    scope.passing = passing((*told, *of_orders(scope.cluster, status)), scope.cluster, now)
    given = GateInput(
        plan=plan,
        observed=scope.observed,
        limits=scope.limits,
        approved=scope.passing.approvers(),
        ordered=scope.passing.ordered(),
        suspended=scope.desired is not None and scope.desired.suspend,
        folder_gone=scope.input is None,
        unprotected=scope.unprotected,
        journal_doubt=doubt(scope),
        hold_count_drift=scope.hold_counts,
        spent=spent(status, plan),
        fleet=fleet,
    )
    for action in plan.actions:
        held = decide(action, given)
        if held is not None:
            scope.held[action.digest] = held


def record_holds(scope: Scope) -> None:
    """One line when an action begins to be held, one when it no longer is. What cannot be seen now may be planned
    again: its hold stays."""
    plan = scope.plan
    if plan is None:
        return
    now: dict[str, tuple[str, str, str]] = {}
    known = scope.status.holds
    why = doubt(scope)
    if why is not None:
        _forget_operations(scope)
        now[JOURNAL] = ("", "JournalIncomplete", why)
    if scope.desired is not None and scope.desired.suspend:
        now[WHOLE] = ("", "Suspended", "spec.suspend is true: nothing is changed")
    for action in plan.actions:
        held = scope.held.get(action.digest)
        if held is not None and held.reason != "Suspended":
            at = _place(action, now, known)
            now[at] = (action.digest, held.reason, f"{held.message}. Way out: {held.way}")
    for key, (digest, reason, message) in now.items():
        before = known.get(key)
        if before is None or before.state != "held" or (before.action, before.reason) != (digest, reason):
            said = f"{key} is held: {message if key == JOURNAL else reason}" if key != WHOLE else "suspended"
            scope.write("hold", said, key=key, action=digest, reason=reason, state="held", msg=message)
    for key, hold in known.items():
        if hold.state == "held" and key not in now and (not plan.unknown or key == WHOLE):
            said = f"{key} is no longer held" if key != WHOLE else "no longer suspended"
            scope.write("hold", said, key=key, action=hold.action, reason=hold.reason, state="released")


def _forget_operations(scope: Scope) -> None:
    """When a doubt begins, what would have its turn now may have had it in the lines that were lost. Operations that
    people write later are new."""
    if is_held(scope.status) or scope.desired is None or scope.world is None:
        return
    now = scope.world.clock.now()
    operations = scope.desired.operations
    left = once.due(operations, baseline=scope.baseline, status=scope.status, now=now, trusted=True).keys
    for operation in operations:
        for key in [key for key in operation.keys if key in left]:
            said = f"whether {key} had its turn before the journal lost lines cannot be told"
            way = "order retry, or remove it"
            scope.write("run", said, key=operation.done_id(key), state=FORGOTTEN, detail=way)


def _place(action: Action, taken: Mapping[str, object], known: Mapping[str, Hold]) -> str:
    """Under what a hold stands: the action's key. Where several actions on one thing are held, each has its own place,
    and keeps it."""
    before = [key for key, hold in known.items() if hold.state == "held" and hold.action == action.digest]
    places = (*before, action.key, f"{action.key}/{'+'.join(action.fields)}")
    return next((place for place in places if place not in taken), places[-1])
