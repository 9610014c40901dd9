"""The stream of events: what is journalled reaches whoever listens, at once."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.waiting import PATIENCE, until
from web.access.limits import Rates
from web.api.routes import events
from web.events.bus import Bus


@dataclass
class Heard:
    kind: str
    id: str
    data: dict[str, object]


@contextmanager
def listening(api: ApiBox, *, last: str | None = None, **params: str) -> Generator[Iterator[Heard]]:
    headers = {"Authorization": f"Bearer {api.token('read')}"} | ({"Last-Event-ID": last} if last is not None else {})
    with (
        httpx.Client(timeout=PATIENCE, trust_env=False) as client,
        client.stream("GET", f"{api.url}/api/v1/events", headers=headers, params=params) as answer,
    ):
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == ": open", "the reader knows that it is heard"
        yield _parsed(lines)


def _parsed(lines: Iterator[str]) -> Iterator[Heard]:
    told: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            told[name] = value
        elif "data" in told:
            yield Heard(told.get("event", ""), told.get("id", ""), json.loads(told["data"]))
            told = {}
        else:
            told = {}


def line_of(event: Heard) -> dict[str, Any]:
    return cast("dict[str, Any]", event.data.get("line", {}))


def test_a_line_reaches_an_open_stream_while_the_tick_goes_on(api: ApiBox) -> None:
    """How soon is measured by tests/bench/bench_events.py."""
    api.rig.commit({"cluster": cluster_yaml(), "groups": group_yaml("a")})
    with listening(api) as heard:
        loop = threading.Thread(target=api.rig.settle)
        loop.start()
        found: list[Heard] = []
        for event in heard:
            found.append(event)
            if line_of(event).get("stage") == "compute":
                break
        loop.join()
    numbers = [line_of(event)["seq"] for event in found]
    assert numbers == list(range(1, len(found) + 1)), "every line, once, in the journal's order"


def test_what_happens_right_after_the_stream_opened_is_heard() -> None:
    """Who reads `: open` counts on it, also while the stream has not yet been asked for more."""
    bus = Bus(life="a")
    bus.publish("tick", {"n": 1})

    async def read() -> tuple[bytes, bytes]:
        stream = events.stream(cast("Any", None), cast("Any", SimpleNamespace(bus=bus)), None, None)
        first = await anext(stream)
        bus.publish("tick", {"n": 2})
        async with asyncio.timeout(PATIENCE):
            second = await anext(stream)
        await stream.aclose()
        return first, second

    first, second = asyncio.run(read())
    assert first.startswith(b": open") and b'"n":2' in second and b'"n":1' not in second


def test_only_one_cluster_and_coming_back(api: ApiBox) -> None:
    bus = api.house.bus
    with listening(api, cluster="prod") as heard:
        bus.publish("journal", {"cluster": "dev", "line": {"seq": 1}})
        bus.publish("journal", {"cluster": "prod", "line": {"seq": 7}})
        bus.publish("change", {"id": "x", "state": "open"})
        first, second = next(heard), next(heard)
    assert (first.kind, first.data["cluster"]) == ("journal", "prod") and second.kind == "change"
    with listening(api, last=first.id) as heard:
        assert next(heard).id == second.id
    with listening(api, last="another-1") as heard:
        gap = next(heard)
        assert (gap.kind, gap.data) == ("gap", {"last": "another-1"})


def test_a_change_is_told_whoever_moved_it(api: ApiBox) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "groups": group_yaml("a")})
    proposer = api.client("read", "propose")
    with listening(api) as heard:
        edit = {"edit": "patch", "cluster": "prod", "kind": "InstanceGroup", "name": "a"}
        patch = [{"op": "replace", "path": "/spec/count", "value": 3}]
        asked = {"title": "One more", "edits": [{**edit, "patch": patch}]}
        made = proposer.post("/changes", json=asked)
        assert made.status_code == 201, made.text
        id_, head = made.json()["id"], made.json()["head"]
        opened = next(heard)
        assert (opened.kind, opened.data) == ("change", {"id": id_, "state": "open", "head": head})
        proposer.post(f"/changes/{id_}/comments", json={"text": "why not"})
        assert next(heard).data == {"id": id_, "state": "open", "head": head}, "a comment is a move as well"
        git = ["git", "-C", str(api.rig.path), "update-ref", "refs/heads/main", head]
        subprocess.run(git, check=True)
        api.house.watch.ring()  # as the end of a tick does
        assert next(heard).data == {"id": id_, "state": "merged", "head": head}, "pushed past us, and seen"


def test_a_restart_is_a_gap(api: ApiBox) -> None:
    api.house.bus.publish("tick", {"n": 1})
    last = f"{api.house.bus.life}-1"
    api.restart()
    with listening(api, last=last) as heard:
        assert next(heard).kind == "gap"


def test_who_lost_their_rights_hears_nothing_more(api: ApiBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_CHECK", 0.0)
    with listening(api) as heard:
        api.house.bus.publish("tick", {"n": 1})
        assert next(heard).data == {"n": 1}
        for record in api.house.access.tokens.all():
            api.house.access.tokens.revoke(record.id)
        api.house.bus.publish("tick", {"n": 2})
        assert list(heard) == [], "the stream ends"


def test_streams_have_a_limit_and_are_given_back(api: ApiBox) -> None:
    header = {"Authorization": f"Bearer {api.token('read')}"}
    limit = Rates().streams
    with httpx.Client(timeout=PATIENCE, trust_env=False, limits=httpx.Limits(max_connections=limit + 8)) as client:
        url = f"{api.url}/api/v1/events"
        open_ones = [client.send(client.build_request("GET", url, headers=header), stream=True) for _ in range(limit)]
        assert {answer.status_code for answer in open_ones} == {200}
        assert api.house.access.limits.open_streams == limit
        refused = client.get(url, headers=header)
        assert refused.status_code == 429 and refused.json()["reason"] == "TooManyStreams"
        assert int(refused.headers["retry-after"]) >= 1
        for answer in open_ones:
            answer.close()

    def left() -> int:
        api.house.bus.publish("tick", {})  # whoever is gone is noticed when there is something to say
        return api.house.access.limits.open_streams

    until(left, lambda streams: streams == 0)


def test_a_stop_does_not_wait_for_streams(api: ApiBox) -> None:
    with listening(api) as heard:
        ended = threading.Event()

        def read() -> None:
            assert list(heard) == []
            ended.set()

        reader = threading.Thread(target=read)
        reader.start()
        api.house.bus.close()
        assert ended.wait(PATIENCE), "the stream ends by itself"
        api.close()
        reader.join()
