"""A connection to the service that breaks at one request: before it arrives, or when its answer is on the way."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import httpx2
from mcp.client import Client

from instantstart_mcp.calling import Door
from instantstart_mcp.server import make_server
from tests.mcp_face.facebox import Told

Break = Literal["request", "answer"]


class Lossy(httpx2.AsyncBaseTransport):
    """`at`: the request that breaks, counted from 0. `seen`: methods and paths of all."""

    def __init__(self, at: int = -1, breaks: Break = "answer") -> None:
        self.seen: list[str] = []
        self._at, self._breaks = at, breaks
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        number = len(self.seen)
        self.seen.append(f"{request.method} {request.url.path}")
        if number == self._at and self._breaks == "request":
            raise httpx2.WriteError("planted", request=request)
        answer = await self._inner.handle_async_request(request)
        if number == self._at:
            await answer.aread()
            await answer.aclose()
            raise httpx2.ReadError("planted", request=request)
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def over(url: str, token: str, wire: Lossy) -> AsyncGenerator[Client]:
    made = Door(client=httpx2.AsyncClient(base_url=url, transport=wire), token=token, base=url)
    async with made.client, Client(make_server(made)) as found:
        yield found


def ask_over(url: str, token: str, wire: Lossy, tool: str, arguments: dict[str, Any]) -> Told:
    async def whole() -> Told:
        async with over(url, token, wire) as found:
            return Told.of(await found.call_tool(tool, arguments))

    return anyio.run(whole)
