"""/reverts: taking something back, as a change like any other."""

from __future__ import annotations

from fastapi import APIRouter, Response

from reconciler.changes.views import ChangeView
from schemas.changes import NewRevert
from web.api.access import Proposer
from web.api.house import HouseDep
from web.api.problems import responses
from web.api.routes.changes import IdempotencyKey

router = APIRouter(prefix="/reverts", tags=["changes"])


@router.post("", operation_id="create_revert", status_code=201, responses=responses(404, 409))
def create_revert(
    house: HouseDep, who: Proposer, asked: NewRevert, response: Response, idempotency_key: IdempotencyKey = None
) -> ChangeView:
    """A change that undoes what a merged change, or a commit, did to its files. `losses` says what does not come
    back."""
    found = house.changes.revert(who, asked, key=idempotency_key)
    house.watch.ring()
    response.headers["Location"] = f"/api/v1/changes/{found.id}"
    return found
