"""The composition root: from an engine to the house that the API serves."""

from __future__ import annotations

from reconciler.engine.settings import Settings
from reconciler.engine.tick import Engine
from web.access.access import Access
from web.api.house import House
from web.events.bus import Bus


def build(engine: Engine, settings: Settings) -> House:
    """Everything that routes use, over one engine. Starts nothing."""
    return House(
        engine=engine,
        settings=settings,
        access=Access(settings.state_dir),
        bus=Bus(),
    )
