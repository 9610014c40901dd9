"""What differs now from what git wants though git did not change: with before and after, and whether it is put back or
waits for a person. Pure: from the newest tick's plan."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.engine.sight import Sight
from reconciler.reads.parts import View
from reconciler.reads.plans import ActionView, SeenView, action_view
from schemas.resource import Presence


class DriftView(View):
    """`then`: `restored` by the next tick, or `held` (its action says why, and the way out). `before` of a change is
    what is live, `after` what git wants. A `create` is of what the journal says we made and somebody took away."""

    then: str
    action: ActionView


class DriftsView(View):
    """`items` null: nothing could be planned, so nobody knows. `gone`: what git wants, the journal says we made, and is
    not there, and no action brings it back now (`message`: why, where that is known). `unmanaged`: what stands there
    and is not ours."""

    items: tuple[DriftView, ...] | None = None
    gone: tuple[SeenView, ...] = ()
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
        gone=tuple(_gone(sight)),
        unmanaged=tuple(SeenView(key=thing.key, message=thing.message) for thing in sight.plan.unmanaged),
        unknown=tuple(_unseen(sight, key) for key in sight.plan.unknown),
    )


def count(sight: Sight) -> int | None:
    """How many things drifted; None: nobody knows."""
    if sight.plan is None:
        return None
    drifted = {action.key for action in sight.plan.actions if action.because == "drift"}
    return len(drifted | {one.key for one in _gone(sight)})


def _gone(sight: Sight) -> Iterator[SeenView]:
    """Taken away by hand, and it does not come back by itself: nothing is planned for it, or it is refused."""
    if sight.plan is None:
        return
    planned = {action.key for action in sight.plan.actions}
    refused = {one.key: one for one in sight.plan.refusals}
    for key in sorted(sight.status.refs.keys() & sight.desired.keys() - planned - sight.status.unmade()):
        seen = sight.observed.get(key)
        if seen is None or seen.presence is not Presence.ABSENT:
            continue
        why = refused.get(key)
        yield SeenView(key=key, reason=why.reason if why else "Gone", message=why.message if why else seen.message)


def _unseen(sight: Sight, key: str) -> SeenView:
    seen = sight.observed.get(key)
    return SeenView(key=key, reason=seen.reason if seen else "", message=seen.message if seen else "")
