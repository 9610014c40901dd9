"""A whole engine over a real repository with many clusters, and an invented cloud (tests/engine/invented_cloud.py).

The clusters are suspended: each is read, looked at, planned, gated and journalled, and nothing is sent.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from reconciler.config_repo.process import Git
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.tick import Engine, Result
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import SteppedClock
from tests.bench.config_documents import make_repository
from tests.config_repo.gitbox import ALICE
from tests.engine.invented_cloud import Cloud, families


@dataclass(kw_only=True)
class Fleet:
    """One repository, one engine at a time; `root` holds both."""

    root: Path
    clusters: int
    clock: SteppedClock = field(default_factory=lambda: SteppedClock(datetime(2026, 3, 1, 10, tzinfo=UTC)))
    cloud: Cloud = field(init=False)
    engine: Engine = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.cloud = Cloud(clock=self.clock)
        make_repository(self.root / "config.git", self.clusters, suspended=True)
        self.start()

    def start(self) -> None:
        self._pool = ThreadPoolExecutor(4)
        self.engine = Engine(
            repo=ConfigRepo.open(str(self.root / "config.git"), state_dir=self.root / "state", writer="bench"),
            accounts=AwsAccounts(),
            handlers=families(self.cloud),
            clock=self.clock,
            pool=self._pool,
            state_dir=self.root / "state",
            writer="bench",
        )

    def restart(self) -> None:
        """A new process: everything in memory is lost."""
        self.close()
        self.start()

    def close(self) -> None:
        self._pool.shutdown()
        self.engine.close()

    def commit(self, **files: bytes) -> str:
        """`cluster__file_name`, or `policy` for the policy."""
        repo = self.engine.repo
        paths = {f"clusters/{name.replace('__', '/').replace('_', '-')}.yaml": data for name, data in files.items()}
        return repo.commit(onto=repo.head(), changes=paths, message="change", author=ALICE)

    def tick(self) -> Result:
        result = self.engine.tick()
        assert result.problem is None and not result.problems, (result.problem, list(result.problems.items())[:3])
        return result

    def settle(self) -> None:
        for _ in range(8):
            if not self.tick().lines:
                return
        raise AssertionError("it does not come to rest")


@contextlib.contextmanager
def git_processes() -> Generator[Counter[str]]:
    """Git processes that were started meanwhile, by what they do."""
    counted: Counter[str] = Counter()
    start = Git.start

    def counting(git: Git, *args: str, **more: Any) -> Any:
        counted[args[0]] += 1
        return start(git, *args, **more)

    with mock.patch.object(Git, "start", counting):
        yield counted
