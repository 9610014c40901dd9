"""Who asks, as a dependency of routes: Reader, Proposer, Approver, Operator; the same for HTTP and WebSocket."""

from __future__ import annotations

from typing import Annotated

from fastapi import Security
from fastapi.security import HTTPBearer, SecurityScopes
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.requests import HTTPConnection

from schemas.errors import Forbidden, Unauthorized
from schemas.principals import Principal
from web.api.house import HouseDep

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="`Authorization: Bearer is_…`")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]


def principal(scopes: SecurityScopes, connection: HTTPConnection, house: HouseDep, told: Credentials) -> Principal:
    """Raises Unauthorized and Forbidden. A token that is told counts alone: never a cookie beside it."""
    who = house.access.by_bearer(told.credentials) if told is not None else None
    if who is None:
        text = "the token is unknown or its time is over" if told is not None else "a token or a session is needed"
        raise Unauthorized(text, reason="NotLoggedIn", way_out="instantstart token create, or instantstart login-link")
    missing = [scope for scope in scopes.scopes if scope not in who.scopes]
    if missing:
        text = f"{who.name} does not hold the scope {' and '.join(missing)}"
        raise Forbidden(text, reason="MissingScope")
    return who


Reader = Annotated[Principal, Security(principal, scopes=["read"])]
Proposer = Annotated[Principal, Security(principal, scopes=["propose"])]
Approver = Annotated[Principal, Security(principal, scopes=["approve"])]
Operator = Annotated[Principal, Security(principal, scopes=["operate"])]
