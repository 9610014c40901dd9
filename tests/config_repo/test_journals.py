"""Journals in git notes: nothing is lost, nothing is overwritten, and plain git can read them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from reconciler.config_repo.errors import (
    NameRefused,
    RemoteAuthFailed,
    RemoteUnavailable,
    SecretRefused,
    UnknownRevision,
)
from reconciler.config_repo.objects import blob_id
from reconciler.config_repo.records import NotesAppend, NotesResult
from reconciler.config_repo.refs import parse_push
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import git_setup
from tests.config_repo.answering import Answering
from tests.config_repo.gitbox import ALICE, GitBox, run

PROD = "refs/notes/instantstart/status/prod"


def append(
    repo: ConfigRepo, sha: str, *lines: str, cluster: str = "prod", tip: str | None = None, parent: str | None = None
) -> NotesResult:
    item = NotesAppend(
        name=cluster,
        expected_tip=tip,
        lines=[(sha, line) for line in lines],
        subject=f"{cluster} 1: test",
        revision_parent=parent,
    )
    return repo.append_notes([item])[cluster]


def show(box: GitBox, sha: str, cluster: str = "prod") -> list[str]:
    return box.git("notes", f"--ref=instantstart/status/{cluster}", "show", sha).splitlines()


both_places = pytest.mark.parametrize("remote", [False, True], ids=["folder", "remote"])


@both_places
def test_lines_are_added_and_git_reads_them(box: GitBox, remote: bool) -> None:
    repo = box.open(remote=remote)
    repo.fetch()
    assert repo.notes("prod").tip is None
    first = append(repo, box.first, '{"seq":1}', '{"seq":2}', parent=box.first)
    assert first.accepted
    assert repo.notes("prod").tip == first.tip == box.git("rev-parse", PROD)
    second = append(repo, box.first, '{"seq":3}', tip=first.tip)
    assert second.accepted
    assert show(box, box.first) == ['{"seq":1}', '{"seq":2}', '{"seq":3}']
    assert repo.notes("prod").entries == {box.first: b'{"seq":1}\n{"seq":2}\n{"seq":3}\n'}
    assert '{"seq":3}' in box.git("log", f"--notes={PROD}", "main")
    assert box.git("log", "--format=%an <%ae> %s", "--first-parent", PROD).splitlines() == [
        *["InstantStart <instantstart@localhost> prod 1: test"] * 2,
        "InstantStart <instantstart@localhost> Journal of prod",
    ]
    assert box.git("rev-parse", f"{first.tip}^2") == box.first
    assert repo.journal_clusters() == ["prod"]
    assert box.git("fsck", "--strict", "--no-dangling") == ""


@both_places
def test_two_writers_one_is_rejected_and_nothing_is_lost(box: GitBox, remote: bool) -> None:
    """B39, B40: the loser's lines stay with the loser until it has folded the winner's."""
    one, two = box.open(remote=remote, writer="one"), box.open(remote=remote, writer="two")
    one.fetch()
    two.fetch()
    won = append(one, box.first, '{"by":1}')
    lost = append(two, box.first, '{"by":2}')
    assert won.accepted
    assert not lost.accepted
    assert lost.rejected_by
    assert show(box, box.first) == ['{"by":1}']
    again = append(two, box.first, '{"by":3}')
    assert not again.accepted
    where = next((box.root / "state-two" / "mirrors").iterdir()) if remote else box.path
    kept = run(where, "log", "--format=%H", "refs/instantstart/lost/two/prod").decode().split()
    trees = "".join(run(where, "grep", "-h", "by", sha, ok=False).decode() for sha in kept)
    assert '{"by":2}' in trees
    assert '{"by":3}' in trees
    two.fetch()
    assert append(two, box.first, '{"by":2}', tip=two.notes("prod").tip).accepted
    assert show(box, box.first) == ['{"by":1}', '{"by":2}']


@both_places
def test_one_rejected_cluster_does_not_hold_back_the_others(box: GitBox, remote: bool) -> None:
    one, two = box.open(remote=remote, writer="one"), box.open(remote=remote, writer="two")
    one.fetch()
    two.fetch()
    append(one, box.first, "{}")
    names = ("dev", "prod", "qa")
    batch = [NotesAppend(name=c, expected_tip=None, lines=[(box.first, "{}")], subject=c) for c in names]
    results = two.append_notes(batch)
    assert {c: r.accepted for c, r in results.items()} == {"dev": True, "prod": False, "qa": True}
    one.fetch()
    assert one.journal_clusters() == ["dev", "prod", "qa"]


def test_a_journal_that_begins_while_it_is_looked_for(box: GitBox) -> None:
    """Between the look for a commit and the look for anything else there: it is begun, not broken."""
    names = [f"c{number}" for number in range(60)]
    errors: list[BaseException] = []
    together = threading.Barrier(4)

    def begin(writer: str) -> None:
        try:
            with ConfigRepo.open(str(box.path), state_dir=box.root / writer, writer=writer) as repo:
                for name in names:
                    together.wait(120)
                    append(repo, box.first, "{}", tip=repo.notes(name).tip, cluster=name)
        except BaseException as error:
            together.abort()
            errors.append(error)

    threads = [threading.Thread(target=begin, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert [error for error in errors if not isinstance(error, threading.BrokenBarrierError)] == []


@both_places
def test_race_of_many_writers(box: GitBox, remote: bool) -> None:
    """B39, B40: on one ref and in a loop, with retry by fold: each line accepted exactly once, none lost."""
    turns = 3 if remote else 10
    errors: list[BaseException] = []

    def work(name: str) -> None:
        with ConfigRepo.open(
            f"file://{box.path}" if remote else str(box.path), state_dir=box.root / name, writer=name
        ) as repo:
            for turn in range(turns):
                for _ in range(200):
                    repo.fetch()
                    line = json.dumps({"by": name, "turn": turn})
                    if append(repo, box.first, line, tip=repo.notes("prod").tip).accepted:
                        break
                else:
                    raise AssertionError("never accepted")

    def guarded(name: str) -> None:
        try:
            work(name)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert errors == []
    lines = show(box, box.first)
    assert sorted(lines) == sorted(json.dumps({"by": f"w{n}", "turn": t}) for n in range(4) for t in range(turns))


@pytest.mark.parametrize(
    ("hook", "script"),
    [
        ("update", 'case "$1" in *prod) echo "no notes here" >&2; exit 1;; esac'),
        ("pre-receive", "exit 1"),
    ],
)
def test_rejected_by_a_hook(box: GitBox, hook: str, script: str) -> None:
    """B39: a rule of the host is a rejection like any other, told in the host's words."""
    repo = box.open(remote=True)
    repo.fetch()
    box.hook(hook, script)
    batch = [NotesAppend(name=c, expected_tip=None, lines=[(box.first, "{}")], subject=c) for c in ("dev", "prod")]
    results = repo.append_notes(batch)
    assert not results["prod"].accepted
    assert "declined" in (results["prod"].rejected_by or "")
    assert results["dev"].accepted is (hook == "update")
    assert repo.notes("prod").tip is None


@pytest.mark.parametrize(
    "words",
    [
        "[rejected] (fetch first)",
        "[rejected] (non-fast-forward)",
        "[rejected] (stale info)",
        "[remote rejected] (cannot lock ref 'x': is at 1 but expected 2)",
        "[remote rejected] (incorrect old value provided)",
        "[remote rejected] (failed to update ref)",
        "[remote rejected] (pre-receive hook declined)",
        "[remote failure] (remote failed to report status)",
        "[irgendetwas] (was noch nie jemand schrieb)",
        "",
    ],
)
def test_any_spelling_is_a_rejection(words: str) -> None:
    """B39: only the flag counts."""
    out = f"To file:///x\n!\t{'a' * 40}:{PROD}\t{words}\n \t{'b' * 40}:refs/x\t1..2\n*\tc:refs/y\t[new branch]\nDone\n"
    verdicts = parse_push(out.encode())
    assert verdicts.pop(PROD) == (words or "rejected")
    assert verdicts == {"refs/x": None, "refs/y": None}


def test_remote_down_moves_nothing(box: GitBox) -> None:
    repo = box.open(remote=True)
    repo.fetch()
    tip = append(repo, box.first, '{"seq":1}').tip
    away = box.path.rename(box.root / "away.git")
    with pytest.raises(RemoteUnavailable):
        repo.fetch()
    with pytest.raises(RemoteUnavailable):
        append(repo, box.first, '{"seq":2}', tip=tip)
    assert repo.notes("prod").tip == tip
    assert repo.head() == box.first
    away.rename(box.path)
    assert append(repo, box.first, '{"seq":2}', tip=tip).accepted
    assert show(box, box.first) == ['{"seq":1}', '{"seq":2}']


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, RemoteAuthFailed), (403, RemoteAuthFailed), (503, RemoteUnavailable), (404, RemoteUnavailable)],
)
def test_http_answers(box: GitBox, answering: Answering, status: int, error: type[Exception]) -> None:
    """B39: no rights and no remote are two different things, and neither is a rejection."""
    repo = box.open(location=answering(status))
    with pytest.raises(error):
        repo.fetch()
    with pytest.raises(error):
        append(repo, box.first, "{}")
    assert repo.notes("prod").tip is None


def test_crash_before_the_push(box: GitBox) -> None:
    """The lines were stored here and never sent: nobody has seen them, so nothing was done in their name."""
    repo = box.open(remote=True)
    repo.fetch()
    box.hook("pre-receive", f"mv {box.path}/hooks/pre-receive {box.path}/hooks/spent; kill -9 $PPID")
    with pytest.raises(RemoteUnavailable):
        append(repo, box.first, '{"seq":1}')
    again = box.open(remote=True)
    again.fetch()
    assert again.notes("prod").tip is None
    assert append(again, box.first, '{"seq":1}').accepted
    assert show(box, box.first) == ['{"seq":1}']


def test_same_words_in_the_same_second(box: GitBox) -> None:
    """Found here: two equal commits would both be "up to date" on the remote, and two writers would hold the fence."""
    one, two = box.open(remote=True, writer="one"), box.open(remote=True, writer="one", mirror="other")
    one.fetch()
    two.fetch()
    assert append(one, box.first, "{}").accepted
    assert not append(two, box.first, "{}").accepted


def test_crash_between_push_and_our_ref(box: GitBox) -> None:
    """The remote has it and we do not know: the next fetch says so, and until then a write is rejected."""
    one = box.open(remote=True)
    one.fetch()
    mirror = next((box.root / "state-one" / "mirrors").iterdir())
    tip = append(one, box.first, '{"seq":1}').tip
    run(mirror, "update-ref", "-d", PROD)
    again = box.open(remote=True)
    assert again.notes("prod").tip is None
    assert not append(again, box.first, '{"seq":1}').accepted
    again.fetch()
    assert again.notes("prod").tip == tip


def test_fresh_clone_has_the_journal_after_fetch_and_setup(box: GitBox) -> None:
    repo = box.open()
    append(repo, box.first, '{"seq":1}')
    run(box.root, "clone", "-q", f"file://{box.path}", "clone")
    clone = box.root / "clone"
    with ConfigRepo.open(str(clone), state_dir=box.root / "s", writer="two") as cloned:
        assert cloned.notes("prod").tip is None
    git_setup(clone)
    git_setup(clone)
    run(clone, "fetch", "-q")
    assert b'{"seq":1}' in run(clone, "log")
    config = run(clone, "config", "--get-regexp", r"notes\.|remote\.origin\.fetch").decode().splitlines()
    assert sorted(config) == [
        "notes.displayref refs/notes/instantstart/status/*",
        "remote.origin.fetch +refs/heads/*:refs/remotes/origin/*",
        "remote.origin.fetch +refs/notes/instantstart/*:refs/notes/instantstart/*",
    ]
    with ConfigRepo.open(str(clone), state_dir=box.root / "s", writer="two") as cloned:
        assert cloned.notes("prod").entries == {box.first: b'{"seq":1}\n'}


def test_notes_by_other_tools_are_understood_and_kept(box: GitBox) -> None:
    """B40: git's own flat layout, a deep fan-out and the same note twice; then git adds to what we wrote."""
    repo = box.open()
    others = [f"{n:040x}" for n in range(3)]
    flat = box.tree({box.first.encode(): ("100644", box.blob(b"by git"))})
    deep = box.tree({others[0][4:].encode(): ("100644", box.blob(b"deep\n"))})
    tree = box.tree(
        {
            box.first.encode(): ("100644", box.blob(b"by git")),
            others[0][:2].encode(): ("40000", box.tree({others[0][2:4].encode(): ("40000", deep)})),
            others[1].encode(): ("100644", box.blob(b"twice a")),
            others[1][:2].encode() + b"x": ("100644", box.blob(b"no note")),
            b"README": ("100644", box.blob(b"keep me")),
        }
    )
    assert flat
    box.git("update-ref", PROD, box.git("commit-tree", tree, "-m", "foreign"))
    view = repo.notes("prod")
    assert view.entries == {box.first: b"by git\n", others[0]: b"deep\n", others[1]: b"twice a\n"}
    assert append(repo, box.first, '{"seq":1}', tip=view.tip).accepted
    assert show(box, box.first) == ["by git", '{"seq":1}']
    second = append(repo, others[0], '{"seq":2}', tip=repo.notes("prod").tip)
    assert second.accepted
    box.git(
        "-c", "user.name=x", "-c", "user.email=x@example.com", "notes", f"--ref={PROD}", "append", "-m", "hi", "main"
    )
    assert repo.notes("prod").entries[box.first] == b'by git\n{"seq":1}\n\nhi\n'
    assert repo.notes("prod").entries[others[0]] == b'deep\n{"seq":2}\n'
    assert "README" in box.git("ls-tree", "--name-only", PROD)


def test_many_notes(box: GitBox) -> None:
    """Hundreds of annotated commits, most of which are not in this repository (B30: gone after a rewrite)."""
    repo = box.open()
    shas = [blob_id(str(n).encode()) for n in range(600)]
    lines = [(sha, json.dumps({"n": n})) for n, sha in enumerate(shas)]
    item = NotesAppend(name="prod", expected_tip=None, lines=lines, subject="many")
    assert repo.append_notes([item])["prod"].accepted
    assert len(box.git("notes", f"--ref={PROD}", "list").splitlines()) == 600
    assert append(repo, shas[7], "{}", tip=repo.notes("prod").tip).accepted
    for reader in (repo, box.open()):
        entries = reader.notes("prod").entries
        assert len(entries) == 600
        assert entries[shas[7]] == b'{"n": 7}\n{}\n'
    git_says = box.git("notes", f"--ref={PROD}", "list").split()
    assert set(git_says[1::2]) == set(shas)


def test_attachments_travel_with_the_notes(box: GitBox) -> None:
    repo = box.open(remote=True)
    repo.fetch()
    data = json.dumps([f"{n:064x}" for n in range(200)]).encode()
    item = NotesAppend(
        name="prod", expected_tip=None, lines=[(box.first, blob_id(data))], subject="x", attachments=[data]
    )
    assert repo.append_notes([item])["prod"].accepted
    box.git(
        "-c", "user.name=x", "-c", "user.email=x@example.com", "notes", f"--ref={PROD}", "append", "-m", "hi", "main"
    )
    other = box.open(remote=True, writer="two")
    other.fetch()
    assert other.blobs([blob_id(data)]) == {blob_id(data): data}
    assert list(other.notes("prod").entries) == [box.first]


def test_a_revision_stays_reachable_after_a_force_push(box: GitBox) -> None:
    """B30: the documents of what was applied travel with the notes."""
    repo = box.open(remote=True)
    repo.fetch()
    changes = {"clusters/prod/x.yaml": b"x"}
    applied = repo.commit(onto=box.first, changes=changes, message="applied", author=ALICE)
    append(repo, applied, "{}", parent=applied)
    box.git("update-ref", "refs/heads/main", box.first)
    box.git("gc", "-q", "--prune=now")
    fresh = box.open(remote=True, writer="two")
    fresh.fetch()
    assert [f.path for f in fresh.files(applied, "clusters/prod")][-1] == "clusters/prod/x.yaml"
    with pytest.raises(UnknownRevision):
        append(fresh, applied, "{}", tip=fresh.notes("prod").tip, parent="0" * 39 + "1")


@pytest.mark.parametrize(
    "item",
    [
        NotesAppend(name="-x", expected_tip=None, lines=[("a" * 40, "{}")], subject="x"),
        NotesAppend(name="../x", expected_tip=None, lines=[("a" * 40, "{}")], subject="x"),
        NotesAppend(name="prod", expected_tip="main", lines=[("a" * 40, "{}")], subject="x"),
        NotesAppend(name="prod", expected_tip=None, lines=[("main", "{}")], subject="x"),
        NotesAppend(name="prod", expected_tip=None, lines=[("a" * 40, "{}\n{}")], subject="x"),
        NotesAppend(name="prod", expected_tip=None, lines=[], subject="x"),
    ],
)
def test_what_is_no_note_is_refused(box: GitBox, item: NotesAppend) -> None:
    """D07"""
    with pytest.raises(NameRefused):
        box.open().append_notes([item])


def test_no_secret_reaches_a_note(box: GitBox) -> None:
    repo = box.open()
    token = "hf_" + "AbCdEfGhIj" * 4
    good = NotesAppend(name="dev", expected_tip=None, lines=[(box.first, "{}")], subject="x")
    for bad in (
        NotesAppend(name="prod", expected_tip=None, lines=[(box.first, json.dumps({"msg": token}))], subject="x"),
        NotesAppend(name="prod", expected_tip=None, lines=[(box.first, "{}")], subject=token),
        NotesAppend(
            name="prod", expected_tip=None, lines=[(box.first, "{}")], subject="x", attachments=[token.encode()]
        ),
    ):
        with pytest.raises(SecretRefused) as caught:
            repo.append_notes([good, bad])
        assert token not in str(caught.value)
    assert repo.journal_clusters() == []


def test_unknown_tip_is_a_rejection(box: GitBox) -> None:
    """A tip from before a lost mirror: fetch, fold, try again."""
    result = append(box.open(), box.first, "{}", tip="1" * 40)
    assert not result.accepted


def test_lost_state_directory(box: GitBox, tmp_path: Path) -> None:
    """An empty disk goes on where the remote stands."""
    repo = box.open(remote=True, writer="one")
    repo.fetch()
    tip = append(repo, box.first, '{"seq":1}').tip
    fresh = box.open(remote=True, writer="two")
    fresh.fetch()
    assert append(fresh, box.first, '{"seq":2}', tip=fresh.notes("prod").tip).accepted
    assert not append(repo, box.first, '{"seq":2}', tip=tip).accepted
