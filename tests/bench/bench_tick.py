"""A whole tick that finds nothing to do: what it asks, and what it costs, beside a plain listing of the same nodes.

The sandbox simulates every node with its pods, and the subnet of a zone has room for some 680: the bench
`nodes` shows 5,000.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.bench.measuring import Run, family_cpu, median
from tests.bench.rows import Goal, Row, Size
from tests.bench.site import CLUSTER, Site, site

PAGE = 100  # nodes of one answer, at most
RATE = 600.0
BATCH = 20  # groups of one commit: the intent of one call names all its actions in a line of 2 KiB
# groups, nodes of each
SHAPES = {Size.TINY: (2, 2), Size.NORMAL: (20, 6), Size.FULL: (100, 18)}


def main(size: Size = Size.NORMAL) -> list[Row]:
    groups, each = SHAPES[size]
    with tempfile.TemporaryDirectory() as folder, site(Path(folder), RATE) as place:
        place.post(
            "/quota",
            {"account": place.account, "name": "ml.t3.medium for cluster usage", "value": groups * each + 10},
        )
        start = time.monotonic()
        for first in range(0, groups, BATCH):
            numbers = range(first, min(first + BATCH, groups))
            files = {f"groups-{first}": "".join(group(f"group-{n}", each, n % 3 + 1) for n in numbers)}
            place.settle(place.commit(cluster=place.cluster_document(), **files), limit=600)
        made = time.monotonic() - start
        return measured(place, groups, groups * each, made)


def measured(place: Site, groups: int, nodes: int, made: float) -> list[Row]:
    place.wake()
    place.engine.tick()  # settled, and warm
    since = max(entry["seq"] for entry in place.log())
    runs: list[Run] = []
    lines = sent = 0
    for _ in range(5):
        place.wake()
        cpu, start = family_cpu(), time.perf_counter()
        result = place.engine.tick()
        runs.append(Run(wall=time.perf_counter() - start, cpu=family_cpu() - cpu))
        assert result.clusters == [CLUSTER]
        lines, sent = lines + result.lines, sent + result.sent
    log = place.log(since)
    asked = Counter(f"{entry['service']}:{entry['operation']}" for entry in log)
    pages = asked["sagemaker:ListClusterNodes"] / len(runs)
    mutations = sum(bool(entry["mutating"]) for entry in log if entry["service"] != "kubernetes" or entry["op"])
    plain = median([listing(place, nodes) for _ in range(3)])
    tick = median(runs)
    what = f"no-op tick, {groups} groups, {nodes} nodes"
    others = ", ".join(f"{n / len(runs):g} {name}" for name, n in asked.most_common(6))
    return [
        Row(
            bench=f"{what}: CPU",
            measured=tick.cpu,
            unit="s",
            reference=plain.cpu,
            against="the same nodes listed by plain boto3 in one thread",
            goal=Goal.AT_MOST,
            limit=0.5,
            note=f"of this process and its git; wall {tick.wall:.2f} s to {plain.wall:.2f} s; made in {made:.0f} s",
        ),
        Row(
            bench=f"{what}: pages of nodes read",
            measured=pages,
            unit="calls",
            reference=math.ceil(nodes / PAGE),
            against="as many as there are",
            goal=Goal.SAME,
            note=f"{sum(asked.values()) / len(runs):g} calls in all, most: {others}",
        ),
        Row(
            bench=f"{what}: mutations and lines",
            measured=mutations + sent + lines,
            unit="",
            reference=0,
            against="nothing to do, nothing said",
            goal=Goal.SAME,
        ),
    ]


def listing(place: Site, nodes: int) -> Run:
    client = place.client("sagemaker")
    pages = client.get_paginator("list_cluster_nodes")
    cpu, start = time.process_time(), time.perf_counter()
    found = [
        node
        for page in pages.paginate(ClusterName=CLUSTER, PaginationConfig={"PageSize": PAGE})
        for node in page["ClusterNodeSummaries"]
    ]
    run = Run(wall=time.perf_counter() - start, cpu=time.process_time() - cpu)
    assert len(found) == nodes
    return run


def group(name: str, count: int, zone: int = 2) -> str:
    return f"""---
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: {name}
spec:
  instanceType: ml.t3.medium
  count: {count}
  zone: usw2-az{zone}
"""


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
