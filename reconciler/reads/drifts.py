"""What differs now from what git wants though git did not change: with before and after, and whether it is put back or
waits for a person. Pure: from the newest tick's plan."""

from __future__ import annotations

from reconciler.engine.sight import Sight
from reconciler.reads.parts import View
from reconciler.reads.plans import ActionView, SeenView, action_view


class DriftView(View):
    """`then`: `restored` by the next tick, or `held` (its action says why, and the way out). `before` of a change is
    what is live, `after` what git wants."""

    then: str
    action: ActionView


class DriftsView(View):
    """`items` null: nothing could be planned, so nobody knows. `unmanaged`: what stands there and is not ours."""

    items: tuple[DriftView, ...] | None = None
    unmanaged: tuple[SeenView, ...] = ()
    unknown: tuple[SeenView, ...] = ()


def of_sight(sight: Sight) -> DriftsView:
    if sight.plan is None:
        return DriftsView()
    found = [
        action_view(action, sight.observed.get(action.key), sight.held.get(action.digest))
        for action in sight.plan.actions
        if action.because == "drift"
    ]
    return DriftsView(
        items=tuple(DriftView(then="restored" if act.held is None else "held", action=act) for act in found),
        unmanaged=tuple(SeenView(key=thing.key, message=thing.message) for thing in sight.plan.unmanaged),
        unknown=tuple(_unseen(sight, key) for key in sight.plan.unknown),
    )


def count(sight: Sight) -> int | None:
    """How many things drifted; None: nobody knows."""
    if sight.plan is None:
        return None
    return len({action.key for action in sight.plan.actions if action.because == "drift"})


def _unseen(sight: Sight, key: str) -> SeenView:
    seen = sight.observed.get(key)
    return SeenView(key=key, reason=seen.reason if seen else "", message=seen.message if seen else "")
