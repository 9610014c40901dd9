"""What a tool is handed when it is called: the API as the caller may use it, and a way to tell progress."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from instantstart_mcp.api import Api

_BEARER: Final = "bearer "
Progress = Callable[[float, float | None, str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Call:
    """`base`: where people find the service, for links."""

    api: Api
    base: str
    progress: Progress

    def link(self, *path: str) -> str:
        return "/".join((self.base.rstrip("/"), *path))


@dataclass(frozen=True, kw_only=True)
class Door:
    """Where calls come in. `token`: the process's own (stdio); None: each request brings its own, which is forwarded.
    `base` None: people find the service where the request found it."""

    client: httpx2.AsyncClient
    token: str | None = None
    base: str | None = None

    def call(self, request: Any, progress: Progress) -> Call:
        """`request`: the HTTP request that the call came by; None on stdio."""
        return Call(api=self.api(request), base=self._base(request), progress=progress)

    def api(self, request: Any) -> Api:
        return Api(client=self.client, token=self.token if self.token is not None else _bearer(request))

    def _base(self, request: Any) -> str:
        if self.base is not None:
            return self.base
        return f"{request.url.scheme}://{request.headers['host']}" if request is not None else ""


def _bearer(request: Any) -> str | None:
    told: str = request.headers.get("authorization", "") if request is not None else ""
    return told[len(_BEARER) :].strip() if told.lower().startswith(_BEARER) else None
