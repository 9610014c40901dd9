"""/session: log in by a one-time link or a person's token, see who one is, log out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from schemas.errors import Conflict, Unauthorized
from schemas.principals import Kind, Principal, Scope, Via, in_order
from schemas.reach import EVERYTHING, Reach
from web.access.sessions import cookie_name
from web.access.tokens import has_form
from web.api.access import Anybody, address_of
from web.api.house import House, HouseDep
from web.api.problems import responses

router = APIRouter(prefix="/session", tags=["access"])


class LogIn(BaseModel):
    """`code`: what stands behind the # of a log-in link; or a token of a person, whose session holds what the token
    holds, and ends with it."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=20, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")


class SessionView(BaseModel):
    """Who asks. `expires`: of a session; null for a token. `reach`: what their changes may touch."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: Kind
    scopes: list[Scope]
    via: Via
    on_behalf_of: str = ""
    expires: datetime | None = None
    reach: Reach = EVERYTHING


@router.get("", operation_id="get_session")
def get_session(request: Request, house: HouseDep, who: Anybody) -> SessionView:
    """Who one is, by token or session; needs no scope."""
    record = house.access.sessions.find(_cookie_of(request)) if who.via == "session" else None
    return _view(who, record.expires if record is not None else None)


@router.post("", operation_id="create_session", status_code=201, responses=responses(401, 403))
def create_session(body: LogIn, request: Request, response: Response, house: HouseDep) -> SessionView:
    """Log in with the code of a one-time link, or with a token; the answer sets the session's cookie."""
    is_token = has_form(body.code)
    begun = house.access.begin_by_token(body.code) if is_token else house.access.begin_by_link(body.code)
    if begun is None:
        # Only what is wrong counts: behind one address others must not keep the right one out, and nobody guesses it.
        house.access.limits.login(address_of(request))
        text = "the token is unknown, or its time is over"
        if not is_token:
            text = "this link was used already, or its ten minutes are over"
        reason = "NotLoggedIn" if is_token else "LinkOver"
        raise Unauthorized(text, reason=reason, way_out="run instantstart login-link for a new one")
    value, record = begun
    response.set_cookie(
        cookie_name(request.headers.get("host", "")),
        value,
        max_age=int((record.expires - record.created).total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return _view(record.principal(), record.expires)


@router.delete("", operation_id="delete_session", status_code=204, responses=responses(409))
def delete_session(
    request: Request,
    house: HouseDep,
    who: Anybody,
    everywhere: Annotated[bool, Query(description="End all sessions of this person, not this one alone")] = False,
) -> Response:
    """Log out."""
    if who.via != "session":
        raise Conflict("this is a token and no session; DELETE /tokens/{id} revokes it", reason="NoSession")
    _end(house, who, everywhere)
    gone = Response(status_code=204)
    gone.delete_cookie(cookie_name(request.headers.get("host", "")), path="/", httponly=True, samesite="strict")
    return gone


def _end(house: House, who: Principal, everywhere: bool) -> None:
    if everywhere:
        house.access.sessions.end_all(who.name)
    else:
        house.access.sessions.end(who.id)


def _cookie_of(request: Request) -> str:
    return request.cookies.get(cookie_name(request.headers.get("host", "")), "")


def _view(who: Principal, expires: datetime | None) -> SessionView:
    return SessionView(
        name=who.name,
        kind=who.kind,
        scopes=in_order(who.scopes),
        via=who.via,
        on_behalf_of=who.on_behalf_of,
        expires=expires,
        reach=who.reach,
    )
