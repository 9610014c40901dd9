"""/events: what happens, as server-sent events. Whoever loses the stream comes back with Last-Event-ID."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import StreamingResponse

from web.api.access import Reader, StreamSlot, still_known
from web.api.house import House, HouseDep
from web.events.bus import Event

router = APIRouter(prefix="/events", tags=["service"])
_CHECK: Final = 5.0  # seconds for which a revoked token or an ended session may still be told something
_IDLE: Final = 15.0  # seconds without an event, after which a word keeps what stands between from hanging up
_MEDIA: Final = "text/event-stream"
_DESCRIBED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Events", "content": {_MEDIA: {"schema": {"type": "string"}}}}
}
_NOT_KEPT: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_COME_BACK: Final = 1000  # milliseconds until a browser comes back
Name = Annotated[str | None, Query(max_length=40, pattern=r"^[a-z0-9][-a-z0-9]*$", description="Only this cluster")]


@router.get("", operation_id="stream_events", response_class=StreamingResponse, responses=_DESCRIBED)
async def stream_events(
    request: Request,
    house: HouseDep,
    _who: Reader,
    _slot: StreamSlot,
    cluster: Name = None,
    last_event_id: Annotated[str | None, Header(max_length=60, description="The newest id that was seen")] = None,
) -> StreamingResponse:
    """`journal` {cluster, line}: a line was written to a cluster's journal. `change` {id, state, head}: a change has
    moved. `tick` {at, head, clusters, sent, lines, problem, wake}: the engine looked. `gap` {last}: what came after
    that id is not kept any more; read again what you show. Ids count within one life of the service.
    """
    events = stream(request, house, cluster, last_event_id)
    return StreamingResponse(events, media_type=_MEDIA, headers=_NOT_KEPT)


async def stream(request: Request, house: House, cluster: str | None, last: str | None) -> AsyncGenerator[bytes]:
    last = last if last is not None else house.bus.newest  # before the reader is told that it is heard
    yield f": open\nretry: {_COME_BACK}\n\n".encode()
    checked = time.monotonic()
    async with aclosing(house.bus.batches(last, idle=_IDLE)) as batches:
        async for batch in batches:
            if time.monotonic() - checked > _CHECK:
                if not still_known(request, house):
                    return
                checked = time.monotonic()
            wanted = b"".join(event.wire for event in batch if _wanted(event, cluster))
            if wanted or not batch:
                yield wanted or b": still here\n\n"


def _wanted(event: Event, cluster: str | None) -> bool:
    return cluster is None or event.kind != "journal" or event.data["cluster"] == cluster
