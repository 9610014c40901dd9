"""The same with the command itself: `instantstart serve` is killed from outside, at seeded moments.

A moment is a number of requests that the account's log has more than at the start of this life, so that it falls into
work and not into the imports. Helm and git are left behind alive, as an engine's death alone leaves them.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.config_repo.repo import ConfigRepo
from reconciler.journal.fold import fold
from schemas.journal import Condition, Phase
from tests.crash.life import LONGEST, Ended, House
from tests.crash.points import Points
from tests.engine_support import Sandbox

ROOT = Path(__file__).parents[2]
MOST_REQUESTS = 60


@dataclass(kw_only=True)
class Serve:
    """Lives of the command; `kills`: how many are left to be spent, by scene."""

    sandbox: Sandbox
    random: random.Random
    kills: Counter[str] = field(default_factory=Counter[str])
    _seen: int = 0

    def live(self, house: House, revision: str, until: Condition, points: Points) -> Ended:
        limit = self.random.randint(1, MOST_REQUESTS) if self.kills[points.scene] > 0 else None
        began = self._last()
        environment = {
            **os.environ,
            "INSTANTSTART_CLOCK_RATE": str(house.rate),
            "INSTANTSTART_CLOCK_ORIGIN": str(house.origin),
            "INSTANTSTART_WRITER": "test",
        }
        command = [
            sys.executable,
            "-m",
            "web",
            "serve",
            "--port",
            "0",
            "-r",
            house.location,
            "--state-dir",
            str(house.state),
        ]
        with (house.folder / "serve.log").open("a") as log:
            process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log)
        try:
            with ConfigRepo.open(str(house.bare), state_dir=house.folder / "judge", writer="judge") as repo:
                ended = self._watch(process, house, repo, revision, until, None if limit is None else began + limit)
            self.kills[points.scene] -= ended.killed
            return ended
        finally:
            process.kill()
            process.wait()

    def _watch(
        self,
        process: subprocess.Popen[bytes],
        house: House,
        repo: ConfigRepo,
        revision: str,
        until: Condition,
        last: int | None,
    ) -> Ended:
        end = time.monotonic() + LONGEST
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"serve ended by itself: {(house.folder / 'serve.log').read_text()[-4000:]}")
            if last is not None and self._last() >= last:
                return Ended(killed=True)
            status = fold(house.cluster, repo.notes(house.cluster).entries)
            unknown = tuple(op.op for op in status.ops.values() if op.phase is Phase.UNKNOWN)
            done = status.rev == revision and status.condition is until and not status.open_ops()
            if done or unknown or time.monotonic() > end:
                said = f"{status.rev} {status.condition.value} {status.reason} {status.msg}"
                return Ended(killed=False, condition=status.condition.value, said=said, unknown=unknown)
            time.sleep(0.05)

    def _last(self) -> int:
        """The number of the newest request."""
        log = self.sandbox.get(f"/log?since={self._seen}")
        self._seen = int(log[-1]["seq"]) if log else self._seen
        return self._seen
