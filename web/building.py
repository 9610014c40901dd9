"""The composition root: from an engine to the house that the API serves."""

from __future__ import annotations

from collections.abc import Callable

from reconciler.changes.service import Changes
from reconciler.engine.settings import Settings
from reconciler.engine.tick import Engine
from reconciler.reads.reads import Reads
from web.access.access import Access
from web.api.house import House
from web.events.bus import Bus
from web.events.watch import Watch
from web.metrics import Metrics
from web.pulse import Pulse


def build(engine: Engine, settings: Settings, *, nudge: Callable[[], None] = lambda: None) -> House:
    """Everything that routes use, over one engine. Starts nothing."""
    access, pulse, bus, changes = Access(settings.state_dir), Pulse(), Bus(), Changes(engine)
    return House(
        engine=engine,
        settings=settings,
        access=access,
        bus=bus,
        watch=Watch(engine.repo, changes.store, bus),
        pulse=pulse,
        metrics=Metrics(engine, pulse, access.limits),
        nudge=nudge,
        reads=Reads(engine),
        changes=changes,
    )
