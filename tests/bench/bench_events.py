"""From a journal line that was accepted to the open streams that hear of it, and small answers at fifty a second: a
whole service over HTTP, with its engine at work beside it."""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx

from tests.api.apibox import ApiBox, make
from tests.bench.rows import Goal, Row, Size
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.waiting import PATIENCE, until

_RATE = 50  # requests a second


def main(size: Size = Size.NORMAL) -> list[Row]:
    clusters, streams, asked = (2, 2, 20) if size is Size.TINY else (10, 4, 500)
    with tempfile.TemporaryDirectory() as folder:
        box = make(Path(folder))
        try:
            return [_lines(box, clusters, streams), _answers(box, asked)]
        finally:
            box.close()


def _lines(box: ApiBox, clusters: int, streams: int) -> Row:
    """Every line to every stream, measured from the moment at which the push was accepted."""
    for number in range(clusters):
        name = f"cluster-{number}"
        box.rig.commit({"cluster": cluster_yaml(name), "groups": group_yaml("a")}, cluster=name)
    accepted: list[float] = []
    ready = threading.Barrier(streams + 1)
    heard: list[list[tuple[float, str]]] = [[] for _ in range(streams)]
    url, token = f"{box.url}/api/v1/events", box.token("read")
    threads = [threading.Thread(target=_listen, args=(url, token, ready, found)) for found in heard]
    for thread in threads:
        thread.start()
    ready.wait(PATIENCE)
    watch = box.house.watch

    def told() -> None:
        accepted.append(time.perf_counter())
        watch.ring()

    box.rig.engine.on_lines = told
    box.rig.settle()
    lines = sum(len(box.rig.lines(f"cluster-{number}")) for number in range(clusters))
    until(lambda: min(len(found) for found in heard), lambda least: least >= lines)
    box.house.bus.close()
    for thread in threads:
        thread.join(PATIENCE)
    assert {len(found) for found in heard} == {lines}, "every stream heard every line"
    delays = [at - max(one for one in accepted if one <= at) for found in heard for at, _ in found]
    return Row(
        bench=f"journal line to {streams} open streams, {clusters} clusters, {lines} lines",
        measured=max(delays) * 1000,
        unit="ms",
        goal=Goal.AT_MOST,
        limit=300,
        note=f"the longest; median {statistics.median(delays) * 1000:.0f} ms; readers and service share a process",
    )


def _listen(url: str, token: str, ready: threading.Barrier, found: list[tuple[float, str]]) -> None:
    header = {"Authorization": f"Bearer {token}"}
    with (
        httpx.Client(timeout=60, trust_env=False) as client,
        client.stream("GET", url, headers=header) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines) == ": open"
        ready.wait(PATIENCE)
        for line in lines:
            if line.startswith("data: "):
                told = json.loads(line[6:])
                if "line" in told:
                    found.append((time.perf_counter(), told["cluster"]))


def _answers(box: ApiBox, asked: int) -> Row:
    """What a small read costs with its token, guard and counting; sent at a steady rate, late ones counted as late."""
    took: list[float] = []
    with box.client("read") as client:
        began = time.perf_counter()
        for number in range(asked):
            due = began + number / _RATE
            time.sleep(max(0.0, due - time.perf_counter()))
            assert client.get("/version").status_code == 200
            took.append(time.perf_counter() - due)
    return Row(
        bench=f"GET /version at {_RATE} a second, p95",
        measured=statistics.quantiles(took, n=20)[-1] * 1000,
        unit="ms",
        goal=Goal.AT_MOST,
        limit=50,
        note=f"median {statistics.median(took) * 1000:.1f} ms; what every request pays",
    )


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
