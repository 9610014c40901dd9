"""The server as a part of an ASGI application that has the REST API: calls go to that application, in process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import httpx2
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from instantstart_mcp.calling import Door
from instantstart_mcp.server import make_server
from instantstart_mcp.watching import Watching

PATH: Final = "/mcp"
_HERE: Final = "http://localhost"


class Mounted:
    """An ASGI application for one path. Whoever mounts it lets only those in who brought a token, guards Host and
    Origin, and holds `running` open as long as it serves.

    Every request stands for itself, in the older protocol too: nothing is lost when the service restarts, and no
    session can be taken over.
    """

    def __init__(self, app: ASGIApp) -> None:
        """`app`: where the REST API is."""
        self._client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=_HERE)
        self._watching = Watching(lasting=False)
        self.server = make_server(Door(client=self._client), self._watching)
        self._app = self.server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def end_streams(self) -> None:
        """Before the service stops. In the event loop that serves."""
        self._watching.end()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with self._client, self.server.session_manager.run():
            yield
