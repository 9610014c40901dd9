"""Who asks, as a dependency of routes: Reader, Proposer, Approver, Operator; the same for HTTP and WebSocket."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Depends, Security
from fastapi.security import APIKeyCookie, HTTPBearer, SecurityScopes
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.requests import HTTPConnection

from schemas.errors import Forbidden, Unauthorized
from schemas.principals import Principal
from web.access.sessions import COOKIE, cookie_name
from web.api.house import House, HouseDep

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="`Authorization: Bearer is_…`")
# For the contract only: the real name has the port that the browser used.
_cookie = APIKeyCookie(
    name=f"{COOKIE}_3099", auto_error=False, scheme_name="session", description="From a log-in link; named by its port"
)
Bearer = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
Cookie = Annotated[str | None, Security(_cookie)]
_WAY = "run instantstart login-link for a browser, instantstart token create for a program"


async def principal(
    scopes: SecurityScopes, connection: HTTPConnection, house: HouseDep, told: Bearer, _cookie: Cookie
) -> Principal:
    """Raises Unauthorized, Forbidden and TooMany."""
    who = known(connection, house, told)
    house.access.limits.request(who, writes=connection.scope.get("method") not in (None, "GET", "HEAD"))
    missing = [scope for scope in scopes.scopes if scope not in who.scopes]
    if missing:
        text = f"{who.name} does not hold the scope {' and '.join(missing)}"
        raise Forbidden(text, reason="MissingScope")
    return who


def known(connection: HTTPConnection, house: House, told: HTTPAuthorizationCredentials | None) -> Principal:
    """A token that is told counts alone, never a cookie beside it."""
    is_told = "authorization" in connection.headers
    if told is not None:
        who = house.access.by_bearer(told.credentials)
    else:
        cookie = connection.cookies.get(cookie_name(connection.headers.get("host", "")))
        who = house.access.by_cookie(cookie) if cookie and not is_told else None
    if who is not None:
        return who
    house.access.limits.refused(address_of(connection))
    text = "the token is unknown, or its time is over" if is_told else "a token or a session is needed"
    raise Unauthorized(text, reason="NotLoggedIn", way_out=_WAY)


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client is not None else ""


def still_known(connection: HTTPConnection, house: House) -> bool:
    """Whether who opened a stream may still have it: the token was not revoked, the session has not ended."""
    header = connection.headers.get("authorization")
    if header is not None:
        return house.access.by_bearer(header.partition(" ")[2].strip()) is not None
    cookie = connection.cookies.get(cookie_name(connection.headers.get("host", "")), "")
    return house.access.by_cookie(cookie) is not None


Reader = Annotated[Principal, Security(principal, scopes=["read"])]
Proposer = Annotated[Principal, Security(principal, scopes=["propose"])]
Approver = Annotated[Principal, Security(principal, scopes=["approve"])]
Operator = Annotated[Principal, Security(principal, scopes=["operate"])]
Anybody = Annotated[Principal, Security(principal)]


async def _stream_slot(house: HouseDep, who: Reader) -> AsyncGenerator[None]:
    """One of the streams that somebody may hold open, as long as the answer lasts. Raises TooMany."""
    with house.access.limits.stream(who):
        yield


StreamSlot = Annotated[None, Depends(_stream_slot)]
