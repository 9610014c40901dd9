"""Reads through the API over HTTP: the status of a cluster with 100 and 500 nodes while it is followed, one reader and
eight, and a mix of everything at 50 requests a second.

The readers are a process of their own; the service, the Kubernetes API that it follows and a scripted SageMaker share
the other one.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.api import livebox
from tests.api.livebox import KubeHost, LiveBox, machine, node, pod
from tests.bench.bench_client import SETTINGS
from tests.bench.measuring import python
from tests.bench.rows import Goal, Row, Size
from tests.live.aws_server import Answer, FakeAws

PODS = 6  # of a node
CLUSTER = "/api/v1/clusters/prod"
NOUNS = ("nodes", "groups", "drift", "resources", "timeline", "pods", "events")
MIX = ("/api/v1/clusters", CLUSTER, *(f"{CLUSTER}/{noun}" for noun in NOUNS))


def main(size: Size = Size.NORMAL) -> list[Row]:
    rows: list[Row] = []
    for nodes, limit in ((4, 3.0),) if size is Size.TINY else ((100, 3.0), (500, 20.0)):
        seconds = 1.0 if size is Size.TINY else 10.0
        with tempfile.TemporaryDirectory() as folder, service(Path(folder), nodes) as (box, token):
            rows += measured(box, token, nodes, limit, seconds, Path(folder))
    return rows


def measured(box: LiveBox, token: str, nodes: int, limit: float, seconds: float, where: Path) -> list[Row]:
    def read(readers: int, rate: float, *paths: str) -> Any:
        return python("readers", box.api.url, token, str(readers), str(rate), str(seconds), *paths, where=where)[1]

    read(1, 100, CLUSTER)  # whatever is made once
    one = read(1, 100, CLUSTER)
    listed = read(1, 20, f"{CLUSTER}/nodes?limit=500")
    alone, eight = read(1, 50, CLUSTER), read(8, 50, CLUSTER)
    mix = read(8, 50, *MIX)
    cold_one, cold_eight, asked = cold(box, token, 1), cold(box, token, 8), len(box.aws.calls("ListClusterNodes"))
    what = f"{nodes} nodes, {nodes * PODS} pods"
    return [
        Row(
            bench=f"status of a cluster, {what}: p50",
            measured=one["p50"],
            unit="ms",
            goal=Goal.AT_MOST,
            limit=limit,
            note=f"p95 {one['p95']:.2f} ms; {one['count']} requests, 100 a second; {one['bytes']:,} bytes",
        ),
        Row(
            bench=f"its nodes, all in one page, {what}: p50",
            measured=listed["p50"],
            unit="ms",
            goal=Goal.AT_MOST,
            limit=20,
            note=f"p95 {listed['p95']:.2f} ms; {listed['bytes']:,} bytes",
        ),
        Row(
            bench=f"eight readers of that status, 50 requests a second, {what}: p50",
            measured=eight["p50"],
            unit="ms",
            reference=alone["p50"],
            against="one reader with as many requests",
            goal=Goal.SHARE,
            limit=1.5,
        ),
        Row(
            bench=f"eight readers together of a cluster that nobody followed, {what}",
            measured=cold_eight,
            unit="ms",
            reference=cold_one,
            against="one reader of it",
            goal=Goal.SHARE,
            limit=1.5,
            note=f"each is a new service; in all {asked} listings of nodes, pages and all",
        ),
        Row(
            bench=f"all reads in turn, 50 requests a second, {what}: p95",
            measured=mix["p95"],
            unit="ms",
            goal=Goal.AT_MOST,
            limit=50,
            note=f"p50 {mix['p50']:.2f} ms, p99 {mix['p99']:.2f} ms; fleet, status, nodes, groups, drift, resources, "
            "timeline, pods, events",
        ),
    ]


def cold(box: LiveBox, token: str, readers: int) -> float:
    """Milliseconds until all readers have the nodes of a cluster that was not followed before."""
    box.api.house.reads.forget("prod")
    header = {"Authorization": f"Bearer {token}"}
    clients = [box.api.anybody(header) for _ in range(readers)]
    for client in clients:
        client.get("/version").raise_for_status()

    def ask(client: httpx.Client) -> None:
        client.get("/clusters/prod/nodes?limit=500").raise_for_status()

    start = time.perf_counter()
    threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - start) * 1000


@contextmanager
def service(root: Path, nodes: int) -> Generator[tuple[LiveBox, str]]:
    """A cluster that is Ready and followed; half of its GPUs are in use."""
    before, fake, host = dict(os.environ), FakeAws(), KubeHost()
    os.environ.update({**SETTINGS, "AWS_ENDPOINT_URL": fake.url})
    try:
        box = livebox.make(root, fake, host.new())
        names = [f"i-{number:017x}" for number in range(nodes)]
        pages = [[machine(name) for name in names[at : at + 100]] for at in range(0, nodes, 100)]

        def listed(asked: dict[str, Any]) -> Answer:
            at = int(asked.get("NextToken") or 0)
            more = {"NextToken": str(at + 1)} if at + 1 < len(pages) else {}
            return Answer(json={"ClusterNodeSummaries": pages[at], **more})

        box.says["ListClusterNodes"] = listed
        bodies = [node(name) for name in names]
        pods = [pod(f"p-{name}-{n}", on=name, gpus=n % 2) for name in names for n in range(PODS)]
        for some in (bodies, pods):
            box.kube.map(lambda body: box.kube.create(body, op="bench"), some)
        box.kube.map(box.status, bodies)
        box.ready().get("/clusters/prod/nodes").raise_for_status()
        yield box, box.api.token("read")
        box.close()
    finally:
        host.servers.close()
        fake.close()
        os.environ.clear()
        os.environ.update(before)


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
