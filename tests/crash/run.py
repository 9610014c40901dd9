"""One whole life of a cluster, with as many lives of the engine as it takes: create, change, reboot, teardown.

After every scene the account must look as after a run that was never killed; at the end the journal, the request log
and the effects are checked.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ulid import ULID

from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from schemas.journal import Condition
from tests.crash import checks
from tests.crash.life import Ended, House, live, warmed_accounts
from tests.crash.points import Book, Points
from tests.crash.world import Normal, difference, world
from tests.engine_support import AUTHOR, GPU, POLICY, STORAGE, Sandbox, cluster_yaml, environment, group_yaml

CLUSTER = "prod"
MOST_LIVES = 1500  # of one scene
NEW_MACHINE = 0.1  # of the deaths
ALIKE = 45.0  # real seconds until the account must look like that of the other run
Scene: TypeAlias = tuple[str, Condition, Callable[[], str]]  # name, end, the commit that begins it
_ACCOUNTS = itertools.count(555500000000)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to kill: `stride` points between two kills on average, and none after `deadline` (monotonic); `remote`: the
    repository is one that is pushed to."""

    stride: int
    deadline: float
    remote: bool
    owned: Callable[[str], bool]
    random: random.Random
    live: Callable[[House, str, Condition, Points], Ended] = live


@dataclass(kw_only=True)
class Report:
    """What a run came to. `worlds`: the account after each scene."""

    lives: int = 0
    kills: int = 0
    machines: int = 0  # of the lives, those that began with an empty disk
    resolved: int = 0  # ops whose outcome a person had to tell
    seconds: float = 0.0
    lines: int = 0
    requests: int = 0
    worlds: dict[str, Normal] = field(default_factory=dict[str, Normal])
    effects: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])


@dataclass(kw_only=True)
class Run:
    """One account, one repository. `pattern`: the report of a run that was never killed."""

    sandbox: Sandbox
    rate: float
    folder: Path
    chart: tuple[str, str, str]
    plan: Plan
    book: Book
    pattern: Report | None
    tell: Callable[[str], None]
    eks: str = CLUSTER  # what EKS calls the cluster
    house: House = field(init=False)
    report: Report = field(default_factory=Report)
    _causes: deque[str] = field(default_factory=lambda: deque[str](maxlen=20))

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.sandbox = self.sandbox.of_account(str(next(_ACCOUNTS)))
        os.environ |= environment(self.sandbox, self.folder, self.chart[0])
        bare = self.folder / "repository"
        init_repository(bare, {"clusters/policy.yaml": POLICY.encode()}, branch="main", author=AUTHOR)
        self.house = House(
            folder=self.folder,
            location=bare.as_uri() if self.plan.remote else str(bare),
            bare=bare,
            cluster=CLUSTER,
            account=self.sandbox.account,
            region=self.sandbox.region,
            rate=self.rate,
            origin=self.sandbox.origin,
            accounts=warmed_accounts(self.sandbox.account, self.sandbox.region),
        )

    def play(self) -> Report:
        """All scenes. Stops at the first one that does not come to its end."""
        began = time.monotonic()
        for name, until, change in self._scenes():
            if not self._scene(name, change(), until):
                break
        self._check()
        self.report.seconds = time.monotonic() - began
        return self.report

    # Scenes ----------------------------------------------------------------------------------------------------------

    def _scenes(self) -> list[Scene]:
        """What happens, one after another."""
        return [
            ("create", Condition.READY, self._create),
            ("change", Condition.READY, self._change),
            ("reboot", Condition.READY, self._reboot),
            ("teardown", Condition.GONE, self._remove),
        ]

    def _create(self) -> str:
        system = group_yaml("system", count=3)
        return self._commit({"cluster": self._cluster(""), "groups": system + GPU, "storage": STORAGE})

    def _change(self) -> str:
        """A scale, the deletion of a group, and the door opened for the teardown."""
        door = self._cluster("  deletionProtection: false\n")
        return self._commit({"cluster": door, "groups": group_yaml("system", count=2)})

    def _reboot(self) -> str:
        listed = self.sandbox.client("sagemaker").list_cluster_nodes(ClusterName=CLUSTER)["ClusterNodeSummaries"]
        node = min(str(one["InstanceId"]) for one in listed if one["InstanceStatus"]["Status"] == "Running")
        return self._commit({"reboot": _REBOOT.format(node=node)})

    def _remove(self) -> str:
        return self._commit(dict.fromkeys(("cluster", "groups", "storage", "reboot")))

    def _cluster(self, extra: str) -> str:
        return cluster_yaml(self.sandbox.account, self.chart[1:], CLUSTER, extra)

    def _scene(self, name: str, revision: str, until: Condition) -> bool:
        began, lives, kills = time.monotonic(), self.report.lives, self.report.kills
        for _ in range(MOST_LIVES):
            ended = self.plan.live(self.house, revision, until, self._points(name))
            self.report.lives += 1
            self.sandbox.delete("/faults")
            cause = self.book.take_in(was_killed=ended.killed)
            if ended.killed:
                self.report.kills += 1
                self._causes.append(str(cause))
                self._perhaps_a_new_machine()
                continue
            if ended.unknown:
                self._resolve(ended.unknown)
                continue
            if ended.condition != until.value:
                self._wrong(f"{name} did not come to {until.value}: {ended.said}")
                return False
            break
        else:
            self._wrong(f"{name} took more than {MOST_LIVES} lives")
            return False
        self._compare(name)
        spent = time.monotonic() - began
        lived, killed = self.report.lives - lives, self.report.kills - kills
        self.tell(f"{name}: {until.value} after {lived} lives, {killed} kills, {spent:.0f} s")
        return True

    def _perhaps_a_new_machine(self) -> None:
        """Now and then the next life begins with an empty disk: all it needs is on the remote."""
        if self.plan.remote and self.plan.random.random() < NEW_MACHINE:
            shutil.rmtree(self.house.state, ignore_errors=True)
            self.report.machines += 1

    def _points(self, scene: str) -> Points:
        """Some lives are long, some are one point only."""
        over = self.plan.stride == 0 or time.monotonic() > self.plan.deadline
        stride = 0 if over else self.plan.random.randint(1, 2 * self.plan.stride - 1)
        door = f"{self.sandbox.endpoint}/_sandbox/faults"
        return Points(scene=scene, book=self.book, stride=stride, owned=self.plan.owned, faults=door)

    def _compare(self, scene: str) -> None:
        """The same end, if not at once then soon: nodes leave and add-ons settle by themselves."""
        wanted = self.pattern.worlds.get(scene) if self.pattern is not None else None
        end = time.monotonic() + ALIKE
        before: Normal | None = None
        while True:
            now = world(self.sandbox, self.eks)
            if now == (wanted if wanted is not None else before):
                break
            if time.monotonic() > end:
                told = difference(wanted or before or {}, now)
                self._wrong(f"{scene} ended otherwise than without kills", *told[:20])
                break
            before = now
            time.sleep(max(600 / self.rate, 0.2))
        self.report.worlds[scene] = now

    # A person --------------------------------------------------------------------------------------------------------

    def _commit(self, files: dict[str, str | None]) -> str:
        with self._repo("person") as repo:
            repo.fetch()
            head = repo.head()
            assert head is not None
            changes = {f"clusters/{CLUSTER}/{n}.yaml": None if t is None else t.encode() for n, t in files.items()}
            return repo.commit(onto=head, changes=changes, message="change", author=AUTHOR)

    def _resolve(self, ops: tuple[str, ...]) -> None:
        """Looks at what the cloud really did, says so, and orders again what did not happen."""
        log = self._log()
        intents = {line["op"]: line for line in self._lines() if line["t"] == "op" and line["phase"] == "intent"}
        with self._repo("person") as repo:
            for op in ops:
                if intents[op]["class"] != "once":
                    self._wrong(f"{op} is unknown, although {intents[op]['call']} can be told")
                happened = any(entry["op"] == op and entry["effect"] for entry in log)
                self._order(repo, "resolve", op, **{"as": "happened" if happened else "not-happened"})
                if not happened:
                    self._order(repo, "retry", str(intents[op]["key"]))
                self.report.resolved += 1

    def _order(self, repo: ConfigRepo, do: str, subject: str, **more: str) -> None:
        body = {"cluster": CLUSTER, "do": do, "subject": subject, "principal": AUTHOR[1], "why": "looked", **more}
        repo.put_order(str(ULID()), body)

    def _repo(self, who: str) -> ConfigRepo:
        return ConfigRepo.open(self.house.location, state_dir=self.folder / who, writer=who)

    # Checks ----------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        texts, log = self._texts(), self._log()
        report = self.report
        lines = checks.lines_of(texts)
        report.lines, report.requests = len(lines), len(log)
        report.effects = checks.effects(log, checks.keys_of(log))
        self._wrong(*checks.journal_problems(CLUSTER, texts), *checks.log_problems(log, lines), *self.book.wrong)
        self._wrong(*self._more_wrong(lines, log))
        self._wrong(*(f"twice: {json.dumps(one)}" for one in self.sandbox.get("/effects")["duplicates"]))
        if self.pattern is not None and not report.wrong:
            for what in sorted(report.effects.keys() | self.pattern.effects.keys()):
                here, there = report.effects[what], self.pattern.effects[what]
                if here != there:
                    self._wrong(f"{what}: {here} times, without kills {there} times")
        if report.wrong:
            tail = [f"{x['seq']} {x['t']} {x.get('phase', x.get('state', ''))} {x['say']}" for x in lines[-30:]]
            died = [f"died at {cause}" for cause in self._causes]
            self.tell("\n".join(["the last deaths, and the end of the journal:", *died, *tail]))

    def _more_wrong(self, lines: list[dict[str, Any]], log: list[dict[str, Any]]) -> list[str]:
        """What else must hold of the scenes of this run."""
        del lines, log
        return []

    def _texts(self) -> list[str]:
        with ConfigRepo.open(str(self.house.bare), state_dir=self.folder / "judge", writer="judge") as repo:
            return [t for note in repo.notes(CLUSTER).entries.values() for t in note.decode().splitlines()]

    def _lines(self) -> list[dict[str, Any]]:
        return checks.lines_of(self._texts())

    def _log(self) -> list[dict[str, Any]]:
        return self.sandbox.whole_log()

    def _wrong(self, *what: str) -> None:
        self.report.wrong += what
        for text in what:
            self.tell(f"WRONG: {text}")


_REBOOT = """apiVersion: instantstart/v1
kind: Operation
metadata:
  name: reboot-a
spec:
  expires: "2090-01-01T00:00:00Z"
  reboot:
    nodes: [{node}]
"""
