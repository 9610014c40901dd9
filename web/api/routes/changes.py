"""/changes: open, look, edit, review, merge, close. A write may name the head that it was built on (If-Match); a merge
must."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response

from reconciler.changes.views import ChangeSummary, ChangeView
from reconciler.config_repo.names import CHANGE
from schemas.changes import ChangeUpdate, Closing, NewChange, NewComment, NewReview
from schemas.errors import InvalidInput
from web.api import etags
from web.api.access import Approver, Proposer, Reader
from web.api.change_plans import ChangePlanView, FileDiffView, diffs, plan_of
from web.api.house import HouseDep
from web.api.pages import Page, PageAsked, page
from web.api.parts import ClusterName
from web.api.problems import responses

router = APIRouter(prefix="/changes", tags=["changes"])
KEY_LIMIT: Final = 200
ChangeId = Annotated[str, Path(pattern=f"^{CHANGE.pattern}$", description="The change's id")]
IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=KEY_LIMIT, description="The same key with the same body: the same change"),
]
IfMatch = Annotated[
    str | None, Header(max_length=KEY_LIMIT, description="The head, or the ETag, that this is built on")
]


@router.post("", operation_id="create_change", status_code=201, responses=responses(404, 409))
def create_change(
    house: HouseDep, who: Proposer, asked: NewChange, response: Response, idempotency_key: IdempotencyKey = None
) -> ChangeView:
    """From patches, whole documents or files on a base revision. It may hold documents that are not valid: its checks
    say so, and it is not merged."""
    return _written(house, response, house.changes.open(who, asked, key=idempotency_key))


@router.get("", operation_id="list_changes", responses=etags.RESPONSES)
def list_changes(
    request: Request,
    response: Response,
    house: HouseDep,
    _who: Reader,
    asked: PageAsked,
    state: Annotated[Literal["open", "merged", "closed"] | None, Query(description="Only these")] = None,
    cluster: Annotated[ClusterName | None, Query(description="Only those that touch it")] = None,
) -> Page[ChangeSummary]:
    """Newest first, without checks."""
    states = [one for one in house.changes.list() if state is None or one.name == state]
    if cluster is not None:
        told = zip(states, house.changes.summaries(states), strict=True)
        states = [one for one, summary in told if cluster in summary.clusters]
    found, following = page(states, asked, key=lambda one: one.change.id, newest_first=True)
    shown = Page[ChangeSummary](items=list(house.changes.summaries(found)), next=following)
    etags.check(request, response, etags.of(shown))
    return shown


@router.get("/{change}", operation_id="get_change", responses={**responses(404), **etags.RESPONSES})
def get_change(request: Request, response: Response, house: HouseDep, _who: Reader, change: ChangeId) -> ChangeView:
    """With its checks, while it is open: for that it is laid over the branch and planned."""
    found = house.changes.view(change)
    etags.check(request, response, _etag(found))
    return found


@router.patch("/{change}", operation_id="update_change", responses=responses(404, 409, 412))
def update_change(
    house: HouseDep, who: Proposer, change: ChangeId, asked: ChangeUpdate, response: Response, if_match: IfMatch = None
) -> ChangeView:
    """New words, or further edits on its head. New edits void the approvals that it has."""
    return _written(house, response, house.changes.update(who, change, asked, head=_head(if_match)))


@router.get("/{change}/plan", operation_id="get_change_plan", responses=responses(404, 409))
def get_change_plan(
    house: HouseDep,
    _who: Reader,
    change: ChangeId,
    fresh: Annotated[bool, Query(description="Look at the world again, however short ago that was")] = False,
) -> ChangePlanView:
    """What merging it would do, cluster by cluster, and what is missing before it may be merged."""
    return plan_of(house, change, fresh=fresh)


@router.get("/{change}/diff", operation_id="get_change_diff", responses=responses(404))
def get_change_diff(house: HouseDep, _who: Reader, change: ChangeId, asked: PageAsked) -> Page[FileDiffView]:
    """File by file: lines, and documents field by field. Also of a change that has ended."""
    found = house.changes.state(change).change
    paths, following = page(house.changes.files(found).items(), asked, key=lambda pair: pair[0])
    return Page[FileDiffView](items=diffs(house.repo, dict(paths)), next=following)


@router.post("/{change}/comments", operation_id="create_comment", status_code=201, responses=responses(404))
def create_comment(
    house: HouseDep, who: Proposer, change: ChangeId, asked: NewComment, response: Response
) -> ChangeView:
    return _written(house, response, house.changes.comment(who, change, asked.text))


@router.post("/{change}/reviews", operation_id="create_review", status_code=201, responses=responses(404, 409, 412))
def create_review(
    house: HouseDep, who: Approver, change: ChangeId, asked: NewReview, response: Response, if_match: IfMatch = None
) -> ChangeView:
    """Approve (naming the plan that was seen), ask for changes, or take one's own review back."""
    return _written(house, response, house.changes.review(who, change, asked, head=_head(if_match)))


@router.post("/{change}/merge", operation_id="merge_change", responses=responses(404, 409, 412, 428))
def merge_change(
    house: HouseDep, who: Proposer, change: ChangeId, response: Response, if_match: IfMatch = None
) -> ChangeView:
    """Onto the branch, if it fits, its documents are valid, and the policy has what it wants. A person merges what
    they saw: If-Match names its head, and without it nothing is merged (428)."""
    found = house.changes.merge(who, change, head=_head(if_match))
    house.nudge()
    return _written(house, response, found)


@router.post("/{change}/close", operation_id="close_change", responses=responses(404, 409, 412))
def close_change(
    house: HouseDep,
    who: Proposer,
    change: ChangeId,
    response: Response,
    asked: Closing | None = None,
    if_match: IfMatch = None,
) -> ChangeView:
    """End it without a merge. What it proposed stays in the repository."""
    why = asked.text if asked is not None else ""
    return _written(house, response, house.changes.close(who, change, why, head=_head(if_match)))


@router.post("/{change}/rebase", operation_id="rebase_change", responses=responses(404, 409, 412))
def rebase_change(
    house: HouseDep, who: Proposer, change: ChangeId, response: Response, if_match: IfMatch = None
) -> ChangeView:
    """Bring it onto where the branch stands now."""
    return _written(house, response, house.changes.rebase(who, change, head=_head(if_match)))


def _written(house: HouseDep, response: Response, found: ChangeView) -> ChangeView:
    house.watch.ring()
    response.headers["ETag"] = _etag(found)
    return found


def _etag(found: ChangeView) -> str:
    """Begins with the head: what a write is built on."""
    return f'"{found.head}.{etags.of(found).strip(chr(34))}"'


def _head(told: str | None) -> str | None:
    """The head that an If-Match names. Raises InvalidInput."""
    if told is None or told.strip() == "*":
        return None
    head = told.strip().removeprefix("W/").strip('"').split(".", 1)[0]
    if len(head) != 40 or set(head) - set("0123456789abcdef"):
        raise InvalidInput("If-Match names no head of a change", reason="BadIfMatch")
    return head
