"""/clusters/{cluster}/drift: what differs from git though git did not change."""

from __future__ import annotations

from fastapi import APIRouter

from reconciler.reads import drifts
from reconciler.reads.drifts import DriftView
from reconciler.reads.plans import SeenView
from schemas.errors import Unavailable
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked, page
from web.api.parts import ClusterName, LivePage, oldest
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/drift", tags=["clusters"])


class DriftPage(LivePage[DriftView]):
    """`gone`: what we made, git wants, and is not there though no action brings it back now (`message`: why);
    `unmanaged`: what stands there and is not ours; `unknown`: what cannot be seen, so that nobody knows."""

    gone: tuple[SeenView, ...] = ()
    unmanaged: tuple[SeenView, ...] = ()
    unknown: tuple[SeenView, ...] = ()


@router.get("", operation_id="list_drift", responses=responses(404))
def list_drift(house: HouseDep, _who: Reader, cluster: ClusterName, asked: PageAsked) -> DriftPage:
    """As of the newest tick. `then`: whether it is put back (restored) or waits for a person (held)."""
    sight, part = house.reads.sight(cluster)
    told = drifts.of_sight(sight) if sight is not None else drifts.DriftsView()
    if told.items is None:
        why = part.message or "nothing could be planned: its documents have problems, or it could not be looked at"
        raise Unavailable(why, reason=part.reason or "NotPlanned")
    found, following = page(told.items, asked, key=lambda one: f"{one.action.key}\0{one.action.digest}")
    return DriftPage(
        items=found,
        next=following,
        observed_at=oldest([part]),
        parts=(part,),
        gone=told.gone,
        unmanaged=told.unmanaged,
        unknown=told.unknown,
    )
