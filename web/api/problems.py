"""Errors as RFC 9457 problem details: ours, the framework's, and those that are our mistake."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from reconciler.config_repo.errors import RefMoved, SecretRefused
from schemas.errors import (
    Conflict,
    Flaw,
    Forbidden,
    Gone,
    InstantStartError,
    InvalidInput,
    NotFound,
    RetryLater,
    Stale,
    TooLarge,
    TooMany,
    Unauthorized,
)
from schemas.secrets import mask_secrets

log = logging.getLogger(__name__)
MEDIA: Final = "application/problem+json"
# The first that fits counts: what is special stands before what it is derived from.
_STATUS: Final[tuple[tuple[type[InstantStartError], int], ...]] = (
    (Unauthorized, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (Stale, 412),
    (Conflict, 409),
    (RefMoved, 409),
    (Gone, 410),
    (TooLarge, 413),
    (TooMany, 429),
    (SecretRefused, 422),
    (InvalidInput, 422),
    (RetryLater, 503),
)
_OTHER: Final = 422
_RETRY: Final = 5  # seconds, where nobody said how long


class FlawView(BaseModel):
    model_config = ConfigDict(frozen=True)

    where: str = Field(description="A JSON pointer, a field's path, or file:line:column")
    expected: str
    found: str
    hint: str = ""


class FieldConflictView(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    document: str
    field: str
    base: Any = None
    yours: Any = None
    theirs: Any = None
    by: str = ""
    at: str = ""
    commit: str = ""


class Problem(BaseModel):
    """RFC 9457, with `reason` for machines and what else is known."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(description="urn:instantstart: and the reason")
    title: str
    status: int
    detail: str
    reason: str
    way_out: str | None = None
    errors: list[FlawView] | None = None
    conflicts: list[FieldConflictView] | None = None


def add_to(app: FastAPI) -> None:
    app.add_exception_handler(InstantStartError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(Exception, _unexpected)


def problem(
    status: int,
    reason: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    way_out: str = "",
    flaws: Iterable[Flaw] = (),
    conflicts: Iterable[Any] = (),
) -> Response:
    """A response with problem details."""
    body = Problem(
        type=f"urn:instantstart:{reason}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=mask_secrets(detail),
        reason=reason,
        way_out=way_out or None,
        errors=[FlawView(**asdict(flaw)) for flaw in flaws] or None,
        conflicts=[FieldConflictView(**asdict(conflict)) for conflict in conflicts] or None,
    )
    text = body.model_dump_json(exclude_none=True)
    return Response(text, status_code=status, media_type=MEDIA, headers=dict(headers or {}))


def status_of(error: InstantStartError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), _OTHER)


def of_error(error: InstantStartError) -> Response:
    status = status_of(error)
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RetryLater) and status in (429, 503):
        headers["Retry-After"] = str(max(1, round(error.after or _RETRY)))
    return problem(
        status,
        error.reason,
        error.message,
        headers=headers,
        way_out=error.way_out,
        flaws=error.flaws,
        conflicts=error.conflicts if isinstance(error, Conflict) else (),
    )


async def _ours(_request: Request, error: Exception) -> Response:
    assert isinstance(error, InstantStartError)
    return of_error(error)


async def _invalid(_request: Request, error: Exception) -> Response:
    """What the framework found wrong in path, query, header or body. The value itself is not repeated: it may be a
    secret."""
    assert isinstance(error, RequestValidationError)
    flaws = [
        Flaw(where="/".join(str(step) for step in item["loc"]), expected=str(item["msg"]), found=_kind(item))
        for item in error.errors()
    ]
    return problem(422, "InvalidRequest", "the request does not have the form that is expected", flaws=flaws)


def _kind(item: Mapping[str, Any]) -> str:
    return "nothing" if item.get("type") == "missing" else type(item.get("input")).__name__


async def _framework(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reason = HTTPStatus(error.status_code).phrase.title().replace(" ", "").replace("-", "")
    return problem(error.status_code, reason, str(error.detail), headers=error.headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    """Our mistake: told in the log, not to whoever asks."""
    log.error("%s %s broke: %s", request.method, request.scope.get("path", ""), type(error).__name__, exc_info=error)
    return problem(500, "InternalError", "this is our mistake; the service's log says where it happened")


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route beyond those that any route can give, for its `responses=`."""
    return {status: described(status) for status in statuses}


def described(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA: {"schema": schema}}}
