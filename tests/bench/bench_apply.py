"""Many mixed objects onto a cluster: ours against `kubectl apply --server-side`. Whole processes, pair by pair."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.kube_objects import Api, api_server, mixed, written
from tests.bench.measuring import Run, median, python
from tests.bench.rows import Goal, Row, Size


def main(size: Size = Size.NORMAL) -> list[Row]:
    counts = {Size.TINY: [8], Size.NORMAL: [1000], Size.FULL: [1000, 4000]}[size]
    rows: list[Row] = []
    for latency in (0.0,) if size is Size.TINY else (0.010, 0.0):
        with tempfile.TemporaryDirectory() as folder, api_server(Path(folder), latency=latency) as api:
            if size is not Size.TINY:
                pair(api, 4, "warm")  # the server's first requests load what it needs
            for count in counts:
                pairs = 1 if (latency and count > 1000) or size is Size.TINY else 2 if latency else 5
                rows += measured(api, count, latency, pairs)
    return rows


def measured(api: Api, count: int, latency: float, pairs: int) -> list[Row]:
    runs = [pair(api, count, f"n{count}-{number}") for number in range(pairs)]
    warm, again, kubectl, whole = (median([one[part] for one in runs]) for part in range(4))
    what = f"apply {count} objects, {api.about}"
    against = "kubectl apply --server-side"
    least = (12.0 if count >= 4000 else 10.0) if latency else 1.0
    return [
        Row(
            bench=f"{what}: wall",
            measured=warm.wall,
            unit="s",
            reference=kubectl.wall,
            against=against,
            goal=Goal.FASTER,
            limit=least,
            note=f"median of {pairs} pairs, first apply by a client that runs already",
        ),
        Row(
            bench=f"{what}: client CPU",
            measured=warm.cpu,
            unit="s",
            reference=kubectl.cpu,
            against=against,
            goal=Goal.SHARE,
            limit=0.6,
        ),
        Row(
            bench=f"{what}: wall of a whole process",
            measured=whole.wall - again.wall,
            unit="s",
            reference=kubectl.wall,
            against=against,
            note=f"start, imports and reading the files included; CPU {whole.cpu - again.cpu:.2f} s; "
            f"applied once more without a change: {again.wall:.2f} s",
        ),
    ]


def pair(api: Api, count: int, name: str) -> tuple[Run, Run, Run, Run]:
    """The same objects into two fresh namespaces: ours first and once more, theirs, and our whole process."""
    for who in ("ours", "theirs"):
        api.namespace(f"{who}-{name}")
    ours = written(mixed(count, f"ours-{name}"), api.home / f"ours-{name}")
    theirs = written(mixed(count, f"theirs-{name}"), api.home / f"theirs-{name}")
    whole, told = python("kube_client", "apply", str(api.described()), str(ours), where=api.home)
    kubectl = api.kubectl("apply", "--server-side", "-f", str(theirs))
    assert kubectl.out.count("serverside-applied") == count, kubectl.out[-500:]
    return Run(**told["first"]), Run(**told["again"]), kubectl, whole


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
