"""What a route may use: one record, made by the composition root and handed to every request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from reconciler.changes.service import Changes
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.settings import Settings
from reconciler.engine.tick import Engine
from reconciler.live.clock import Clock
from reconciler.reads.reads import Reads
from web.access.access import Access
from web.events.bus import Bus
from web.events.watch import Watch
from web.metrics import Metrics
from web.pulse import Pulse


@dataclass(frozen=True, kw_only=True)
class House:
    """`clock`: the engine's, simulated where the sandbox is; log-ins and tokens keep real time by themselves.
    `nudge`: make the next tick come at once, after something that it should see. `watch`: rung for when something was
    written that open streams should hear of."""

    engine: Engine
    settings: Settings
    access: Access
    bus: Bus
    watch: Watch
    pulse: Pulse
    metrics: Metrics
    nudge: Callable[[], None]
    reads: Reads
    changes: Changes

    @property
    def repo(self) -> ConfigRepo:
        return self.engine.repo

    @property
    def clock(self) -> Clock:
        return self.engine.clock


def house_of(connection: HTTPConnection) -> House:
    """The house of a request or a WebSocket."""
    house = connection.app.state.house
    assert isinstance(house, House)
    return house


HouseDep = Annotated[House, Depends(house_of)]
