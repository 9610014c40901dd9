"""A long life of an engine in short: commits all the time, faults, orders, a remote that fails, restarts.

Shared by the test and by the bench, which goes on for much longer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import journal
from schemas.journal import Condition, Phase
from tests.engine.fakes import AUTHOR, Rig, cluster_yaml, group_yaml, reboot_yaml

CLUSTERS = ("prod", "dev", "qa")
SHORT_LIVED = 25  # ticks between two clusters that come and go
NODES = {name: f"i-0123456789abcdef{number}" for number, name in enumerate(CLUSTERS)}
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
    """Each `step` is something that happens, and a tick. What goes wrong is mended soon: a cluster that nobody mends
    does nothing any more, and one that does nothing shows nothing. `ready`: ticks at whose end a cluster was Ready.
    Close it before the rig."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self.rig = rig
        self.random = random.Random(seed)
        self.ticks = 0
        self.commits = 0
        self.restarts = 0
        self.ready = dict.fromkeys(CLUSTERS, 0)
        # People commit at the remote itself: what that costs is not ours.
        self._people = ConfigRepo.open(str(rig.path), state_dir=rig.state, writer="people")
        self._broken: set[str] = set()  # clusters with a file that is nonsense
        self._passing: list[str] = []  # clusters that came and have not gone yet
        rig.cloud.published = lambda _op: True  # looking through all notes each time is not what is measured
        for name in CLUSTERS:
            self._commit({"cluster": cluster_yaml(name), "system": group_yaml("system")}, cluster=name)
        rig.cloud.boots |= dict.fromkeys(NODES.values(), 1)

    def step(self, *, restart: bool = False) -> None:
        rig, chance = self.rig, self.random.random()
        cluster = self.random.choice(CLUSTERS)
        if restart:
            rig.restart()
            self.restarts += 1
        if chance < 0.4:
            self._commit({"system": group_yaml("system", self.random.randint(1, 50))}, cluster)
        elif chance < 0.43:
            self._commit({"extra": "kind: Nonsense\n"}, cluster)
            self._broken.add(cluster)
        elif chance < 0.48:
            self._commit({"reboot": reboot_yaml(f"reboot-{self.ticks}", NODES[cluster])}, cluster)
        elif chance < 0.58:
            what = self.random.choice(("hyperpod.InstanceGroup:", "hyperpod.Reboot:"))
            rig.cloud.faults.append((what, self.random.choice(_FAULTS)))
        elif chance < 0.63:
            rig.trouble.append(self.random.choice(_TROUBLE))
        elif chance < 0.68:
            self._order(self.random.choice(("retry", "approve")), self.random.choice(("compute", "a" * 64)), cluster)
        elif chance < 0.71:
            rig.cloud.blind.add("hyperpod.Cluster")
        elif chance < 0.9:
            self._mend()
        self._come_and_go()
        rig.tick(self.random.choice((1.0, 30.0, 90.0)))
        rig.cloud.effects.clear()
        rig.cloud.sends.clear()
        rig.cloud.looks.clear()
        del rig.cloud.faults[:-3]
        self.ticks += 1
        for name in CLUSTERS:
            self.ready[name] += name in rig.engine.memories and rig.status(name).condition is Condition.READY

    def _mend(self) -> None:
        """What the people of these clusters do when they see what is wrong."""
        self.rig.cloud.blind.clear()
        for cluster in sorted(self._broken):
            self._commit({"extra": None}, cluster)
        self._broken.clear()
        for cluster in self.rig.engine.memories.keys() & set(CLUSTERS):
            status = self.rig.status(cluster)
            for op in status.ops.values():
                if op.phase is Phase.UNKNOWN:
                    self._order("resolve", op.op, cluster, **{"as": "happened"})
            if status.condition is Condition.STALLED:
                self._order("retry", "compute", cluster)

    def _come_and_go(self) -> None:
        """A cluster with a name of its own comes, and goes once it was Ready: before, its folder would be missed."""
        if self.ticks % SHORT_LIVED == 0:
            self._passing.append(f"x{self.ticks // SHORT_LIVED}")
            extra = "  deletionProtection: false\n"
            self._commit({"cluster": cluster_yaml(self._passing[-1], extra)}, self._passing[-1])
        for name in list(self._passing):
            memory = self.rig.engine.memories.get(name)
            if memory is not None and memory.status().condition is Condition.READY and self._is_ready(name):
                self._passing.remove(name)
                self._commit({"cluster": None}, name)

    def _is_ready(self, cluster: str) -> bool:
        """As the journal at the remote says: the newest lines that the engine wrote may have been refused there."""
        status = journal.read(self._people, cluster, self._people.notes(cluster)).status()
        self._people.let_go(cluster)
        return status.condition is Condition.READY

    def _commit(self, files: Mapping[str, str | None], cluster: str) -> None:
        changes = {
            f"clusters/{cluster}/{name}.yaml": None if text is None else text.encode() for name, text in files.items()
        }
        self._people.commit(onto=self._people.head(), changes=changes, message="change", author=AUTHOR)
        self.commits += 1

    def _order(self, do: str, subject: str, cluster: str, **more: str) -> None:
        body = {"cluster": cluster, "do": do, "subject": subject, "principal": AUTHOR[1], "why": "test", **more}
        self._people.put_order(self.rig.engine.new_op(), body)

    def close(self) -> None:
        self._people.close()


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
