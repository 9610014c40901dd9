"""Refs of changes: what two commits differ in, and moves of several refs that happen together or not at all."""

from __future__ import annotations

import pytest

from reconciler.config_repo.changes import Move
from reconciler.config_repo.errors import NameRefused, RefMoved
from reconciler.config_repo.repo import ConfigRepo
from tests.config_repo.gitbox import ALICE, FILES, GitBox, run

ID = "01kjmdt83gg4hzwyn00cjvdmdx"


def commit(repo: ConfigRepo, base: str, **files: str | None) -> str:
    changes = {
        f"clusters/{name.replace('__', '/')}.yaml": None if text is None else text.encode()
        for name, text in files.items()
    }
    return repo.changes.store_commit(parents=[base], changes=changes, message="x", author=ALICE)


@pytest.mark.parametrize("remote", [False, True])
def test_what_two_commits_differ_in_is_what_git_says(box: GitBox, remote: bool) -> None:
    repo = box.open(remote=remote)
    repo.fetch()
    one = commit(repo, box.first, prod__cluster="changed\n", prod__new="new\n", prod__groups__a=None)
    two = commit(repo, one, dev__cluster=None, prod__cluster=None, prod__new=None, späte__ü="x\n")
    pairs = [(a, b) for a in (box.first, one, two) for b in (box.first, one, two)]
    together = repo.changes.all_changed_files(pairs)
    for a, b in pairs:
        found = repo.changes.changed_files(a, b)
        assert together[a, b] == found
    assert repo.changes.changed_files(box.first, one).keys() == {
        "clusters/prod/cluster.yaml", "clusters/prod/new.yaml", "clusters/prod/groups/a.yaml",
    }  # fmt: skip
    before, after = repo.changes.changed_files(box.first, one)["clusters/prod/cluster.yaml"]
    assert repo.blobs([before or "", after or ""]) == {before: FILES["clusters/prod/cluster.yaml"], after: b"changed\n"}


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize("atomic", [True, False])
def test_a_move_that_cannot_be_made_moves_nothing_before_it(box: GitBox, remote: bool, atomic: bool) -> None:
    """In the order told: where a remote cannot move all together, nothing after the first refusal moves."""
    if not atomic:
        box.git("config", "receive.advertiseAtomic", "false")
    repo = box.open(remote=remote)
    repo.fetch()
    new = commit(repo, box.first, prod__cluster="changed\n")
    move = Move()
    repo.changes.set_main(move, "main", new, new)  # it does not stand there
    repo.changes.set_branch(move, ID, None, new)
    with pytest.raises(RefMoved) as told:
        repo.changes.publish(move)
    assert told.value.ref == "refs/heads/main"
    assert box.git("for-each-ref", "refs/heads/change") == ""
    good = Move()
    repo.changes.set_main(good, "main", box.first, new)
    repo.changes.set_branch(good, ID, None, new)
    repo.changes.publish(good)
    assert box.git("rev-parse", f"change/{ID}") == box.git("rev-parse", "main") == new
    assert repo.head() == repo.changes.branch(ID) == new


def test_a_checkout_comes_along(box: GitBox) -> None:
    run(box.root, "clone", "--quiet", str(box.path), "checkout")
    work = box.root / "checkout"
    repo = box.open(location=str(work), mirror="checkout")
    head = repo.head()
    assert head is not None
    new = commit(repo, head, prod__cluster="changed\n")
    move = Move()
    repo.changes.set_main(move, "main", head, new)
    repo.changes.publish(move)
    assert (work / "clusters/prod/cluster.yaml").read_text() == "changed\n"
    assert run(work, "status", "--porcelain") == b""


def test_a_key_is_taken_once(box: GitBox) -> None:
    repo = box.open()
    for number in range(2):
        move = Move()
        repo.changes.take_key(move, "a" * 64, f'{{"n":{number}}}', box.first)
        if number == 0:
            repo.changes.publish(move)
            continue
        with pytest.raises(RefMoved):
            repo.changes.publish(move)
    assert repo.changes.keyed("a" * 64) == '{"n":0}'
    assert repo.changes.keyed("b" * 64) is None


@pytest.mark.parametrize("name", ["", "../x", "main", ID.upper(), f"{ID}x", "refs/heads/main"])
def test_an_id_is_no_way_out(box: GitBox, name: str) -> None:
    with pytest.raises(NameRefused):
        box.open().changes.branch(name)


def test_what_a_head_contains(box: GitBox) -> None:
    repo = box.open()
    inside = commit(repo, box.first, prod__cluster="changed\n")
    beside = commit(repo, box.first, prod__cluster="other\n")
    assert repo.changes.not_in([box.first, inside, beside, "f" * 40], inside) == {beside, "f" * 40}
    assert repo.changes.between(box.first, inside) == [inside]
