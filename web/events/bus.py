"""A ring of numbered events. Any thread publishes; each reader has its own position, so a slow one holds nobody up.

An id is `<life>-<number>`: the life of this process and a number that counts without gaps. A reader that comes back
with an id gets what came since; with one that is too old, or of another life, it is told of the gap, and reads again
what it shows.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from schemas.values import JsonObject

KEPT = 5000
Kind: TypeAlias = Literal["journal", "change", "tick", "gap"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """`wire`: as a stream sends it, made once for all readers."""

    id: str
    number: int
    kind: Kind
    data: JsonObject
    wire: bytes


class Bus:
    def __init__(self, *, kept: int = KEPT, life: str | None = None) -> None:
        self.life = life or secrets.token_hex(4)
        self._events: deque[Event] = deque(maxlen=kept)
        self._number = 0
        self._lock = threading.Lock()
        self._waiting: set[_Waiting] = set()
        self._closed = False

    @property
    def newest(self) -> str:
        """The id of the newest event: who follows from it misses nothing that is published after this moment."""
        with self._lock:
            return self._id(self._number)

    @property
    def readers(self) -> int:
        return len(self._waiting)

    def publish(self, kind: Kind, data: JsonObject) -> None:
        """From any thread; never blocks for a reader."""
        with self._lock:
            self._number += 1
            self._events.append(self._event(self._number, kind, data))
            waiting = list(self._waiting)
        for reader in waiting:
            reader.wake()

    def close(self) -> None:
        """Every stream ends once it has what was published before."""
        with self._lock:
            self._closed = True
            waiting = list(self._waiting)
        for reader in waiting:
            reader.wake()

    async def follow(self, last: str | None = None) -> AsyncGenerator[Event]:
        """Events after the one with the id `last`; without one, those from now on. Ends when the bus is closed."""
        async with aclosing(self.batches(last)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def batches(self, last: str | None = None, *, idle: float | None = None) -> AsyncGenerator[list[Event]]:
        """As `follow`, with all that is there at a time together, so that a stream is written to once for it. After
        `idle` seconds without any an empty one."""
        waiting = _Waiting(asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.add(waiting)
            position, gap = self._position(last)
            start = self._number
        try:
            if gap:
                yield [self._event(start, "gap", {"last": last})]
                position = start
            while True:
                waiting.event.clear()
                fresh, missed, closed = self._after(position)
                if missed:
                    position = fresh[0].number - 1
                    fresh.insert(0, self._event(position, "gap", {"last": self._id(position)}))
                if fresh:
                    position = fresh[-1].number
                    yield fresh
                elif closed:
                    return
                elif not await waiting.rung(idle):
                    yield []
        finally:
            with self._lock:
                self._waiting.discard(waiting)

    def _after(self, position: int) -> tuple[list[Event], bool, bool]:
        """What came since, whether the ring has lost some of it, and whether nothing more will come."""
        with self._lock:
            if position >= self._number:
                return [], False, self._closed
            oldest = self._events[0].number
            first = max(position + 1, oldest)
            fresh = [self._events[at] for at in range(first - oldest, len(self._events))]
            return fresh, first > position + 1, self._closed

    def _position(self, last: str | None) -> tuple[int, bool]:
        if last is None:
            return self._number, False
        life, _, number = last.rpartition("-")
        if life != self.life or not number.isascii() or not number.isdecimal():
            return self._number, True
        position = int(number)
        oldest = self._events[0].number if self._events else self._number + 1
        return position, position > self._number or position + 1 < oldest

    def _event(self, number: int, kind: Kind, data: JsonObject) -> Event:
        id = self._id(number)
        wire = f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\nid: {id}\n\n".encode()
        return Event(id=id, number=number, kind=kind, data=data, wire=wire)

    def _id(self, number: int) -> str:
        return f"{self.life}-{number}"


class _Waiting:
    """A reader's bell, rung from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
        self.loop = loop
        self.event = event

    async def rung(self, seconds: float | None) -> bool:
        """False: it was not, for so long."""
        try:
            await asyncio.wait_for(self.event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def wake(self) -> None:
        with suppress(RuntimeError):  # its loop has ended, and the reader with it
            self.loop.call_soon_threadsafe(self.event.set)
