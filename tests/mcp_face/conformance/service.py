"""A whole service on loopback, over the invented cloud, with /mcp behind its real door. The conformance suite brings no
token: one is added to what it sends."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from tests.api.apibox import ApiBox, make
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.conformance import fixtures
from web.api.app import make_api
from web.server import Server


@dataclass(frozen=True, kw_only=True)
class Service:
    """`url`: without a path; `token`: an agent's."""

    url: str
    token: str


@contextmanager
def ours(folder: Path) -> Generator[Service]:
    """The service as it is."""
    box = _with_a_cluster(folder)
    try:
        yield Service(url=box.url, token=box.token(kind="agent", name="agent-7"))
    finally:
        box.close()


@contextmanager
def with_fixtures(folder: Path) -> Generator[Service]:
    """The same, with what the suite wants to find, and a token for who brings none."""
    box = _with_a_cluster(folder)
    token = box.token(kind="agent", name="agent-7")
    app = make_api(box.house)
    fixtures.add_to(app.state.mcp.mounted.server)
    server = Server(_Bearer(app, token), host="127.0.0.1", port=0)
    server.start()
    try:
        yield Service(url=f"http://127.0.0.1:{server.port}", token=token)
    finally:
        server.stop()
        box.close()


def _with_a_cluster(folder: Path) -> ApiBox:
    box = make(folder)
    box.rig.commit({"cluster": cluster_yaml(), "workers": group_yaml("workers", 3)})
    box.rig.settle()
    return box


class _Bearer:
    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and all(name != b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)
