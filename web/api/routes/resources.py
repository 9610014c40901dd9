"""/clusters/{cluster}/resources: what is ours, by stage and with its health."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reconciler.reads import inventories
from reconciler.reads.inventories import ThingView
from schemas.errors import Unavailable
from schemas.resource import STAGES, Stage
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked, page
from web.api.parts import ClusterName, LivePage, oldest
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/resources", tags=["clusters"])
_ORDER = {stage.value: number for number, stage in enumerate(STAGES)}


@router.get("", operation_id="list_resources", responses=responses(404))
def list_resources(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    stage: Annotated[Stage | None, Query(description="Only this stage")] = None,
) -> LivePage[ThingView]:
    """Everything that is wanted or ours, as of the newest tick, in the order of stages."""
    sight, part = house.reads.sight(cluster)
    if sight is None:
        raise Unavailable(part.message, reason=part.reason)
    things = [thing for thing in inventories.things(sight) if stage in (None, thing.stage)]
    found, following = page(things, asked, key=lambda thing: f"{_ORDER[thing.stage]}{thing.key}")
    return LivePage[ThingView](items=found, next=following, observed_at=oldest([part]), parts=(part,))
