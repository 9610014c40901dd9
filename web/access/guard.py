"""The guard before everything, HTTP and WebSocket: a page of another origin gets nowhere, whatever cookie it brings.

- **Host.** Only names that are ours, on any port (a forward may change it): a name that an attacker points at this
  machine (DNS rebinding) is answered 421.
- **Origin, Fetch Metadata.** A browser says where a request comes from. Another origin, which another port of
  localhost is too, is answered 403: for every WebSocket, every write, and every read below /api. SameSite cookies do
  not help there, because ports are one site. Only opening a page of ours from elsewhere is fine.
- Without either header it is no browser, and no cookie comes by itself: tokens decide.
- **Token in an address.** Addresses end up in logs and histories, so one that holds a token is refused, at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from web.api.problems import problem

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
PROBES: Final = frozenset({"/healthz", "/readyz"})  # asked by address; they tell nothing
_SAFE: Final = frozenset({"GET", "HEAD"})
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?")
_TOKEN = re.compile(rb"is_[A-Za-z0-9_-]{43}")


class Guard:
    """An ASGI application around another. `hosts`: names that are ours beside those of loopback."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = LOOPBACK | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self.verdict(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await deny(scope, receive, send, refusal)

    def verdict(self, scope: Scope) -> Response | None:
        """What is answered instead; None: it may pass."""
        told: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            told.setdefault(name.lower(), []).append(value.decode("latin-1"))
        found = told.get(b"host", [])
        if len(found) != 1 or len(told.get(b"origin", [])) > 1 or len(told.get(b"authorization", [])) > 1:
            return problem(400, "BadHeaders", "exactly one Host, and at most one Origin and Authorization, is expected")
        if _TOKEN.search(scope.get("query_string", b"")) or _TOKEN.search(scope.get("raw_path") or b""):
            text = "a token stands in the address, where logs keep it: revoke it, and send the next one as a header"
            return problem(400, "TokenInAddress", text)
        host = found[0].lower()
        form = _HOST.fullmatch(host)
        is_probe = scope["type"] == "http" and scope["method"] in _SAFE and scope["path"] in PROBES
        if (form is None or form[1] not in self._hosts) and not is_probe:
            text = "this service does not go by that name; INSTANTSTART_HOSTS names more than those of loopback"
            return problem(421, "UnknownHost", text)
        return None if self._comes_from_us(scope, host, told) else _foreign()

    def _comes_from_us(self, scope: Scope, host: str, told: dict[bytes, list[str]]) -> bool:
        origin = told.get(b"origin", [None])[0]
        site = told.get(b"sec-fetch-site", [None])[0]
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return False
        return site in (None, "same-origin", "none") or _opens_a_page(scope, told)


def _opens_a_page(scope: Scope, told: dict[bytes, list[str]]) -> bool:
    """A link from elsewhere to one of our pages, in a tab of its own. It brings nobody's session along: the cookie is
    SameSite=Strict, or the pages of another port are seen by the person alone."""
    if scope["type"] != "http" or scope["method"] not in _SAFE or is_machine(scope["path"]):
        return False
    mode, destination = told.get(b"sec-fetch-mode", [""])[0], told.get(b"sec-fetch-dest", [""])[0]
    return mode == "navigate" and destination == "document"


def is_machine(path: str) -> bool:
    """Whether it is for programs, not a page for people."""
    return path.startswith(("/api/", "/mcp/", "/metrics")) or path in ("/api", "/mcp")


def _foreign() -> Response:
    text = "the request comes from another origin (Origin, Sec-Fetch-Site); only our own pages may ask"
    return problem(403, "ForeignOrigin", text)


async def deny(scope: Scope, receive: Receive, send: Send, answer: Response) -> None:
    """Answer a WebSocket's handshake with a response, or as much of one as the server can."""
    await receive()
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    await send(
        {"type": "websocket.http.response.start", "status": answer.status_code, "headers": list(answer.raw_headers)}
    )
    await send({"type": "websocket.http.response.body", "body": bytes(answer.body)})
