"""The REST API as this face uses it: one HTTP client, a bearer that is forwarded, problems as errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote

import httpx2

PREFIX: Final = "/api/v1"
READ: Final = 30.0  # seconds
WRITE: Final = 120.0  # opening a change plans it, which looks at the cloud
_LARGEST: Final = 8 << 20  # bytes of an answer

Json = dict[str, Any]


class ApiProblem(Exception):
    """What the API refused, or that it did not answer. `reason` is for machines; `detail` may repeat text from
    outside. `errors` and `conflicts` as in the problem's body. `status` 0: no answer."""

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        status: int = 0,
        way_out: str = "",
        errors: tuple[Json, ...] = (),
        conflicts: tuple[Json, ...] = (),
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.status = status
        self.way_out = way_out
        self.errors = errors
        self.conflicts = conflicts


@dataclass(frozen=True, kw_only=True)
class Api:
    """Somebody's view of the API. `token` None: nobody's, which the API refuses."""

    client: httpx2.AsyncClient
    token: str | None

    async def get(self, *path: str, **query: Any) -> Json:
        """`path` in segments, which are quoted; of `query` what is None or "" is left out. Raises ApiProblem."""
        given = {name: value for name, value in query.items() if value is not None and value != ""}
        return await self._ask("GET", path, query=given, timeout=READ)

    async def post(
        self, *path: str, body: Mapping[str, Any] | None = None, key: str | None = None, match: str | None = None
    ) -> Json:
        """`key`: of idempotency; `match`: what it is built on. Raises ApiProblem."""
        told = {"Idempotency-Key": key, "If-Match": match}
        headers = {name: value for name, value in told.items() if value is not None}
        return await self._ask("POST", path, body=body, headers=headers, timeout=WRITE)

    async def _ask(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        timeout: float,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        where = "/".join((PREFIX, *(segment_of(part) for part in path)))
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token is not None else {}
        try:
            answer = await self.client.request(
                method,
                where,
                params=dict(query or {}),
                json=body,
                headers={**bearer, **(headers or {})},
                timeout=timeout,
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _no_answer(method, error) from None
        if len(answer.content) > _LARGEST:
            raise ApiProblem("AnswerTooLarge", "the service's answer is too large; ask for less", status=502)
        told = _json(answer)
        if answer.is_success and told is not None:
            return told
        raise _problem(answer.status_code, told)


def part(told: Json, name: str) -> Json:
    """An object inside of another; {} if it is null or not there."""
    found: Any = told.get(name)
    return cast("Json", found) if isinstance(found, dict) else {}


def rows(told: Json, name: str) -> list[Json]:
    """A list of objects inside of another."""
    found: Any = told.get(name)
    return cast("list[Json]", found) if isinstance(found, list) else []


def segment_of(text: str) -> str:
    """One segment of a path: nothing in it can lead elsewhere. Raises ApiProblem."""
    if text in ("", ".", ".."):
        raise ApiProblem("BadName", f"{text!r} is no name", status=422)
    return quote(text, safe="")


def _json(answer: httpx2.Response) -> Json | None:
    try:
        told: Any = json.loads(answer.content)
    except ValueError:
        return None
    return cast("Json", told) if isinstance(told, dict) else None


def _problem(status: int, told: Json | None) -> ApiProblem:
    if told is None or "reason" not in told:
        text = f"HTTP {status}, and no answer of InstantStart's: is INSTANTSTART_URL right?"
        return ApiProblem("NoInstantStart", text, status=status)
    return ApiProblem(
        str(told["reason"]),
        str(told.get("detail") or told.get("title") or ""),
        status=status,
        way_out=str(told.get("way_out") or ""),
        errors=tuple(told.get("errors") or ()),
        conflicts=tuple(told.get("conflicts") or ()),
    )


def _no_answer(method: str, error: Exception) -> ApiProblem:
    """What went wrong below HTTP is told by its kind alone: its words may hold addresses."""
    kind = type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        text = f"the service cannot be reached ({kind}); nothing was done"
        return ApiProblem("Unreachable", text, way_out="check INSTANTSTART_URL and the port forward, then call again")
    if method == "GET":
        return ApiProblem("NoAnswer", f"the service did not answer ({kind}); call again")
    text = f"the service did not answer ({kind}): nobody knows whether it was done"
    way = "call this tool again with the same arguments: what was done already is found again, not done twice"
    return ApiProblem("NoAnswer", text, way_out=way)
