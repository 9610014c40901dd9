"""Errors as RFC 9457 problem details: ours and the framework's, over HTTP and before a WebSocket opens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketState

from reconciler.config_repo.errors import RefMoved, SecretRefused
from schemas.errors import (
    Conflict,
    FieldConflict,
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
    Unseen,
)
from schemas.secrets import mask_secrets

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
    (Unseen, 428),
    (SecretRefused, 422),
    (InvalidInput, 422),
    (RetryLater, 503),
)
_OTHER: Final = 422
_RETRY: Final = 5  # seconds, where nobody said how long
_REASONS: Final = {413: "TooLarge"}
_REASON: Final = 120  # bytes of the reason of a WebSocket's close frame


class FlawView(BaseModel):
    model_config = ConfigDict(frozen=True)

    where: str = Field(description="A JSON pointer, a field's path, or file:line:column")
    expected: str
    found: str
    hint: str = ""


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
    conflicts: list[FieldConflict] | None = None


def add_to(app: FastAPI) -> None:
    app.add_exception_handler(InstantStartError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(WebSocketRequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)


def problem(
    status: int,
    reason: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    way_out: str = "",
    flaws: Iterable[Flaw] = (),
    conflicts: Iterable[FieldConflict] = (),
) -> Response:
    """A response with problem details."""
    more: dict[str, Any] = {
        "way_out": way_out,
        "errors": [FlawView(**asdict(flaw)) for flaw in flaws],
        "conflicts": list(conflicts),
    }
    body = Problem(
        type=f"urn:instantstart:{reason}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=mask_secrets(detail),
        reason=reason,
        **{name: value for name, value in more.items() if value},
    )
    told = body.model_dump(mode="json", exclude_unset=True)
    text = json.dumps(told, ensure_ascii=False)
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


async def _ours(connection: HTTPConnection, error: Exception) -> Response:
    assert isinstance(error, InstantStartError)
    return await _answered(connection, of_error(error))


async def _invalid(connection: HTTPConnection, error: Exception) -> Response:
    """What the framework found wrong in path, query, header or body. The value itself is not repeated: it may be a
    secret."""
    assert isinstance(error, RequestValidationError | WebSocketRequestValidationError)
    flaws = [
        Flaw(where="/".join(str(step) for step in item["loc"]), expected=str(item["msg"]), found=_kind(item))
        for item in error.errors()
    ]
    text = "the request does not have the form that is expected"
    return await _answered(connection, problem(422, "InvalidRequest", text, flaws=flaws))


def _kind(item: Mapping[str, Any]) -> str:
    return "nothing" if item.get("type") == "missing" else type(item.get("input")).__name__


async def _framework(connection: HTTPConnection, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    reason = _REASONS.get(error.status_code) or phrase.title().replace(" ", "").replace("-", "")
    return await _answered(connection, problem(error.status_code, reason, str(error.detail), headers=error.headers))


async def _answered(connection: HTTPConnection, answer: Response) -> Response:
    """A WebSocket that was not opened yet is answered by the same response; one that was is closed, saying why."""
    if isinstance(connection, WebSocket):
        if connection.application_state is WebSocketState.CONNECTING:
            await connection.send_denial_response(answer)
        else:
            told: dict[str, Any] = json.loads(bytes(answer.body))
            text = f"{told['reason']}: {told['detail']}".encode()[:_REASON].decode("utf-8", "ignore")
            await connection.close(1011 if answer.status_code >= 500 else 1008, text)
    return answer


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route beyond those that any route can give, for its `responses=`."""
    return {status: described(status) for status in statuses}


def described(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA: {"schema": schema}}}
