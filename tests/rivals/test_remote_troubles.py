"""The remote is down, says no, or takes no push, while a cluster is made: nothing is sent, nothing is lost, the reason
and what to do are told, and a credential that is refused is not hammered with."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.config_repo import refs
from reconciler.config_repo.refs import advice
from reconciler.engine.repository import credential
from schemas.journal import Condition
from tests.engine.fakes import FlakyRepo
from tests.rivals.git_http import GitHttp
from tests.rivals.rivalry import DOCS, JOURNAL, Rival, git, journal, journal_is_right, nothing_twice, push


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitHttp]:
    made = GitHttp(tmp_path)
    yield made
    made.close()


@pytest.fixture
def rig(tmp_path: Path, server: GitHttp) -> Iterator[Rival]:
    """A creation under way, over HTTP."""
    made = Rival(path=tmp_path / "config.git", state=tmp_path / "state", location=server.url("config.git"))
    git(made.path, "config", "http.receivepack", "true")
    push(made.path, DOCS)
    for _ in range(2):
        made.tick(10)
    yield made
    made.close()


def ends_well(rig: Rival, *, whole: bool = False) -> None:
    """It goes on where it was."""
    before = len(rig.cloud.sends)
    for _ in range(6):
        assert not rig.tick(20).problems
        if len(rig.cloud.sends) > before:
            break
    assert len(rig.cloud.sends) > before
    assert not whole or rig.settle().condition is Condition.READY
    nothing_twice(rig.cloud)
    journal_is_right(journal(rig.path))


@pytest.mark.parametrize(
    ("trouble", "reason", "only"),
    [
        ("away", "RemoteUnavailable", ""),
        ("hang", "RemoteUnavailable", ""),
        ("hang", "RemoteUnavailable", "receive-pack"),
        (500, "RemoteUnavailable", ""),
        (503, "RemoteUnavailable", ""),
        (503, "RemoteUnavailable", "receive-pack"),
        (404, "RemoteUnavailable", ""),
        (401, "RemoteAuthFailed", ""),
        (401, "RemoteAuthFailed", "receive-pack"),
        (403, "RemoteAuthFailed", ""),
        (403, "RemoteAuthFailed", "receive-pack"),
    ],
)
def test_the_remote_has_a_trouble(
    rig: Rival, server: GitHttp, monkeypatch: pytest.MonkeyPatch, trouble: int | str, reason: str, only: str
) -> None:
    """All of it, or only where we push; in the middle of a creation, for three ticks."""
    if trouble == "hang":
        monkeypatch.setattr(refs, "REMOTE_TIMEOUT", 1.5)
    before = len(rig.cloud.sends)
    server.breaks(trouble, only)
    for _ in range(1 if trouble == "hang" else 3):
        result = rig.tick(10)
        told = str(result.problem or result.problems.get("prod"))
        assert told.startswith(f"JournalNotAccepted: the journal was not accepted: {reason}" if only else reason), told
        if reason == "RemoteAuthFailed":
            assert "Renew INSTANTSTART_CREDENTIAL" in told
        assert (result.sent, result.lines) == (0, 0)
        assert result.wake > 0
    assert len(rig.cloud.sends) == before, "nothing leaves while its intent cannot be published"
    server.mends()
    monkeypatch.undo()
    ends_well(rig, whole=trouble in ("away", 403))


def test_a_refused_credential_is_asked_for_less_and_less_often(rig: Rival, server: GitHttp) -> None:
    server.breaks(401)
    waits = [rig.tick().wake for _ in range(6)]
    assert waits == [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]
    asked = server.asked
    rig.tick()
    assert server.asked - asked <= 2, "one try a tick"
    server.mends()
    ends_well(rig)
    server.breaks(401)
    assert rig.tick().wake == 60.0, "and it begins anew"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("writer:wrong", "RemoteAuthFailed"),
        ("no-colon", "expected user:password"),
        ("@/nowhere/key", "cannot be read or is empty"),
    ],
)
def test_a_wrong_key(tmp_path: Path, server: GitHttp, text: str, said: str) -> None:
    """Told in words that hold no key; and a file that is put right counts at once."""
    rig = Rival(path=tmp_path / "config.git", state=tmp_path / "state", location=server.url("config.git"))
    git(rig.path, "config", "http.receivepack", "true")
    push(rig.path, DOCS)
    server.key = base64.b64encode(b"writer:right").decode()
    key = tmp_path / "key"
    key.write_text(text if not text.startswith("@") else "")
    told = text if text.startswith("@") else f"@{key}"

    class Keyed(Rival):
        def open_repo(self) -> FlakyRepo:
            where = self.location
            return FlakyRepo.open(where, state_dir=self.state, writer="test", credential=lambda: credential(told))

    keyed = Keyed(path=rig.path, state=rig.state, location=rig.location, shared=rig.cloud)
    result = keyed.tick()
    assert said in str(result.problem) and "wrong" not in str(result.problem), result.problem
    assert rig.cloud.sends == []
    if not text.startswith("@"):
        assert text not in str(result.problem)
        key.write_text("writer:right\n")
        assert keyed.tick().sent
    keyed.close()
    rig.close()


HOOKS = {
    "declined by a hook": ("update", 'case "$1" in refs/notes/*) echo "no notes here" >&2; exit 1;; esac', "by rule"),
    "declined before all": ("pre-receive", "exit 1", "by rule"),
    "a protected branch": (
        "pre-receive",
        'echo "GH006: Protected branch update failed for refs/notes." >&2; exit 1',
        "let this writer push refs/notes",
    ),
}


@pytest.mark.parametrize("hook", HOOKS)
def test_a_rule_of_the_remote_refuses_the_journal(rig: Rival, hook: str) -> None:
    """Held back, told in the remote's words with what to do, and goes on when the rule is gone."""
    name, script, said = HOOKS[hook]
    path = rig.path / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    before = len(rig.cloud.sends)
    for _ in range(3):
        problem = rig.tick(10).problems["prod"]
        assert "declined" in problem and said in problem, problem
    assert len(rig.cloud.sends) == before
    path.unlink()
    ends_well(rig)


def test_a_lock_that_somebody_left(rig: Rival) -> None:
    """ "cannot lock ref", "failed to update ref": whatever it is called, it is tried again."""
    lock = rig.path / f"{JOURNAL}.lock"
    lock.write_text("")
    before = len(rig.cloud.sends)
    for _ in range(3):
        assert "not accepted" in rig.tick(10).problems["prod"]
    assert len(rig.cloud.sends) == before
    lock.unlink()
    ends_well(rig)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("[rejected] (fetch first)", "another writer was faster"),
        ("[rejected] (non-fast-forward)", "another writer was faster"),
        ("[rejected] (stale info)", "another writer was faster"),
        ("[rejected] (already exists)", "another writer was faster"),
        ("[remote rejected] (reference already exists)", "another writer was faster"),
        ("[remote rejected] (cannot lock ref 'x': is at 1 but expected 2)", "another writer was faster"),
        ("[remote rejected] (incorrect old value provided)", "another writer was faster"),
        ("[remote rejected] (failed to update ref)", "another writer was faster"),
        ("[remote rejected] (pre-receive hook declined)", "by rule"),
        ("[remote rejected] (protected branch hook declined)", "by rule"),
        ("[remote rejected] (GH006: Protected branch update failed)", "by rule"),
        ("[remote rejected] (push declined due to repository rule violations)", "by rule"),
        ("[remote rejected] (deny updating a hidden ref)", "by rule"),
        ("[remote rejected] (shallow update not allowed)", "full repository"),
        ("", "another writer was faster"),
    ],
)
def test_every_wording_says_what_to_do(words: str, said: str) -> None:
    assert said in advice(words)
