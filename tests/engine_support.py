"""A config repository, an engine on it, and an account of the sandbox: a commit goes in, a cluster comes out."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.engine.kubes import Kubes
from reconciler.engine.preflight import Preflight
from reconciler.engine.tick import Engine, Result
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.aws.sessions import Patience
from reconciler.live.clock import Clock
from reconciler.resources.registry import handlers
from reconciler.sandbox.chart import make_chart_repository
from schemas.journal import ClusterStatus, Condition
from tests.aws_environment import aws_environment
from tests.waiting import PATIENCE

RATE = 600.0
BY_HAND = "by-hand"  # in the user agent of what a test does past the engine
AUTHOR = ("Engineer", "engineer@example.com")
CHART = "https://charts.example/hyperpod"
_ACCOUNTS = itertools.count(444400000000)
SETTLED = (Condition.READY, Condition.STALLED, Condition.GONE)


def cluster_yaml(account: str, chart: tuple[str, str], name: str = "prod", extra: str = "") -> str:
    path, commit = chart
    return f"""apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: {name}
spec:
  account: "{account}"
  region: us-west-2
  kubernetesVersion: "1.33"
  dependencies:
    chart:
      repository: {CHART}
      path: {path}
      commit: {commit}
{extra}"""


def group_yaml(name: str, type_: str = "ml.m5.2xlarge", count: int = 2, extra: str = "") -> str:
    return f"""---
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: {name}
spec:
  instanceType: {type_}
  count: {count}
  zone: usw2-az2
{extra}"""


STORAGE = """---
apiVersion: instantstart/v1
kind: Storage
metadata:
  name: shared
spec:
  s3: {}
"""
GPU = group_yaml("gpu", "ml.g5.8xlarge", 2, "  interface: efa\n  volume:\n    sizeGiB: 500\n")
POLICY = """apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: [replace]
"""


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """One account of a sandbox that runs in a process of its own, as in the demo."""

    endpoint: str
    origin: float
    account: str = ""
    access_key: str = ""
    secret_key: str = ""
    region: str = "us-west-2"

    def of_account(self, account: str) -> Sandbox:
        keys = self.post("/accounts", {"account": account})
        return replace(self, account=account, access_key=keys["access_key"], secret_key=keys["secret_key"])

    def client(self, service: str) -> Any:
        boto: Any = boto3
        return boto.client(
            service,
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name=self.region,
            config=Config(user_agent_extra=BY_HAND),
        )

    def get(self, door: str) -> Any:
        with urllib.request.urlopen(f"{self.endpoint}/_sandbox{door}", timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def post(self, door: str, body: Any) -> Any:
        asked = urllib.request.Request(f"{self.endpoint}/_sandbox{door}", data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def delete(self, door: str) -> None:
        asked = urllib.request.Request(f"{self.endpoint}/_sandbox{door}", method="DELETE")
        with urllib.request.urlopen(asked, timeout=PATIENCE):
            pass

    def log(self) -> list[dict[str, Any]]:
        """This account's requests to AWS."""
        return [entry for entry in self.get("/log") if entry["account"] == self.account]

    def whole_log(self) -> list[dict[str, Any]]:
        """And those to the Kubernetes APIs of its clusters."""
        mine = f"{self.account}/"
        return [e for e in self.get("/log") if e["account"] == self.account or str(e.get("cluster")).startswith(mine)]


@dataclass(kw_only=True)
class Site:
    """One account, one repository, one engine (that can be started again)."""

    sandbox: Sandbox
    path: Path
    state: Path
    chart: tuple[str, str]
    cluster: str = "prod"
    location: str = ""
    patience: Patience | None = None
    pause: Callable[[float], None] = time.sleep  # between the tries of a read of Kubernetes
    clock: Clock = field(init=False)
    _engine: Engine | None = None

    def __post_init__(self) -> None:
        self.clock = Clock(RATE, origin=self.sandbox.origin)

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            repo = ConfigRepo.open(self.location or str(self.path), state_dir=self.state, writer="test")
            self._engine = Engine(
                repo=repo,
                accounts=AwsAccounts(patience=self.patience),
                handlers=handlers(),
                clock=self.clock,
                pool=ThreadPoolExecutor(8),
                state_dir=self.state,
                writer="test",
                preflight=Preflight(),
            )
            self._engine.kubes = Kubes(self._engine.accounts, pause=self.pause)
        return self._engine

    @property
    def repo(self) -> ConfigRepo:
        return self.engine.repo

    def restart(self) -> None:
        """A new process: everything in memory is lost."""
        self.close()
        self.clock = Clock(RATE, origin=self.sandbox.origin)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.pool.shutdown(wait=True)
            self._engine.close()
            self._engine = None

    # Git

    def commit(self, message: str = "change", /, **files: str | None) -> str:
        """Commit files of the cluster's folder (`None` removes one); the name without `.yaml`."""
        changes: dict[str, bytes | None] = {
            f"clusters/{self.cluster}/{name}.yaml": None if text is None else text.encode()
            for name, text in files.items()
        }
        return self.commit_paths(changes, message)

    def commit_paths(self, changes: Mapping[str, bytes | None], message: str = "change") -> str:
        return self.repo.commit(onto=self.repo.head(), changes=changes, message=message, author=AUTHOR)

    def remove_folder(self) -> str:
        head = self.repo.head()
        assert head is not None
        files = self.repo.files(head, f"clusters/{self.cluster}")
        return self.commit_paths({f.path: None for f in files}, "remove the cluster")

    def cluster_yaml(self, extra: str = "") -> str:
        return cluster_yaml(self.sandbox.account, self.chart, self.cluster, extra)

    # Engine

    def tick(self) -> Result:
        result = self.engine.tick()
        assert result.problem is None, result.problem
        return result

    def settle(self, *until: Condition, revision: str | None = None, limit: float = PATIENCE) -> ClusterStatus:
        """Tick until the cluster's condition is one of `until` (default: Ready, Stalled or Gone) at this revision."""
        wanted = until or SETTLED
        end = time.monotonic() + limit
        while True:
            result = self.tick()
            status = self.status
            there = revision is None or status.rev == revision
            if there and status.condition in wanted:
                return status
            assert time.monotonic() < end, self._story(f"not {[str(w) for w in wanted]} in {limit} s", status)
            time.sleep(max(0.002, min(result.wake, 30.0) / RATE))

    def _story(self, what: str, status: ClusterStatus) -> str:
        """The end of the journal, for whoever reads a failure."""
        told = [f"{x['seq']} {x['t']} {x.get('phase', x.get('state', ''))} {x['say']}" for x in self.lines[-25:]]
        return "\n".join([f"{what}: {status.condition.value} {status.reason} {status.msg}", *told])

    def applied(self, message: str = "change", /, **files: str | None) -> ClusterStatus:
        """Commit, and settle at that commit."""
        return self.settle(revision=self.commit(message, **files))

    def idle(self, ticks: int = 3) -> None:
        """Ticks in which everything is due."""
        for _ in range(ticks):
            for memory in self.engine.memories.values():
                memory.wake = 0.0
            self.tick()

    def order(self, do: str, subject: str, **more: str) -> None:
        ulid = self.engine.new_op()
        body = {"cluster": self.cluster, "do": do, "subject": subject, "principal": AUTHOR[1], "why": "test", **more}
        self.repo.put_order(ulid, body)

    @property
    def status(self) -> ClusterStatus:
        memory = self.engine.memories.get(self.cluster)
        assert memory is not None
        return memory.status()

    @property
    def lines(self) -> list[dict[str, Any]]:
        notes = self.repo.notes(self.cluster).entries.values()
        lines = [json.loads(text) for note in notes for text in note.decode().splitlines()]
        return sorted(lines, key=lambda line: line["seq"])

    # Cloud

    def mutations(self, since: int = 0) -> list[dict[str, Any]]:
        """What this account was asked to change, from the sandbox's own log; `since`: entries to skip."""
        return [entry for entry in self.sandbox.log() if entry["mutating"] and entry.get("op")][since:]

    def client(self, service: str) -> Any:
        return self.sandbox.client(service)

    def hyperpod(self) -> dict[str, Any]:
        return dict(self.client("sagemaker").describe_cluster(ClusterName=self.cluster))

    def groups(self) -> dict[str, dict[str, Any]]:
        return {group["InstanceGroupName"]: group for group in self.hyperpod()["InstanceGroups"]}


@pytest.fixture(scope="session")
def engine_cloud(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """With --kubernetes=real each EKS cluster has a real API server."""
    command = [sys.executable, "-m", "reconciler.sandbox", "--port", "0", "--rate", str(RATE)]
    command += ["--kubernetes", str(request.config.getoption("--kubernetes"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        yield Sandbox(endpoint=told["endpoint"], origin=told["origin"])
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    return make_chart_repository(tmp_path_factory.mktemp("chart") / "repository")


def environment(sandbox: Sandbox, folder: Path, chart: str) -> dict[str, str]:
    """As `aws_environment`; the chart comes from a repository on this disk."""
    return {**aws_environment(sandbox, folder), "INSTANTSTART_CHART_MIRROR": f"{CHART}={chart}"}


def make_site(sandbox: Sandbox, chart: tuple[str, str, str], where: Path, patch: pytest.MonkeyPatch) -> Site:
    place = sandbox.of_account(str(next(_ACCOUNTS)))
    for name, value in environment(place, where, chart[0]).items():
        patch.setenv(name, value)
    path = where / "repository"
    init_repository(path, {"clusters/policy.yaml": POLICY.encode()}, branch="main", author=AUTHOR)
    return Site(sandbox=place, path=path, state=where / "state", chart=chart[1:])


@pytest.fixture
def site(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    made = make_site(engine_cloud, chart, tmp_path, monkeypatch)
    yield made
    made.close()
