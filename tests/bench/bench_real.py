"""The benches of apply and of a plan without changes once more, on a real API server: only where one was built.

Its goals are those without latency: never slower than kubectl. The server is most of the cost.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.bench import bench_apply, bench_diff
from tests.bench.kube_objects import real_api_server
from tests.bench.rows import Goal, Row, Size
from tests.kube_servers.assets import Missing, find

START_SECONDS = 20


def main(size: Size = Size.NORMAL) -> list[Row]:
    try:
        find()
    except Missing as missing:
        print(missing, file=sys.stderr)
        return []
    # `kubectl diff` takes a quarter of a second for an object.
    count, compared = {Size.TINY: (8, 8), Size.NORMAL: (1000, 200), Size.FULL: (4000, 1000)}[size]
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with real_api_server(Path(folder)) as api:
            started = Row(
                bench="a real API server: from nothing to ready",
                measured=time.perf_counter() - began,
                unit="s",
                goal=Goal.AT_MOST,
                limit=START_SECONDS,
                note="etcd, kube-apiserver and its controllers, built before",
            )
            if size is not Size.TINY:
                bench_apply.pair(api, 4, "warm")  # the server's first requests load what it needs
            rows = [started, bench_diff.verdicts(api, 24 if size is Size.TINY else 240)]
            rows += bench_apply.measured(api, count, 0.0, 1 if size is Size.TINY else 3)
            return rows + bench_diff.measured(api, compared, 0.0, 1)


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
