"""A long life of an engine in short: commits all the time, faults, orders, a remote that fails, restarts.

Shared by the test and by the bench, which goes on for much longer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import threading
from dataclasses import dataclass
from pathlib import Path

from tests.engine.fakes import Rig, cluster_yaml, group_yaml, reboot_yaml

CLUSTERS = ("prod", "dev", "qa")
SHORT_LIVED = 25  # ticks that a cluster lives which comes and goes
_FAULTS = ("refused", "failed", "lost", "lost_effect", "bug", "bug_effect")
_TROUBLE = ("away", "unconfirmed", "rejected")


@dataclass(frozen=True, kw_only=True)
class Held:
    """What this process holds. `objects`: those that the garbage collector follows; `rss` in MB."""

    files: int
    threads: int
    children: int
    objects: int
    rss: float


@dataclass(frozen=True, kw_only=True)
class Others:
    """What was there before: it is not ours, and may end at any time."""

    files: frozenset[tuple[str, str]] = frozenset()
    threads: frozenset[threading.Thread] = frozenset()
    children: frozenset[str] = frozenset()

    @classmethod
    def now(cls) -> Others:
        return cls(files=_files(), threads=frozenset(threading.enumerate()), children=_children())


class LongRun:
    """Each `step` is something that happens, and a tick."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self.rig = rig
        self.random = random.Random(seed)
        self.ticks = 0
        self.commits = 0
        self.restarts = 0
        rig.cloud.published = lambda _op: True  # looking through all notes each time is not what is measured
        for name in CLUSTERS:
            rig.commit({"cluster": cluster_yaml(name), "system": group_yaml("system")}, cluster=name)
        rig.cloud.boots["i-1"] = 1

    def step(self, *, restart: bool = False) -> None:
        rig, chance = self.rig, self.random.random()
        cluster = self.random.choice(CLUSTERS)
        if restart:
            rig.restart()
            self.restarts += 1
        if chance < 0.4:
            self._commit({"system": group_yaml("system", self.random.randint(1, 50))}, cluster)
        elif chance < 0.45:
            self._commit({"extra": "kind: Nonsense\n" if chance < 0.43 else None}, cluster)
        elif chance < 0.5:
            self._commit({"reboot": reboot_yaml(f"reboot-{self.ticks}", "i-1")}, cluster)
        elif chance < 0.6:
            rig.cloud.faults.append(("hyperpod.InstanceGroup", self.random.choice(_FAULTS)))
        elif chance < 0.65:
            rig.trouble.append(self.random.choice(_TROUBLE))
        elif chance < 0.7:
            rig.order(self.random.choice(("retry", "approve")), self.random.choice(("compute", "a" * 64)), cluster)
        elif chance < 0.75:
            rig.cloud.blind ^= {"hyperpod.Cluster"}
        if self.ticks % SHORT_LIVED == 0:
            self._short_lived()
        rig.tick(self.random.choice((1.0, 30.0, 90.0)))
        rig.cloud.effects.clear()
        rig.cloud.sends.clear()
        rig.cloud.looks.clear()
        del rig.cloud.faults[:-3]
        self.ticks += 1

    def _short_lived(self) -> None:
        """A cluster with a name of its own comes, the one before goes."""
        number = self.ticks // SHORT_LIVED
        extra = "  deletionProtection: false\n"
        self._commit({"cluster": cluster_yaml(f"x{number}", extra)}, f"x{number}")
        if number:
            self._commit({"cluster": None}, f"x{number - 1}")

    def _commit(self, files: dict[str, str | None], cluster: str) -> None:
        self.rig.commit(files, cluster=cluster)
        self.commits += 1


def held(others: Others = Others()) -> Held:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Held(
        files=len(_files() - others.files),
        threads=len(frozenset(threading.enumerate()) - others.threads),
        children=len(_children() - others.children),
        objects=len(gc.get_objects()),
        rss=pages * os.sysconf("SC_PAGE_SIZE") / 1024**2,
    )


def _files() -> frozenset[tuple[str, str]]:
    """Number and target of each; without the one through which they are read."""
    found: set[tuple[str, str]] = set()
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add((path.name, str(path.readlink())))
    return frozenset(found)


def _children() -> frozenset[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return frozenset(child for path in tasks for child in path.read_text().split())
