"""Around the routes: what holds for each request, whichever answers it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.api.problems import problem

log = logging.getLogger(__name__)
Told = Callable[[str, str, int, float], None]
UNENDING: Final = ("/events", "/mcp")  # a HEAD of these would never end
_PATIENCE: Final = 4  # times the limit that are thrown away


class Mistakes:
    """What breaks is our mistake: told in the log, answered 500 as a problem, with the headers of any answer. What the
    server cuts off because it stops is none: it is answered 503, or just ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began = False

        async def watched(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        async def answer(status: int, reason: str, text: str) -> None:
            if scope["type"] == "http" and not began:
                await problem(status, reason, text)(scope, receive, send)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            await answer(503, "Stopping", "the service stops; ask again in a moment")
        except Exception:
            log.exception("%s %s broke", scope.get("method", "WebSocket"), template_of(scope))
            if began or scope["type"] == "websocket":
                raise  # half an answer cannot be taken back: the connection ends
            await answer(500, "InternalError", "this is our mistake; the service's log says where it happened")


class Heads:
    """HEAD is GET without the body; the server below leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD" and not scope["path"].endswith(UNENDING):
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


class BodyLimit:
    """A body longer than `most` bytes is answered 413, whether it says its length or not. What is a little too long
    is read to its end and thrown away: a client that still sends would not hear the answer."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if told.isdigit() and int(told) > self._most:
            await self._drain(receive, int(told))
            await problem(413, "TooLarge", self._text)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                await self._drain(receive, seen)
                raise HTTPException(413, self._text)  # of the framework: it lets no other error out of a body
            return message

        await self._app(scope, counted, send)

    @property
    def _text(self) -> str:
        return f"a body has at most {self._most} bytes"

    async def _drain(self, receive: Receive, size: int) -> None:
        left = _PATIENCE * self._most
        while left > 0 and size <= left:
            message = await receive()
            left -= len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body"):
                return


class Timed:
    """Tells (method, route's template, status, seconds until the answer began) of every HTTP request."""

    def __init__(self, app: ASGIApp, *, tell: Told) -> None:
        self._app = app
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._tell(scope["method"], template_of(scope), message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, watched)


def template_of(scope: Scope) -> str:
    """/clusters/{cluster}, as the router of the noun says it; never the address itself: that would be a label for each
    of them. What no route answered, or the guard, is `other`."""
    route: Any = scope.get("route")
    found = getattr(route, "path_format", None) or getattr(route, "path", None)
    return found if isinstance(found, str) and found else "other"
