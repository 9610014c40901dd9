"""/tokens: make, see and revoke tokens. A person with `operate` makes them for themselves and for agents."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from schemas.errors import Forbidden
from schemas.principals import Kind, Principal, Scope, in_order
from schemas.reach import EVERYTHING, Reach
from web.access.tokens import LONGEST, TokenRecord
from web.api.access import Operator
from web.api.house import HouseDep
from web.api.pages import Page, PageAsked, page
from web.api.problems import responses

router = APIRouter(prefix="/tokens", tags=["access"])


class TokenAsked(BaseModel):
    """`name` stands in commits and in the journal. `days`: how long it lives. `reach`: what its changes may touch, if
    not everything."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f<>]+$")
    kind: Kind
    scopes: list[Scope] = Field(min_length=1, max_length=4)
    days: int = Field(default=30, ge=1, le=LONGEST.days)
    reach: Reach = EVERYTHING


class TokenView(BaseModel):
    """A token without the token. `last_used` is right to ten minutes."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    kind: Kind
    scopes: list[Scope]
    created: datetime
    created_by: str
    expires: datetime | None = None
    last_used: datetime | None = None
    reach: Reach = EVERYTHING


class TokenMade(TokenView):
    """`token` is shown here and never again."""

    token: str


@router.get("", operation_id="list_tokens")
def list_tokens(house: HouseDep, _who: Operator, asked: PageAsked) -> Page[TokenView]:
    """All tokens, oldest first; those that are over too, until they are revoked."""
    found, following = page(house.access.tokens.all(), asked, key=lambda record: record.id)
    return Page(items=[view(record) for record in found], next=following)


@router.post("", operation_id="create_token", status_code=201)
def create_token(body: TokenAsked, house: HouseDep, who: Operator) -> TokenMade:
    """A new token. For oneself, or for an agent on one's behalf; with no more than one holds."""
    scopes = frozenset(body.scopes)
    _may_make(who, body.name, body.kind, scopes, body.reach)
    token, record = house.access.tokens.create(
        name=body.name,
        kind=body.kind,
        scopes=scopes,
        created_by=who.name,
        life=timedelta(days=body.days),
        reach=body.reach,
    )
    return TokenMade(token=token, **view(record).model_dump())


@router.delete("/{id}", operation_id="delete_token", status_code=204, responses=responses(404))
def delete_token(id: Annotated[str, Path(pattern=r"^[0-9A-Za-z]{1,40}$")], house: HouseDep, _who: Operator) -> None:
    """Revoke it, from the next request on."""
    house.access.tokens.revoke(id)


def _may_make(who: Principal, name: str, kind: Kind, scopes: frozenset[Scope], reach: Reach) -> None:
    """Whoever could make a token in another person's name could approve their own changes with it."""
    if kind == "person" and not who.is_same(name):
        text = "a token of a person is made by that person; instantstart token create, on the machine, makes any"
        raise Forbidden(text, reason="NotYourName")
    if more := scopes - who.scopes:
        raise Forbidden(f"you do not hold {', '.join(in_order(more))} yourself", reason="MissingScope")
    if not who.reach.holds(reach):
        text = f"you reach {who.reach} yourself, and cannot give {reach}"
        raise Forbidden(text, reason="OutOfReach", way_out="give patterns and kinds of your own")


def view(record: TokenRecord) -> TokenView:
    return TokenView(
        id=record.id,
        name=record.name,
        kind=record.kind,
        scopes=list(record.scopes),
        created=record.created,
        created_by=record.created_by,
        expires=record.expires,
        last_used=record.last_used,
        reach=record.reach,
    )
