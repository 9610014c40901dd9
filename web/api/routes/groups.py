"""/clusters/{cluster}/groups: instance groups as wanted and as they are."""

from __future__ import annotations

from fastapi import APIRouter

from reconciler.reads.nodes import GroupView
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked, page
from web.api.parts import ClusterName, LivePage, oldest
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/groups", tags=["live"])


@router.get("", operation_id="list_groups", responses=responses(404))
def list_groups(house: HouseDep, _who: Reader, cluster: ClusterName, asked: PageAsked) -> LivePage[GroupView]:
    """Every group that a document asks for or that HyperPod has, by name."""
    groups, parts = house.reads.groups(cluster)
    found, following = page(groups, asked, key=lambda group: group.name)
    return LivePage[GroupView](items=found, next=following, observed_at=oldest(parts), parts=parts)
