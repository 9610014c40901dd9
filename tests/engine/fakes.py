"""A whole engine over a real repository and an invented cloud, so that a tick costs milliseconds.

The documents, desired state, plan, gates, journal and git are the real ones; only the handlers are not.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from reconciler.config_repo.errors import ObjectMissing, RemoteUnavailable
from reconciler.config_repo.records import NotesAppend, NotesResult
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.engine.kubes import Kubes
from reconciler.engine.tick import Engine, Result
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import SteppedClock
from reconciler.resources.handler import Handler, World
from schemas.errors import Refused
from schemas.journal import ClusterStatus, Condition
from tests.engine.invented_cloud import Cloud, families

AUTHOR = ("Engineer", "engineer@example.com")
POLICY = """apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: [replace]
"""
SETTLED = (Condition.READY, Condition.STALLED, Condition.GONE)
PATIENCE = 20  # quiet ticks


class FlakyRepo(ConfigRepo):
    """The journal's remote: `trouble` says what happens to the next publishes (ok, away, unconfirmed, rejected)."""

    trouble: list[str]

    def append_notes(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        match self.trouble.pop(0) if self.trouble else "ok":
            case "away":
                raise RemoteUnavailable("the remote cannot be reached")
            case "unconfirmed":
                super().append_notes(batch)
                raise RemoteUnavailable("the remote did not answer in time")
            case "rejected":
                return {i.name: NotesResult(accepted=False, tip=i.expected_tip, rejected_by="no") for i in batch}
            case _:
                return super().append_notes(batch)


class _NoPods:
    def list(self, *_args: Any, **_more: Any) -> list[Any]:
        return []

    def watch(self, *_args: Any, **_more: Any) -> None:
        raise Refused("this cloud has no Kubernetes", reason="NotConnected")


class _FakeKubes:
    def of(self, _world: World) -> Any:
        return _NoPods()

    def forget(self, _cluster: str) -> None:
        return

    def close(self) -> None:
        return


def cluster_yaml(name: str = "prod", extra: str = "") -> str:
    return f"""apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: {name}
spec:
  account: "111122223333"
  region: us-west-2
  kubernetesVersion: "1.33"
{extra}"""


def group_yaml(name: str, count: int = 2, extra: str = "") -> str:
    return f"""apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: {name}
spec:
  instanceType: ml.m5.2xlarge
  count: {count}
  zone: usw2-az2
{extra}"""


def reboot_yaml(name: str, *nodes: str, expires: str = "2027-01-01T00:00:00Z") -> str:
    return f"""apiVersion: instantstart/v1
kind: Operation
metadata:
  name: {name}
spec:
  expires: "{expires}"
  reboot:
    nodes: [{", ".join(nodes)}]
"""


@dataclass(kw_only=True)
class Rig:
    """One repository, one cloud, one engine at a time."""

    path: Path
    state: Path
    location: str = ""
    policy: str = POLICY
    clock: SteppedClock = field(default_factory=lambda: SteppedClock(datetime(2026, 3, 1, 10, tzinfo=UTC)))
    cloud: Cloud = field(init=False)
    trouble: list[str] = field(default_factory=list[str])
    writer: str = "test"
    beside_of: Rig | None = None
    _engine: Engine | None = None
    _pool: ThreadPoolExecutor | None = None
    _opening: Any = field(default_factory=threading.RLock)  # another rig's threads may ask what this one has published

    def __post_init__(self) -> None:
        if self.beside_of is not None:
            self.clock, self.cloud = self.beside_of.clock, self.beside_of.cloud
            return
        self.cloud = Cloud(clock=self.clock, published=self._published)
        init_repository(self.path, {"clusters/policy.yaml": self.policy.encode()}, branch="main", author=AUTHOR)

    @classmethod
    def beside(cls, rig: Rig) -> Rig:
        """Another engine over the same repository and cloud."""
        state = rig.state.with_name(f"{rig.state.name}-beside")
        return cls(path=rig.path, state=state, location=rig.location, beside_of=rig)

    @property
    def engine(self) -> Engine:
        with self._opening:
            return self._open()

    def _open(self) -> Engine:
        if self._engine is None:
            repo = self.open_repo()
            repo.trouble = self.trouble
            self._pool = ThreadPoolExecutor(2)
            self._engine = Engine(
                repo=repo,
                accounts=self.accounts(),
                handlers=self.handlers(),
                clock=self.clock,
                pool=self._pool,
                state_dir=self.state,
                writer=self.writer,
            )
            self._engine.kubes = cast("Kubes", self.kubes())
        return self._engine

    def accounts(self) -> AwsAccounts:
        return AwsAccounts()

    def handlers(self) -> list[Handler]:
        return families(self.cloud)

    def kubes(self) -> object:
        return _FakeKubes()

    def open_repo(self) -> FlakyRepo:
        return FlakyRepo.open(self.location or str(self.path), state_dir=self.state, writer=self.writer)

    @property
    def repo(self) -> ConfigRepo:
        return self.engine.repo

    def restart(self) -> None:
        """A new process: everything in memory is lost."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
        if self._engine is not None:
            self._engine.close()
        self._engine = self._pool = None
        assert self.cloud.early == []

    close = restart

    def commit(self, files: Mapping[str, str | None], cluster: str = "prod") -> str:
        return self.commit_paths({f"clusters/{cluster}/{name}.yaml": text for name, text in files.items()})

    def commit_paths(self, files: Mapping[str, str | None]) -> str:
        self.repo.fetch()
        changes = {path: None if text is None else text.encode() for path, text in files.items()}
        return self.repo.commit(onto=self.repo.head(), changes=changes, message="change", author=AUTHOR)

    def tick(self, seconds: float = 0.0) -> Result:
        """One tick with everything due; the clock moves on first."""
        self.clock.advance(seconds)
        for memory in self.engine.memories.values():
            memory.wake = 0.0
        return self.engine.tick()

    def settle(self, ticks: int = 100, seconds: float = 30.0) -> ClusterStatus:
        """Tick until nothing is written any more: at once where every cluster is at its end, else after some time,
        because much of what an engine does is waiting."""
        quiet = 0
        for _ in range(ticks):
            result = self.tick(seconds)
            assert self.cloud.early == []
            quiet = quiet + 1 if result.lines == 0 and result.sent == 0 else 0
            found = [memory.status() for memory in self.engine.memories.values()]
            ended = all(status.condition in SETTLED for status in found)
            if found and quiet >= (2 if ended else PATIENCE):
                return next((status for status in found if status.cluster == "prod"), found[0])
        raise AssertionError("it does not come to rest\n" + self.story())

    def order(self, do: str, subject: str, cluster: str = "prod", **more: str) -> None:
        body = {"cluster": cluster, "do": do, "subject": subject, "principal": AUTHOR[1], "why": "test", **more}
        self.repo.put_order(self.engine.new_op(), body)

    def status(self, cluster: str = "prod") -> ClusterStatus:
        return self.engine.memories[cluster].status()

    def lines(self, cluster: str = "prod") -> list[dict[str, Any]]:
        notes = self.repo.notes(cluster).entries.values()
        return sorted((json.loads(x) for n in notes for x in n.decode().splitlines()), key=lambda line: line["seq"])

    def story(self, cluster: str = "prod") -> str:
        keys = ("seq", "t", "op", "phase", "stage", "state", "reason", "say")
        return "\n".join(" ".join(str(x[k]) for k in keys if k in x) for x in self.lines(cluster)[-40:])

    def _published(self, op: str) -> bool:
        wanted = f'"op":"{op}","phase":"intent"'.encode()
        for cluster in self.repo.journal_clusters():
            with contextlib.suppress(ObjectMissing):  # another cluster's, spoiled
                if any(wanted in text for text in self.repo.notes(cluster).entries.values()):
                    return True
        return False
