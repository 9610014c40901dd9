"""Git processes: none left behind, no prompt, no hook, no configuration from elsewhere, and an end to waiting."""

from __future__ import annotations

import base64
import os
import threading
from pathlib import Path

import pytest

from reconciler.config_repo.errors import NotARepository, RemoteUnavailable, RepositoryRefused
from reconciler.config_repo.process import Git, GitTimeout, remote_environment
from reconciler.config_repo.records import Credential, NotesAppend
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from tests.config_repo.answering import Answering
from tests.config_repo.gitbox import ALICE, FILES, GitBox, run


def children() -> set[str]:
    me = str(os.getpid())
    found: set[str] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == me:
            found.add(stat.parent.name)
    return found


def test_two_hundred_opens_leave_nothing(box: GitBox) -> None:
    before_fds, before = len(list(Path("/proc/self/fd").iterdir())), children()
    for _ in range(200):
        with ConfigRepo.open(str(box.path), state_dir=box.root, writer="one") as repo:
            assert repo.head() == box.first
    assert children() - before == set()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before_fds


def test_reading_from_many_threads(box: GitBox) -> None:
    repo = box.open()
    answers: list[dict[str, bytes]] = []

    def work() -> None:
        for _ in range(20):
            answers.append(repo.blobs(f.blob for f in repo.files(box.first, "clusters/prod")))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert len(answers) == 160
    assert all(answer == answers[0] for answer in answers)


def test_a_reader_that_was_killed_is_replaced(box: GitBox) -> None:
    repo = box.open()
    before = children()
    assert repo.head() == box.first
    for pid in children() - before:
        os.kill(int(pid), 9)
    assert repo.head() == box.first
    sha = repo.commit(onto=box.first, changes={"clusters/a/b.yaml": b"x"}, message="x", author=ALICE)
    for pid in children() - before:
        os.kill(int(pid), 9)
    sha = repo.commit(onto=sha, changes={"clusters/a/b.yaml": b"y"}, message="x", author=ALICE)
    assert repo.head() == sha


def test_hooks_and_configuration_of_the_folder_start_nothing(box: GitBox) -> None:
    """Opening a repository must not run what lies in it."""
    spy = box.root / "spy"
    script = f"touch {spy}"
    for hook in ("reference-transaction", "post-commit", "pre-push", "post-checkout", "post-update"):
        box.hook(hook, script)
    box.git("config", "core.hooksPath", str(box.path / "hooks"))
    box.git("config", "core.fsmonitor", f"{script}; false")
    box.git("config", "gpg.program", str(box.path / "hooks" / "post-commit"))
    box.git("config", "commit.gpgSign", "true")
    repo = box.open()
    sha = repo.commit(onto=box.first, changes={"clusters/a/b.yaml": b"x"}, message="x", author=ALICE)
    repo.append_notes([NotesAppend(name="a", expected_tip=None, lines=[(sha, "{}")], subject="x")])
    assert not spy.exists()


def test_a_process_that_hangs_is_stopped_with_its_children(box: GitBox) -> None:
    git = Git(box.path)
    before = children()
    with pytest.raises(GitTimeout):
        git.run("-c", "alias.hang=!sleep 600", "hang", timeout=0.3)
    assert children() - before == set()


def test_malformed_objects_do_not_pass_the_fetch(box: GitBox) -> None:
    """fsckObjects: a remote cannot hand us trees that a checkout elsewhere would trip over."""
    tree = box.cluster_tree(box.tree({b".git": ("40000", box.tree({b"x": ("100644", box.blob(b"x"))}))}))
    box.commit_tree(tree, box.first)
    repo = box.open(remote=True)
    with pytest.raises(RepositoryRefused):
        repo.fetch()
    assert repo.head() is None


def test_the_credential_goes_to_its_remote_only(box: GitBox, answering: Answering) -> None:
    url = answering(503)
    credential = Credential(username="bot", password="word-of-mouth")
    assert "word-of-mouth" not in repr(credential)
    with ConfigRepo.open(url, state_dir=box.root, writer="one", credential=lambda: credential) as repo:
        with pytest.raises(RemoteUnavailable) as caught:
            repo.fetch()
        assert "word-of-mouth" not in str(caught.value)
    assert answering.authorizations == ["Basic " + base64.b64encode(b"bot:word-of-mouth").decode()]
    assert remote_environment("git@example.com:x.git", credential) == {"GIT_ALLOW_PROTOCOL": "ssh"}
    mirror = next((box.root / "mirrors").iterdir())
    assert b"word-of-mouth" not in (mirror / "config").read_bytes()


def test_a_redirect_to_another_protocol_is_not_followed(box: GitBox, answering: Answering) -> None:
    url = answering(302, location=f"file://{box.path}/info/refs")
    with ConfigRepo.open(url, state_dir=box.root, writer="one") as repo, pytest.raises(RemoteUnavailable):
        repo.fetch()


@pytest.mark.parametrize("remote", [False, True])
def test_housekeeping_loses_nothing(box: GitBox, remote: bool) -> None:
    repo = box.open(remote=remote)
    repo.fetch()
    for number in range(10):
        tip = repo.notes("prod").tip
        item = NotesAppend(name="prod", expected_tip=tip, lines=[(box.first, f"{number}")], subject="x")
        assert repo.append_notes([item])["prod"].accepted
        if number % 3 == 0:
            repo.maintain()
    repo.maintain()
    where = next((box.root / "state-one" / "mirrors").iterdir()) if remote else box.path
    assert run(where, "count-objects").startswith(b"0 objects")
    assert repo.notes("prod").entries[box.first].split() == [b"%d" % n for n in range(10)]
    assert run(where, "fsck", "--strict", "--no-dangling") == b""


def test_a_folder_of_another_user(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mounted repository often belongs to somebody else. As a folder it can be used: nothing in it is run."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    folder = box.open()
    changes = {"clusters/a/b.yaml": b"x"}
    assert folder.commit(onto=folder.head(), changes=changes, message="x", author=ALICE) == folder.head()
    with pytest.raises(RepositoryRefused, match="as a folder"):
        box.open(remote=True).fetch()


def test_other_object_format_is_refused(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q", "--bare", "--object-format=sha256", "new.git")
    with pytest.raises(NotARepository, match="sha256"):
        ConfigRepo.open(str(tmp_path / "new.git"), state_dir=tmp_path, writer="one")


def test_linked_work_tree_and_git_folder(tmp_path: Path) -> None:
    init_repository(tmp_path / "bare.git", FILES)
    run(tmp_path / "bare.git", "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "main")
    run(tmp_path, "clone", "-q", "bare.git", "clone")
    for place in ("linked", "clone", "clone/.git"):
        with ConfigRepo.open(str(tmp_path / place), state_dir=tmp_path, writer="one") as repo:
            head = repo.head()
            assert head is not None
            assert sorted(repo.clusters(head)) == ["dev", "prod"]
