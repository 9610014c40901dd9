"""/events: what happens, as server-sent events. Whoever loses the stream comes back with Last-Event-ID."""

from __future__ import annotations

import time
from collections.abc import AsyncIterable
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from web.api.access import Reader, StreamSlot, still_known
from web.api.house import HouseDep
from web.events.bus import Event

router = APIRouter(prefix="/events", tags=["service"])
_CHECK: Final = 5.0  # seconds for which a revoked token or an ended session may still be told something
_COME_BACK: Final = 1000  # milliseconds until a browser comes back
Name = Annotated[str | None, Query(max_length=40, pattern=r"^[a-z0-9][-a-z0-9]*$", description="Only this cluster")]


@router.get("", operation_id="stream_events", response_class=EventSourceResponse)
async def stream_events(
    request: Request,
    house: HouseDep,
    _who: Reader,
    _slot: StreamSlot,
    cluster: Name = None,
    last_event_id: Annotated[str | None, Header(max_length=60, description="The newest id that was seen")] = None,
) -> AsyncIterable[ServerSentEvent]:
    """`journal` {cluster, line}: a line was written to a cluster's journal. `change` {id, state, head}: a change has
    moved. `tick` {at, head, clusters, sent, lines, problem, wake}: the engine looked. `gap` {last}: what came after
    that id is not kept any more; read again what you show. Ids count within one life of the service.
    """
    yield ServerSentEvent(comment="open", retry=_COME_BACK)
    checked = time.monotonic()
    async for event in house.bus.follow(last_event_id):
        if time.monotonic() - checked > _CHECK:
            if not still_known(request, house):
                return
            checked = time.monotonic()
        if _wanted(event, cluster):
            yield ServerSentEvent(data=event.data, event=event.kind, id=event.id)


def _wanted(event: Event, cluster: str | None) -> bool:
    return cluster is None or event.kind != "journal" or event.data["cluster"] == cluster
