"""/offerings: what an account can have in a Region, before anything is chosen."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reconciler.reads.asking import asking
from reconciler.reads.offerings import OfferingsView
from schemas.errors import InvalidInput
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.parts import must_know_one
from web.api.problems import responses

router = APIRouter(prefix="/offerings", tags=["offerings"])


@router.get("", operation_id="get_offerings", responses=responses(404))
def get_offerings(
    house: HouseDep,
    _who: Reader,
    cluster: Annotated[str | None, Query(max_length=40, description="The account and Region of this cluster")] = None,
    account: Annotated[str | None, Query(pattern="^[0-9]{12}$", description="Absent: that of the credentials")] = None,
    region: Annotated[str | None, Query(pattern="^[a-z]{2,5}(-[a-z]{2,12})+-[0-9]$", description="us-west-2")] = None,
    type: Annotated[list[str] | None, Query(max_length=100, description="Only these instance types")] = None,
    zone: Annotated[
        str | None, Query(max_length=30, description="Only types offered in this zone (id or name)")
    ] = None,
    accelerated: Annotated[bool | None, Query(description="Only types with GPUs or Trainium, or only others")] = None,
) -> OfferingsView:
    """Zones × instance types with GPUs, EFA, addresses, quota headroom, training plans and reservations, and Kubernetes
    versions. Null is not known: `parts` say of each source when it was seen, or why it cannot be."""
    if cluster is not None and (account is not None or region is not None):
        raise InvalidInput("name a cluster, or an account and a Region, not both", reason="InvalidRequest")
    with asking():
        view = house.reads.offerings(cluster=cluster, account=account, region=region)
    must_know_one(view.parts)
    wanted_zone = next((z.id for z in view.zones or () if zone in (z.name, z.id)), zone)
    types = tuple(
        one
        for one in view.instance_types
        if (type is None or one.instance_type in type)
        and accelerated in (None, one.accelerated)
        and (zone is None or one.zones is None or wanted_zone in one.zones)
    )
    return view.model_copy(update={"instance_types": types})
