"""A whole tick that finds nothing to do: what it asks, and what it costs, beside a plain listing of the same nodes.

The sandbox simulates every node with its pods, and the subnet of a zone has room for some 680. So the cluster is made
there with one node a group, and then SageMaker's part is told by a server that shows each of them 50 times; all else
goes on being the sandbox.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.many_nodes import PAGE, Nodes, node, pages, served
from tests.bench.measuring import Run, family_cpu, median
from tests.bench.rows import Goal, Row, Size
from tests.bench.site import CLUSTER, Site, site

RATE = 600.0
KIND = "ml.t3.medium"
BATCH = 20  # groups of one commit: the intent of one call names all its actions in a line of 2 KiB
# groups, nodes of each
SHAPES = {Size.TINY: ((2, 60),), Size.NORMAL: ((20, 50), (100, 50)), Size.FULL: ((20, 50), (100, 50))}


def main(size: Size = Size.NORMAL) -> list[Row]:
    return [row for groups, each in SHAPES[size] for row in of_shape(groups, each)]


def of_shape(groups: int, each: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, site(Path(folder), RATE) as place:
        quota = {"account": place.account, "name": f"{KIND} for cluster usage", "value": groups * each + 10}
        place.post("/quota", quota)
        start = time.monotonic()
        for first in range(0, groups, BATCH):
            place.settle(commit(place, first, min(first + BATCH, groups), 1), limit=600)
        made = time.monotonic() - start
        with many(place, Path(folder), each) as nodes:
            revisions = [commit(place, n, min(n + BATCH, groups), each) for n in range(0, groups, BATCH)]
            place.settle(revisions[-1], limit=120)
            return measured(place, nodes, groups, groups * each, made)


def commit(place: Site, first: int, end: int, each: int) -> str:
    text = "".join(group(f"group-{n}", each, n % 3 + 1) for n in range(first, end))
    return place.commit(cluster=place.cluster_document(), **{f"groups-{first}": text})


def measured(place: Site, fake: Nodes, groups: int, nodes: int, made: float) -> list[Row]:
    servers = (place.pid, fake.pid)
    place.wake()
    place.engine.tick()  # settled, and warm
    since = max(entry["seq"] for entry in place.log())
    fake.asked()
    runs: list[Run] = []
    lines = sent = 0
    for _ in range(5):
        place.wake()
        cpu, start = family_cpu(servers), time.perf_counter()
        result = place.engine.tick()
        runs.append(Run(wall=time.perf_counter() - start, cpu=family_cpu(servers) - cpu))
        assert result.clusters == [CLUSTER]
        lines, sent = lines + result.lines, sent + result.sent
    log = place.log(since)
    asked = Counter(f"{entry['service']}:{entry['operation']}" for entry in log)
    asked.update({f"sagemaker:{operation}": count for operation, count in fake.asked().items()})
    read = asked["sagemaker:ListClusterNodes"] / len(runs)
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
            note=f"{tick.cpu / plain.cpu:.2f} × it; of this process and its git; wall {tick.wall:.2f} s to "
            f"{plain.wall:.2f} s; made in {made:.0f} s",
        ),
        Row(
            bench=f"{what}: pages of nodes read",
            measured=read,
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


@contextmanager
def many(place: Site, folder: Path, each: int) -> Generator[Nodes]:
    """From now on each group has so many nodes."""
    sagemaker: Any = place.client("sagemaker")
    cluster = told(sagemaker.describe_cluster(ClusterName=CLUSTER))
    tags = told(sagemaker.list_tags(ResourceArn=cluster["ClusterArn"]))
    names = [group["InstanceGroupName"] for group in cluster["InstanceGroups"]]
    for one in cluster["InstanceGroups"]:
        one.update(CurrentCount=each, TargetCount=each)
    nodes = pages([node(n, names[n // each], KIND) for n in range(len(names) * each)])
    answers = {"DescribeCluster": cluster, "ListTags": tags, "ListClusterNodes": nodes}
    with served(folder, answers) as fake:
        os.environ["AWS_ENDPOINT_URL_SAGEMAKER"] = fake.url
        place.engine.accounts.close()  # clients made from now on find the other server
        yield fake


def told(value: Any) -> Any:
    """An answer of boto3 as it was on the wire."""
    held: Any = value
    match value:
        case datetime():
            return value.timestamp()
        case dict():
            return {name: told(member) for name, member in held.items() if name != "ResponseMetadata"}
        case list():
            return [told(item) for item in held]
        case _:
            return held


def listing(place: Site, nodes: int) -> Run:
    client = place.client("sagemaker")
    listed = client.get_paginator("list_cluster_nodes")
    cpu, start = time.process_time(), time.perf_counter()
    found = [
        one
        for page in listed.paginate(ClusterName=CLUSTER, PaginationConfig={"PageSize": PAGE})
        for one in page["ClusterNodeSummaries"]
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
  instanceType: {KIND}
  count: {count}
  zone: usw2-az{zone}
"""


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
