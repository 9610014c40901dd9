"""A whole small cloud in a process of its own, a config repository, and an engine on both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.engine.tick import Engine
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.resources.registry import handlers
from reconciler.sandbox.chart import make_chart_repository
from schemas.journal import ClusterStatus, Condition
from tests.bench.measuring import ROOT, environment
from tests.config_repo.gitbox import ALICE

CLUSTER, REGION = "prod", "us-west-2"
CHART = "https://charts.example/hyperpod"


@dataclass(kw_only=True)
class Site:
    """`rate`: simulated seconds per real second. `pid`: of the cloud."""

    endpoint: str
    account: str
    engine: Engine
    chart: tuple[str, str]
    rate: float
    pid: int

    def commit(self, **files: str) -> str:
        changes: dict[str, bytes | None] = {
            f"clusters/{CLUSTER}/{name}.yaml": text.encode() for name, text in files.items()
        }
        repo = self.engine.repo
        return repo.commit(onto=repo.head(), changes=changes, message="change", author=ALICE)

    def cluster_document(self) -> str:
        path, commit = self.chart
        return f"""apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: {CLUSTER}
spec:
  account: "{self.account}"
  region: {REGION}
  kubernetesVersion: "1.33"
  dependencies:
    chart:
      repository: {CHART}
      path: {path}
      commit: {commit}
"""

    def settle(self, revision: str, limit: float) -> ClusterStatus:
        """Tick when the engine wants to, as its loop does, until this revision is Ready."""
        end = time.monotonic() + limit
        while True:
            result = self.engine.tick()
            if result.problem is not None:
                raise RuntimeError(result.problem)
            status = self.engine.memories[CLUSTER].status()
            if status.rev == revision and status.condition is Condition.READY:
                return status
            if status.condition is Condition.STALLED or time.monotonic() > end:
                raise RuntimeError(f"{status.condition.value} {status.reason}: {status.msg}")
            time.sleep(max(0.002, result.wake / self.rate))

    def wake(self) -> None:
        """Everything is due in the next tick."""
        for memory in self.engine.memories.values():
            memory.wake = 0.0

    def client(self, service: str) -> Any:
        untyped: Any = boto3
        return untyped.client(service, region_name=REGION)

    def post(self, door: str, body: Mapping[str, Any]) -> Any:
        asked = urllib.request.Request(f"{self.endpoint}/_sandbox{door}", data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())

    def log(self, since: int = 0) -> list[dict[str, Any]]:
        """Requests that the product sent, from the sandbox's own log."""
        with urllib.request.urlopen(f"{self.endpoint}/_sandbox/log?since={since}", timeout=60) as answer:
            entries: list[dict[str, Any]] = json.loads(answer.read())
        return [entry for entry in entries if "instantstart" in str(entry.get("userAgent"))]


@contextmanager
def site(root: Path, rate: float) -> Generator[Site]:
    """Where the cloud is stands in the environment, as always; it is put back at the end."""
    command = [sys.executable, "-m", "reconciler.sandbox", "--port", "0", "--rate", str(rate)]
    before = dict(os.environ)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as child:
        engine: Engine | None = None
        try:
            assert child.stdout is not None
            about = json.loads(child.stdout.readline())
            chart = make_chart_repository(root / "chart")
            os.environ.update(
                AWS_ENDPOINT_URL=about["endpoint"],
                AWS_ACCESS_KEY_ID=about["access_key"],
                AWS_SECRET_ACCESS_KEY=about["secret_key"],
                AWS_REGION=REGION,
                AWS_CONFIG_FILE=str(root / "none"),
                AWS_SHARED_CREDENTIALS_FILE=str(root / "none"),
                AWS_EC2_METADATA_DISABLED="true",
                INSTANTSTART_CHART_MIRROR=f"{CHART}={chart[0]}",
            )
            engine = _engine(root, Clock(rate, origin=about["origin"]))
            yield Site(
                endpoint=about["endpoint"],
                account=about["account"],
                engine=engine,
                chart=chart[1:],
                rate=rate,
                pid=child.pid,
            )
        finally:
            if engine is not None:
                engine.pool.shutdown(wait=True)
                engine.close()
            os.environ.clear()
            os.environ.update(before)
            child.terminate()
            try:
                child.wait(15)
            except subprocess.TimeoutExpired:
                child.kill()


def _engine(root: Path, clock: Clock) -> Engine:
    init_repository(root / "config", {"README.md": b"x"}, branch="main", author=ALICE)
    return Engine(
        repo=ConfigRepo.open(str(root / "config"), state_dir=root / "state", writer="bench"),
        accounts=AwsAccounts(),
        handlers=handlers(),
        clock=clock,
        pool=ThreadPoolExecutor(16),
        state_dir=root / "state",
        writer="bench",
    )
