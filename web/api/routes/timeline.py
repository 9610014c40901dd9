"""/clusters/{cluster}/timeline: commits, journal lines and what they did, newest first."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from reconciler.reads.timelines import EntryView
from schemas.errors import InvalidInput
from web.api import etags
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import Page, PageAsked, decoded, encoded
from web.api.parts import ClusterName, rendered
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/timeline", tags=["clusters"])
Kind = Literal["commit", "rollout", "op", "stage", "hold", "order", "run", "end"]


@router.get(
    "",
    operation_id="list_timeline",
    response_model=Page[EntryView],
    responses={**responses(404), **etags.RESPONSES},
)
def list_timeline(
    request: Request,
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    kind: Annotated[list[Kind] | None, Query(description="Only these kinds")] = None,
    revision: Annotated[str | None, Query(pattern="^[0-9a-f]{40}$", description="Only what is about it")] = None,
) -> Response:
    """In the order of git and the journal. Each entry says who asked, an op who let it pass, if somebody had to."""
    entries = house.reads.timeline(cluster)
    start = 0
    if asked.cursor is not None:
        after = decoded(asked.cursor)
        places = [index for index, entry in enumerate(entries) if entry.id == after]
        if not places:
            raise InvalidInput("the timeline no longer has the entry of this cursor: begin anew", reason="BadCursor")
        start = places[0] + 1
    wanted = [
        entry
        for entry in entries[start:]
        if (kind is None or entry.kind in kind) and revision in (None, entry.revision)
    ]
    found = wanted[: asked.limit]
    following = encoded(found[-1].id) if len(wanted) > len(found) else None
    return rendered(request, Page[EntryView](items=found, next=following).model_dump_json().encode())
