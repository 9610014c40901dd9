"""/mcp: the agents' face in the same process. It uses the API like any client, with the token that the request brought:
who may do what is decided there and nowhere else. No cookie counts here, and nothing points to a way of logging in."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from fastapi import FastAPI
from starlette.requests import HTTPConnection
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from instantstart_mcp.mounted import PATH, Mounted
from schemas.errors import InstantStartError, TooMany, Unauthorized
from schemas.principals import Principal
from web.api.access import address_of
from web.api.house import House
from web.api.problems import of_error, problem

MOST: Final = 128  # calls of one token at once; a wait is one for as long as it lasts


class McpDoor:
    """An ASGI application: those in who brought a token. Each message is a POST; there is nothing to GET."""

    def __init__(self, app: FastAPI, house: House) -> None:
        self.mounted = Mounted(app)
        self._house = house
        self._calls: Counter[str] = Counter()  # in the event loop alone

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            text = "messages are sent by POST"
            await problem(405, "MethodNotAllowed", text, headers={"Allow": "POST"})(scope, receive, send)
            return
        try:
            who = self._principal(HTTPConnection(scope))
            with self._open(who):
                await self.mounted(scope, receive, send)
        except InstantStartError as error:
            await of_error(error)(scope, receive, send)

    @contextmanager
    def _open(self, who: Principal) -> Generator[None]:
        """One of the calls of a token that are under way. Raises TooMany."""
        key = who.id or who.name
        if self._calls[key] >= MOST:
            raise TooMany(f"{MOST} calls of this token are under way", reason="TooManyCalls", after=5)
        self._calls[key] += 1
        try:
            yield
        finally:
            self._calls[key] -= 1
            if not self._calls[key]:
                del self._calls[key]

    def _principal(self, connection: HTTPConnection) -> Principal:
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        who = self._house.access.by_bearer(token.strip()) if kind.lower() == "bearer" else None
        if who is not None:
            return who
        self._house.access.limits.refused(address_of(connection))
        text = "an agent needs a token: Authorization: Bearer is_…"
        raise Unauthorized(text, reason="NotLoggedIn", way_out="instantstart token create --kind agent makes one")


def add_to(app: FastAPI, house: House) -> None:
    app.state.mcp = McpDoor(app, house)
    app.router.routes.append(Route(PATH, app.state.mcp, include_in_schema=False))


@asynccontextmanager
async def running(app: FastAPI) -> AsyncGenerator[None]:
    """As long as the application serves."""
    door: McpDoor | None = getattr(app.state, "mcp", None)
    if door is None:
        yield
        return
    async with door.mounted.running():
        stop = asyncio.create_task(_end_streams(door, app.state.house))
        try:
            yield
        finally:
            stop.cancel()


async def _end_streams(door: McpDoor, house: House) -> None:
    """With those of the events: when the bus is closed."""
    async for _ in house.bus.batches():
        pass
    door.mounted.end_streams()
