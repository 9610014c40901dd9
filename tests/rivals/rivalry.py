"""Engines over an invented cloud whose repository somebody else changes: in the middle of a tick, or as a second
engine; and the checks that hold whatever happens."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from reconciler.config_repo.records import NotesAppend, NotesResult
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.tick import Result
from reconciler.journal.fold import revisions
from reconciler.live.clock import SteppedClock
from schemas.journal import Condition
from tests.engine.fakes import AUTHOR, FlakyRepo, Rig, cluster_yaml, group_yaml
from tests.engine.invented_cloud import Cloud

DOCS: dict[str, str | None] = {"cluster": cluster_yaml(), "system": group_yaml("system")}
JOURNAL = "refs/notes/instantstart/status/prod"
NODE = "i-0123456789abcdef0"
Hook = Callable[[], None]


class HookBroke(BaseException):
    """No Exception: the engine would take it for a mistake of its own, and nobody would hear of it."""


def git(where: Path, *arguments: str, data: bytes = b"", ok: bool = True) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(where), "-c", "user.name=E", "-c", "user.email=e@example.com", *arguments]
    done = subprocess.run(command, capture_output=True, input=data, env=environment, timeout=120)
    assert done.returncode == 0 or not ok, done.stderr.decode()
    return done.stdout.decode("utf-8", "backslashreplace").strip()


class HookedRepo(FlakyRepo):
    """Calls what waits at a step of the tick, once."""

    hooks: dict[str, Hook]
    handed: list[str]  # every line that was to be published

    def at(self, step: str) -> None:
        _meet(self.hooks, step)

    def fetch(self) -> None:
        super().fetch()
        self.at("after fetch")

    def append_notes(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        if not self.trouble or self.trouble[0] == "ok":  # else it never came as far as git
            self.handed += [text for item in batch for _, text in item.lines]
        intents = any('"phase":"intent"' in text for item in batch for _, text in item.lines)
        when = "the intents" if intents else "the outcomes"
        self.at(f"before {when}")
        found = super().append_notes(batch)
        self.at(f"after {when}")
        return found


@dataclass(kw_only=True)
class HookedCloud(Cloud):
    """Calls what waits at its first look or sending, once."""

    hooks: dict[str, Hook]

    def fault(self, what: str) -> str | None:
        if not what.startswith(("draft", "settle")):
            _meet(self.hooks, "while sending")
        return super().fault(what)

    def seen(self, key: str) -> Any:
        _meet(self.hooks, "while looking")
        return super().seen(key)


def _meet(hooks: dict[str, Hook], step: str) -> None:
    hook = hooks.pop(step, None)
    if hook is None:
        return
    try:
        hook()
    except Exception as error:
        raise HookBroke(f"the hook {step} broke") from error


STEPS = (
    "after fetch",
    "while looking",
    "before the intents",
    "after the intents",
    "while sending",
    "before the outcomes",
    "after the outcomes",
)


@dataclass(kw_only=True)
class Rival(Rig):
    """A rig with a name, hooks, and a cloud that may be shared."""

    hooks: dict[str, Hook] = field(default_factory=dict[str, Hook])
    shared: Cloud | None = None
    handed: list[str] = field(default_factory=list[str])
    ticking: bool = False

    def __post_init__(self) -> None:
        if self.shared is not None:
            self.cloud, self.clock = self.shared, self.shared.clock
            return
        super().__post_init__()
        self.cloud = HookedCloud(clock=self.clock, published=self._published, hooks=self.hooks)

    def tick(self, seconds: float = 0.0) -> Result:
        self.ticking = True
        try:
            return super().tick(seconds)
        finally:
            self.ticking = False

    def was_published(self, op: str) -> bool:
        return self._published(op)

    def open_repo(self) -> FlakyRepo:
        repo = HookedRepo.open(self.location or str(self.path), state_dir=self.state, writer=self.writer)
        repo.hooks, repo.handed = self.hooks, self.handed
        return repo


def begun(where: Path, *commits: Mapping[str, Mapping[str, str | None]]) -> Rival:
    """A world to copy, in which NODE can be rebooted. Each commit: files by cluster; all are Ready after each of it."""
    made = Rival(path=where / "config.git", state=where / "state")
    made.cloud.boots[NODE] = 1
    for commit in commits:
        for cluster, files in commit.items():
            made.commit(files, cluster)
        made.settle()
        found = {name: memory.status().condition for name, memory in made.engine.memories.items()}
        assert found == dict.fromkeys(commits[0], Condition.READY), made.story()
    made.close()
    return made


def copy_of(rig: Rival, where: Path, *, remote: bool = False, location: str = "") -> Rival:
    """Another world in which everything has gone the same way so far. `remote`: its repository is behind an URL,
    `location` if that is told."""
    shutil.copytree(rig.path, where / "config.git")
    cloud = HookedCloud(
        clock=SteppedClock(rig.clock.now()),
        hooks={},
        things=copy.deepcopy(rig.cloud.things),
        effects=list(rig.cloud.effects),
        sends=list(rig.cloud.sends),
        boots=dict(rig.cloud.boots),
    )
    location = location or (f"file://{where / 'config.git'}" if remote else "")
    made = Rival(path=where / "config.git", state=where / "state", location=location, shared=cloud, hooks=cloud.hooks)
    cloud.published = made.was_published
    made.tick(1)
    return made


def person(where: Path) -> ConfigRepo:
    """Somebody else at the repository itself."""
    return ConfigRepo.open(str(where), state_dir=where, writer="person")


def push(where: Path, files: dict[str, str | None], cluster: str = "prod") -> str:
    """A commit by somebody else on main."""
    paths = {f"clusters/{cluster}/{name}.yaml": text for name, text in files.items()}
    changes = {path: None if text is None else text.encode() for path, text in paths.items()}
    with person(where) as repo:
        return repo.commit(onto=repo.head(), changes=changes, message="change", author=AUTHOR)


def journal(where: Path, cluster: str = "prod") -> list[dict[str, Any]]:
    with person(where) as repo:
        notes = repo.notes(cluster).entries.values()
    lines = [json.loads(text) for note in notes for text in note.decode().splitlines()]
    return sorted(lines, key=lambda line: line["seq"])


# Checks --------------------------------------------------------------------------------------------------------------


def nothing_twice(cloud: Cloud) -> None:
    keys = [thing.key for thing in cloud.things]
    assert sorted(keys) == sorted(set(keys))
    runs = [key for _, verb, key in cloud.effects if verb == "run"]
    assert sorted(runs) == sorted(set(runs))
    creates = [op for op, verb, _ in cloud.effects if verb == "create"]
    assert sorted(creates) == sorted(set(creates))


def journal_is_right(lines: Sequence[dict[str, Any]]) -> None:
    """Lines without a gap; each op from its intent to one end; each `end` with the rollout that took over from it."""
    assert [line["seq"] for line in lines] == list(range(lines[0]["seq"], lines[0]["seq"] + len(lines)))
    ended: set[str] = set()
    for line in (line for line in lines if line["t"] == "op"):
        assert line["op"] not in ended, f"{line['op']} goes on after its end"
        if line["phase"] in ("succeeded", "failed", "cancelled", "resolved"):
            ended.add(line["op"])
    marks = [line for line in lines if line["t"] in ("end", "rollout")]
    assert marks[0]["t"] == "rollout"
    for before, after in pairwise(marks):
        assert {before["t"], after["t"]} == {"end", "rollout"}, "one rollout at a time"
        if after["t"] == "rollout":
            assert after["rev"] == before["by"]
            assert [op["op"] for op in after["open"]] == before["carried"]
            still = {line["op"] for line in lines if line["t"] == "op" and line["seq"] < after["seq"]}
            gone = {
                line["op"]
                for line in lines
                if line["t"] == "op"
                and line["seq"] < after["seq"]
                and line["phase"] in ("succeeded", "failed", "cancelled", "resolved")
            }
            assert set(before["carried"]) == still - gone, "all open ops are carried"


def superseded_was_never_green(repo: ConfigRepo, final: str | None) -> None:
    told = revisions(repo.notes("prod").entries)
    assert final in told
    green = [rev for rev, status in told.items() if rev != final and status.condition is Condition.READY]
    assert green == []


def deletes_wait(lines: Sequence[dict[str, Any]]) -> None:
    """A delete is announced only when no other op of its key is open."""
    open_ops: dict[str, str] = {}
    for line in (line for line in lines if line["t"] == "op"):
        if line["phase"] == "intent":
            others = {op for op, key in open_ops.items() if key == line["key"] and op != line["op"]}
            assert line["verb"] != "delete" or not others
            open_ops[line["op"]] = line["key"]
        elif line["phase"] in ("succeeded", "failed", "cancelled", "resolved"):
            open_ops.pop(line["op"], None)
