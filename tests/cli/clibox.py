"""A config repository, a journal written with the real pen, and the command line called as a person would."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from reconciler.cli.sample import read_sample
from reconciler.cli.work_tree import new_repository
from reconciler.config_repo.records import NotesAppend
from reconciler.config_repo.repo import ConfigRepo
from reconciler.journal.lines import Pen
from web.app import app

ALICE = ("Alice Example", "alice@example.com")
CLUSTER = "demo"
GOLDEN = Path(__file__).with_name("golden")
STARTED = "2026-03-01T10:00:00.000Z"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What one call printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(kw_only=True)
class CliBox:
    """`path`: a checkout of the sample. Revisions are replaced by short names in what is compared with golden files."""

    path: Path
    state: Path
    first: str
    shown: dict[str, str] = field(default_factory=dict[str, str])

    def call(self, *words: str, env: dict[str, str] | None = None) -> Said:
        told = ["-r", str(self.path), "--state-dir", str(self.state), *words]
        return call(*told, env=env)

    def golden(self, name: str, *words: str, code: int = 0) -> None:
        """The words of a command are those of the file; INSTANTSTART_GOLDEN=1 writes it."""
        said = self.call(*words)
        assert said.code == code, said.out + said.err
        text = said.out
        for revision, short in {self.first: "aaaaaaa", **self.shown}.items():
            text = text.replace(revision[:7], short)
        same_as_golden(name, text)

    def commit(self, changes: dict[str, str | None], message: str = "change") -> str:
        with self.repo() as repo:
            data = {path: None if text is None else text.encode() for path, text in changes.items()}
            revision = repo.commit(onto=repo.head(), changes=data, message=message, author=ALICE)
        self.shown[revision] = chr(ord("b") + len(self.shown)) * 7
        return revision

    def repo(self) -> ConfigRepo:
        return ConfigRepo.open(str(self.path), state_dir=self.state, writer="test")

    def text(self, path: str) -> str:
        return (self.path / path).read_text()

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", "-C", str(self.path), *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def journal(self, lines: list[tuple[str, str, dict[str, Any]]], *, revision: str | None = None) -> None:
        """(t, say, fields) lines on the note of a revision, a second apart."""
        revision = revision or self.first
        with self.repo() as repo:
            view = repo.notes(CLUSTER)
            before = sum(len(note.splitlines()) for note in view.entries.values())
            rolls = sum(note.count(b'"t":"rollout"') for note in view.entries.values())
            seconds = iter(range(before, before + len(lines)))
            pen = Pen(before, rolls, lambda: f"2026-03-01T10:{(n := next(seconds)) // 60:02d}:{n % 60:02d}.000Z")
            for t, say, fields in lines:
                folder = {"input": repo.input_of(fields["rev"], CLUSTER)} if t == "rollout" else {}
                pen.write(revision, t, say, **{**fields, **folder})
            batch = NotesAppend(name=CLUSTER, expected_tip=view.tip, lines=pen.lines, subject="test")
            assert repo.append_notes([batch])[CLUSTER].accepted


def call(*words: str, env: dict[str, str] | None = None) -> Said:
    done = CliRunner().invoke(app, list(words), env=env, prog_name="instantstart")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Said(code=done.exit_code, out=done.stdout, err=done.stderr)


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("INSTANTSTART_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"{name} differs; INSTANTSTART_GOLDEN=1 writes it anew"


def make(root: Path) -> CliBox:
    path = root / "config"
    first = new_repository(path, read_sample(), branch="main", author=ALICE)
    return CliBox(path=path, state=root / "state", first=first)


def rollout(revision: str, **fields: Any) -> tuple[str, str, dict[str, Any]]:
    plan = {"digest": "d" * 64, "create": 14, "refused": 0, "held": 1}
    body: dict[str, Any] = {"rev": revision, "base": [], "writer": "test", "plan": plan}
    body |= {"open": [], "done": {}}
    return "rollout", f"apply {revision[:7]}: 14 to create", {**body, "holds": [], "kinds": [], **fields}


def stage(name: str, state: str, reason: str = "", msg: str = "", **more: Any) -> tuple[str, str, dict[str, Any]]:
    said = f"{name} {state}" + (f": {reason}" if reason else "")
    return "stage", said, {"stage": name, "state": state, "reason": reason, "msg": msg, **more}


def intent(op: str, key: str, call_: str, **more: Any) -> tuple[str, str, dict[str, Any]]:
    body = {"op": op, "phase": "intent", "attempt": 1, "key": key, "lane": key, "verb": "create", "call": call_}
    return "op", f"Create {key}", {**body, "class": "token", "want": "w", "actions": ["a" * 64], **more}


def op(op_: str, phase: str, say: str, **more: Any) -> tuple[str, str, dict[str, Any]]:
    return "op", say, {"op": op_, "phase": phase, "attempt": 1, **more}


def hold(key: str, action: str, reason: str, msg: str) -> tuple[str, str, dict[str, Any]]:
    return "hold", f"{key} is held: {reason}", {"key": key, "action": action, "reason": reason, "msg": msg}
