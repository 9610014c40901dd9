"""The whole service in one process: the loop, the API over the same engine, and what joins the two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reconciler.engine.loop import Loop
from reconciler.engine.settings import Settings
from reconciler.engine.tick import Engine, Result
from web.api.app import make_api
from web.building import build
from web.events.watch import Line
from web.server import Server
from web.settings import WebSettings


class Service:
    """Binds its port when it is made, begins with `start`. `on_tick` and `on_lines` are told what the loop does and
    what journals say, from threads of their own."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        web: WebSettings,
        *,
        on_tick: Callable[[Result], None] = lambda _result: None,
        on_lines: Callable[[Sequence[Line]], None] | None = None,
    ) -> None:
        self.loop = Loop(engine, rate=settings.rate, on_tick=self._ticked)
        self.house = build(engine, settings, nudge=self.loop.nudge)
        self._on_tick = on_tick
        self._watch = self.house.watch
        self._watch.tell = on_lines
        engine.on_lines = self._watch.ring
        hosts = [*web.hosts, *([web.bind] if web.bind not in ("0.0.0.0", "::") else [])]
        self._server = Server(make_api(self.house, hosts=hosts), host=web.bind, port=web.port)

    @property
    def base(self) -> str:
        """http://127.0.0.1:PORT, as a person on this machine reaches it."""
        host = "127.0.0.1" if self._server.host in ("0.0.0.0", "::") else self._server.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.port}"

    @property
    def alive(self) -> bool:
        return self._server.alive

    def start(self) -> None:
        self._watch.start()
        self._server.start()
        self.loop.start()

    def stop(self) -> None:
        """Streams end, requests under way get two seconds, the running tick ends; nothing new begins."""
        self.house.bus.close()
        self.house.reads.close()
        self._server.stop()
        self.loop.stop()
        self._watch.stop()
        self.house.access.close()

    def _ticked(self, result: Result) -> None:
        house = self.house
        house.pulse.tell(result)
        house.metrics.tick(result.seconds)
        told = {"at": house.clock.iso(), "head": result.head, "problem": result.problem, "wake": round(result.wake, 3)}
        house.bus.publish("tick", {**told, "clusters": result.clusters, "sent": result.sent, "lines": result.lines})
        self._watch.ring()
        self._on_tick(result)
