"""A real service on loopback: a git repository, an engine over the invented cloud, and the API on a port of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
from fastapi import APIRouter

from reconciler.engine.settings import Settings
from schemas.principals import AGENT_SCOPES, ALL_SCOPES, Kind, Scope
from tests.engine.fakes import Rig
from tests.waiting import PATIENCE
from web.api.app import make_api
from web.api.house import House
from web.building import build
from web.server import Server


@dataclass(kw_only=True)
class ApiBox:
    """`rig`: the repository, cloud and engine below; commit and tick with it. Times of the rig stand still unless it
    is told otherwise; log-ins keep real time."""

    rig: Rig
    settings: Settings
    more_routes: APIRouter | None = None  # of a test, before the service is first asked
    without: tuple[object, ...] = ()  # middleware that a test wants to see missing, likewise
    _house: House | None = None
    _server: Server | None = None
    _clients: list[httpx.Client] = field(default_factory=list[httpx.Client])

    @property
    def house(self) -> House:
        if self._house is None:
            self._house = build(self.rig.engine, self.settings)
            self.rig.engine.on_lines = self._house.watch.ring
            self._house.watch.start()
        return self._house

    @property
    def port(self) -> int:
        return self._running().port

    @property
    def url(self) -> str:
        """http://127.0.0.1:PORT, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def token(self, *scopes: Scope, name: str = "platform-engineer@example.com", kind: Kind = "person") -> str:
        """A new token; without scopes: all that the kind may hold."""
        wanted = frozenset(scopes) or (ALL_SCOPES if kind == "person" else AGENT_SCOPES)
        return self.house.access.tokens.create(
            name=name, kind=kind, scopes=wanted, created_by="test", life=timedelta(hours=1)
        )[0]

    def client(
        self, *scopes: Scope, name: str = "platform-engineer@example.com", kind: Kind = "person"
    ) -> httpx.Client:
        """Somebody with a token of these scopes, at /api/v1: `client("read").get("/version")`."""
        return self.anybody({"Authorization": f"Bearer {self.token(*scopes, name=name, kind=kind)}"})

    def anybody(self, headers: dict[str, str] | None = None) -> httpx.Client:
        """Somebody without a token."""
        made = httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=PATIENCE, trust_env=False)
        self._clients.append(made)
        return made

    def restart(self) -> None:
        """A new process on the same port, as far as anybody can see: everything in memory is lost."""
        port = self.stop()
        self.rig.restart()
        self.start(port)

    def stop(self) -> int:
        """The port it was on; nobody answers there any more."""
        port = self.port
        self._stop()
        return port

    def start(self, port: int) -> None:
        self._running(port)

    def close(self) -> None:
        self._stop()
        self.rig.close()

    def _running(self, port: int = 0) -> Server:
        if self._server is None:
            app = make_api(self.house)
            app.user_middleware = [one for one in app.user_middleware if one.cls not in self.without]
            if self.more_routes is not None:
                app.include_router(self.more_routes)
            self._server = Server(app, host="127.0.0.1", port=port)
            self._server.start()
        return self._server

    def _stop(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()
        if self._house is not None:
            self._house.bus.close()
            self._house.watch.stop()
            self._house.reads.close()
        if self._server is not None:
            self._server.stop()
        self._house = self._server = None


def make(root: Path) -> ApiBox:
    rig = Rig(path=root / "config", state=root / "state")
    return ApiBox(rig=rig, settings=Settings(repository=str(rig.path), state_dir=rig.state, writer=rig.writer))
