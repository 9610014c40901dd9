"""SageMaker with thousands of nodes, in a process of its own: answers that stand in a file, told again and again.

The file is JSON: {"DescribeCluster": answer, "ListTags": answer, "ListClusterNodes": [page, …]}. Prints its URL;
`GET /asked` says how often each operation was called since the last time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.measuring import ROOT, environment
from tests.live.aws_server import Answer, FakeAws, Seen

PAGE = 100  # nodes of one answer, at most


@dataclass(frozen=True, kw_only=True)
class Nodes:
    url: str
    pid: int

    def asked(self) -> Counter[str]:
        """Calls of each operation since this was asked last."""
        with urllib.request.urlopen(f"{self.url}/asked", timeout=30) as answer:
            return Counter(json.loads(answer.read()))


@contextmanager
def served(folder: Path, answers: Mapping[str, Any]) -> Generator[Nodes]:
    file = folder / "answers.json"
    file.write_text(json.dumps(answers))
    command = [sys.executable, "-m", "tests.bench.many_nodes", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as child:
        try:
            assert child.stdout is not None
            yield Nodes(url=child.stdout.readline().strip(), pid=child.pid)
        finally:
            child.kill()


def pages(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Answers of ListClusterNodes, each with the token of the next."""
    parts = [nodes[at : at + PAGE] for at in range(0, len(nodes), PAGE)]
    tokens = [{"NextToken": f"page-{n + 1}"} if n + 1 < len(parts) else {} for n in range(len(parts))]
    return [{"ClusterNodeSummaries": part, **token} for part, token in zip(parts, tokens, strict=True)]


def node(number: int, group: str, kind: str) -> dict[str, Any]:
    return {
        "InstanceGroupName": group,
        "InstanceId": f"i-{number:017x}",
        "InstanceType": kind,
        "LaunchTime": 1790000000,
        "InstanceStatus": {"Status": "Running"},
        "PrivateDnsHostname": f"ip-10-1-{number // 256}-{number % 256}",
        "CurrentImageReleaseVersion": "1.0.20",
        "ImageVersionStatus": "UpToDate",
    }


def main() -> None:
    said: Any = json.loads(Path(sys.argv[1]).read_bytes())
    told = {f"{name} 0": _answer(said[name]) for name in ("DescribeCluster", "ListTags")}
    told.update({f"ListClusterNodes {number}": _answer(page) for number, page in enumerate(said["ListClusterNodes"])})
    asked: Counter[str] = Counter()

    def answer(seen: Seen) -> Answer:
        if not seen.operation:
            counts = dict(asked)
            asked.clear()
            return Answer(json=counts)
        asked[seen.operation] += 1
        fake.seen.clear()
        token = json.loads(seen.body).get("NextToken") or "page-0"
        return told[f"{seen.operation} {str(token).removeprefix('page-')}"]

    fake = FakeAws()
    fake.script = answer
    print(fake.url, flush=True)
    threading.Event().wait()


def _answer(body: Any) -> Answer:
    return Answer(raw=json.dumps(body).encode())


if __name__ == "__main__":
    main()
