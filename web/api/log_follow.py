"""A log over a WebSocket: each message is one `Frame` as JSON. A reader that is slow slows the reading down, so that
nothing piles up here; one that takes nothing for long is told `slow`, and may begin anew where it was."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable
from typing import Annotated, Final

from fastapi import Path, Query, WebSocket
from fastapi.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect

from reconciler.reads import logs
from reconciler.reads.asking import asking
from reconciler.reads.logs import Frame, Tail
from schemas.errors import InstantStartError
from web.api.access import Reader, StreamSlot, still_known
from web.api.house import HouseDep
from web.api.parts import ClusterName

_OBJECT: Final = r"^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$"
Namespace = Annotated[str, Path(pattern=_OBJECT, max_length=63, description="The pod's namespace")]
PodName = Annotated[str, Path(pattern=_OBJECT, description="The pod's name")]
Container = Annotated[str | None, Query(pattern=_OBJECT, max_length=63, description="Needed where the pod has several")]
Since = Annotated[str | None, Query(max_length=100, description="A cursor, or a time (RFC 3339)")]
Search = Annotated[str, Query(max_length=200, description="Only lines that hold this text, in any case")]

WAITING: Final = 8  # frames that wait for the reader
PATIENCE: Final = 60.0  # real seconds for which a reader may take nothing
RECHECK: Final = 20.0  # real seconds between two looks at whether the reader may still have it


async def follow_logs(
    socket: WebSocket,
    house: HouseDep,
    _who: Reader,
    _slot: StreamSlot,
    cluster: ClusterName,
    namespace: Namespace,
    pod: PodName,
    container: Container = None,
    since: Since = None,
    tail: Annotated[int, Query(ge=0, le=10_000)] = 200,
    search: Search = "",
    follow: Annotated[bool, Query()] = True,
) -> None:
    """Closes with 1000 when the log is over, 1008 for a wrong question or a reader that is too slow."""
    at = logs.place(since) if since is not None else None
    found = await run_in_threadpool(
        house.reads.tail,
        cluster,
        namespace,
        pod,
        container=container,
        since=at,
        tail=tail,
        search=search,
        follow=follow,
    )
    await socket.accept()
    with asking():
        await _Following(socket, found, lambda: still_known(socket, house)).run()


class _Following:
    def __init__(self, socket: WebSocket, tail: Tail, allowed: Callable[[], bool]) -> None:
        self._socket = socket
        self._tail = tail
        self._allowed = allowed
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Frame | InstantStartError | None] = asyncio.Queue(WAITING)
        self._thread = threading.Thread(target=self._read, name="log", daemon=True)

    async def run(self) -> None:
        """Raises what the reading of the log raises."""
        self._thread.start()
        jobs = [asyncio.create_task(job) for job in (self._send(), self._listen(), self._watch_over())]
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._tail.close()
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            while not self._queue.empty():  # who waits to put something sees that nobody takes it
                self._queue.get_nowait()
        for job in done:
            job.result()

    def _read(self) -> None:
        """In a thread of its own: the reading of Kubernetes blocks."""
        last: InstantStartError | None = None
        try:
            for frame in self._tail.frames():
                if not self._put(frame):
                    return
        except InstantStartError as error:
            last = error
        self._put(last)

    def _put(self, item: Frame | InstantStartError | None) -> bool:
        """Waits while the reader has enough to take: this is what slows the reading down."""
        putting = self._queue.put(item)
        try:
            waiting = asyncio.run_coroutine_threadsafe(putting, self._loop)
        except RuntimeError:  # the loop is closed
            putting.close()
            return False
        try:
            waiting.result(PATIENCE * 2)
        except (TimeoutError, concurrent.futures.CancelledError):
            waiting.cancel()
            return False
        return True

    async def _send(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                item = await self._queue.get()
                if item is None:
                    await self._socket.close(1000)
                    return
                if isinstance(item, InstantStartError):
                    raise item
                text = item.model_dump_json(exclude_defaults=True)
                try:
                    await asyncio.wait_for(self._socket.send_text(text), PATIENCE)
                except TimeoutError:
                    await self._socket.close(1008, "slow: begin anew with the last cursor")
                    return

    async def _listen(self) -> None:
        """Until the reader goes; what it says is not read."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self._socket.receive_text()

    async def _watch_over(self) -> None:
        """Until the token is revoked or the session ends."""
        while await run_in_threadpool(self._allowed):
            await asyncio.sleep(RECHECK)
        await self._socket.close(1008, "NotLoggedIn")
