"""The product's Kubernetes client in a process of its own, so that all it costs can be seen from outside.

`apply` twice, or `compare` a few times on a warm client. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import FixedToken
from tests.bench.measuring import memory_peak, repeated, timed


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["apply", "compare"])
    parser.add_argument("api", type=Path)
    parser.add_argument("objects", type=Path)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as the product takes by itself")
    asked = parser.parse_args()
    api: Any = orjson.loads(asked.api.read_bytes())
    objects: list[Any] = [orjson.loads(path.read_bytes()) for path in sorted(asked.objects.iterdir())]
    threads = {"threads": asked.threads} if asked.threads else {}
    with KubeCluster(api["endpoint"], api["ca"], FixedToken(api["token"]), **threads) as cluster:
        if asked.what == "apply":
            cluster.apply(objects[:4], op="bench", dry_run=True)  # a reconciler is warm: it knows what is served
            first, again = (timed(lambda: cluster.apply(objects, op="bench")) for _ in range(2))
            print(json.dumps({"first": vars(first), "again": vars(again)}))
            return
        verdicts = Counter(c.state.value for c in cluster.compare(objects))
        run = repeated(lambda: cluster.compare(objects), 5)
        print(json.dumps({"wall": run.wall, "cpu": run.cpu, "peak": memory_peak(), "verdicts": verdicts}))


if __name__ == "__main__":
    main()
