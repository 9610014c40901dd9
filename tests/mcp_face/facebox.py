"""The SDK's own client on our server: in memory, over stdio in a process of its own, and over HTTP; in both eras."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
import httpx2
from mcp.client import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from instantstart_mcp.server import make_server
from instantstart_mcp.stdio import TOKEN, URL, Where, door
from tests.api.apibox import ApiBox

ROOT = Path(__file__).parents[2]
Way = Literal["memory", "stdio", "http"]
Era = Literal["legacy", "auto"]
WAYS: tuple[Way, ...] = ("memory", "stdio", "http")
ERAS: tuple[Era, ...] = ("legacy", "auto")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Told:
    """What a tool answered."""

    error: bool
    text: str
    data: dict[str, Any]

    @classmethod
    def of(cls, result: CallToolResult) -> Told:
        (block,) = result.content
        assert isinstance(block, TextContent)
        data = json.loads(block.text)
        assert result.is_error or result.structured_content == data, "the text and the structure say the same"
        return cls(error=bool(result.is_error), text=block.text, data=data)


@asynccontextmanager
async def client(
    url: str, token: str, way: Way = "memory", era: Era = "auto", hear: MessageHandlerFnT | None = None
) -> AsyncGenerator[Client]:
    """`hear`: what the server says unasked."""
    match way:
        case "memory":
            made = door(Where(url=url, token=token))
            async with made.client, Client(make_server(made), mode=era, message_handler=hear) as found:
                yield found
        case "stdio":
            environment = {**os.environ, URL: url, TOKEN: token, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'mcp'}"}
            server = StdioServerParameters(command=sys.executable, args=["-m", "web", "mcp"], env=environment)
            async with Client(server, mode=era, message_handler=hear) as found:
                yield found
        case "http":
            bearer = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=bearer, timeout=120) as http,
                Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=era, message_handler=hear) as found,
            ):
                yield found


def talk(
    box: ApiBox,
    script: Callable[[Client], Awaitable[Result]],
    *,
    token: str | None = None,
    way: Way = "memory",
    era: Era = "auto",
    hear: MessageHandlerFnT | None = None,
) -> Result:
    """Run a script with a connected client; `token`: an agent's, if not told."""
    bearer = token or agent(box)

    async def whole() -> Result:
        async with client(box.url, bearer, way, era, hear) as found:
            return await script(found)

    return anyio.run(whole)


def ask(box: ApiBox, tool: str, /, *, token: str | None = None, **arguments: Any) -> Told:
    """One call of one tool."""

    async def script(found: Client) -> Told:
        return Told.of(await found.call_tool(tool, arguments))

    return talk(box, script, token=token)


async def cut_off(url: str, token: str, way: Way, seconds: float, tool: str, arguments: dict[str, Any]) -> None:
    """A client that gives up after so long, and goes away."""
    try:
        async with client(url, token, way) as found:
            with anyio.move_on_after(seconds):
                await found.call_tool(tool, arguments)
    except* anyio.BrokenResourceError:
        pass  # the answer came in the moment in which the client left


def agent(box: ApiBox, *, name: str = "agent-7") -> str:
    return box.token(kind="agent", name=name)
