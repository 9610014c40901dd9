"""/clusters: the fleet, and one cluster: what is wanted, how far it is, what is held, its GPUs, what drifted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from reconciler.reads.clusters import ClusterView, SummaryView
from web.api import etags
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import Page, PageAsked, page
from web.api.parts import ClusterName, rendered
from web.api.problems import responses

router = APIRouter(prefix="/clusters", tags=["clusters"])


@router.get("", operation_id="list_clusters", response_model=Page[SummaryView], responses=etags.RESPONSES)
def list_clusters(
    request: Request,
    house: HouseDep,
    _who: Reader,
    asked: PageAsked,
    gone: Annotated[bool, Query(description="Those that were deleted too")] = False,
) -> Response:
    """One line for each cluster that has a folder or a journal, by name."""
    found, following = page(house.reads.fleet(gone=gone), asked, key=lambda line: line.cluster)
    shown = Page[SummaryView](items=found, next=following)
    return rendered(request, shown.model_dump_json().encode())


@router.get(
    "/{cluster}",
    operation_id="get_cluster",
    response_model=ClusterView,
    responses={**responses(404), **etags.RESPONSES},
)
def get_cluster(request: Request, house: HouseDep, _who: Reader, cluster: ClusterName) -> Response:
    """What is wanted, how far each stage is and what it waits for, what is held and who may let it go, GPUs, drift."""
    return rendered(request, house.reads.cluster(cluster).json)
