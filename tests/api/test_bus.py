"""The ring of events: order, coming back, gaps, slow readers, the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator

import pytest

from tests.waiting import PATIENCE
from web.events.bus import Bus, Event


def numbers(bus: Bus, last: str | None, count: int) -> list[tuple[str, object]]:
    """The kinds and payloads of the next events after `last`."""

    async def read() -> list[tuple[str, object]]:
        found: list[tuple[str, object]] = []
        stream = bus.follow(last)
        async with asyncio.timeout(PATIENCE):
            async for event in stream:
                found.append((event.kind, event.data.get("n", event.data.get("last"))))
                if len(found) == count:
                    break
        await stream.aclose()
        return found

    return asyncio.run(read())


def filled(count: int, *, kept: int = 10) -> Bus:
    bus = Bus(kept=kept, life="a")
    for number in range(1, count + 1):
        bus.publish("tick", {"n": number})
    return bus


@pytest.mark.parametrize(
    ("last", "expected", "why"),
    [
        ("a-18", [("tick", 19), ("tick", 20)], "what came since"),
        ("a-10", [("tick", 11)], "the oldest that is kept comes right after it"),
        ("a-9", [("gap", "a-9")], "one too old"),
        ("a-21", [("gap", "a-21")], "of a future that never was"),
        ("b-18", [("gap", "b-18")], "of another life of the service"),
        ("18", [("gap", "18")], "no id of ours"),
        ("a-x", [("gap", "a-x")], "no number"),
        ("a-٣", [("gap", "a-٣")], "no number of ours"),
        ("", [("gap", "")], "nothing is no id"),
    ],
)
def test_coming_back(last: str, expected: list[tuple[str, object]], why: str) -> None:
    assert numbers(filled(20), last, len(expected)) == expected, why


def test_after_a_gap_it_goes_on_with_what_is_new() -> None:
    bus = filled(20)

    async def read() -> list[tuple[str, object]]:
        stream = bus.follow("a-1")
        gap = await anext(stream)
        bus.publish("tick", {"n": 21})
        following = await anext(stream)
        again = bus.follow(gap.id)
        same = await anext(again)
        await stream.aclose()
        await again.aclose()
        assert same == following, "the gap's own id is good for coming back"
        return [(gap.kind, gap.data["last"]), (following.kind, following.data["n"])]

    assert asyncio.run(read()) == [("gap", "a-1"), ("tick", 21)]


def test_a_slow_reader_is_told_and_holds_nobody_up() -> None:
    bus = filled(1)

    async def read() -> list[tuple[str, object]]:
        slow: AsyncGenerator[Event] = bus.follow("a-0")
        found = [await anext(slow)]
        for number in range(2, 30):
            bus.publish("tick", {"n": number})
        found += [await anext(slow) for _ in range(3)]
        await slow.aclose()
        return [(event.kind, event.data.get("n")) for event in found]

    assert asyncio.run(read()) == [("tick", 1), ("gap", None), ("tick", 20), ("tick", 21)]


def test_many_threads_and_readers_see_one_order() -> None:
    bus = Bus(kept=10_000)

    async def read(started: threading.Barrier) -> list[object]:
        found: list[object] = []
        stream = bus.follow(f"{bus.life}-0")
        started.wait(PATIENCE)
        async for event in stream:
            found.append((event.number, event.data["n"]))
        return found

    def publish(start: int) -> None:
        for number in range(250):
            bus.publish("tick", {"n": start + number})

    started = threading.Barrier(4)
    results: list[list[object]] = []
    readers = [threading.Thread(target=lambda: results.append(asyncio.run(read(started)))) for _ in range(3)]
    for thread in readers:
        thread.start()
    started.wait(PATIENCE)
    writers = [threading.Thread(target=publish, args=(at * 1000,)) for at in range(4)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    bus.close()
    for thread in readers:
        thread.join(PATIENCE)
    assert len(results) == 3 and results[0] == results[1] == results[2]
    assert len(results[0]) == 1000 and bus.readers == 0
