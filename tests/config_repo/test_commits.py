"""A commit moves its branch from where it was written against, or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from reconciler.config_repo.errors import NameRefused, PathRefused, RefMoved, WorkTreeInTheWay
from reconciler.config_repo.repo import ConfigRepo
from tests.config_repo.gitbox import ALICE, GitBox, run


@pytest.mark.parametrize("remote", [False, True])
def test_commit_writes_what_git_reads(box: GitBox, remote: bool) -> None:
    repo = box.open(remote=remote)
    repo.fetch()
    changes = {
        "clusters/prod/groups/b.yaml": b"kind: InstanceGroup\n",
        "clusters/prod/groups/größe.yaml": b"x",
        "clusters/dev/cluster.yaml": None,
        "clusters/gone/x.yaml": None,
        "clusters/prod/cluster.yaml/x": None,
    }
    sha = repo.commit(onto=box.first, changes=changes, message="Add b\n\nWhy: more work.", author=ALICE)
    assert box.git("rev-parse", "main") == sha == repo.head()
    assert box.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", sha).splitlines() == [
        "README.md",
        "clusters/prod/cluster.yaml",
        "clusters/prod/groups/a.yaml",
        "clusters/prod/groups/b.yaml",
        "clusters/prod/groups/größe.yaml",
    ]
    assert box.git("log", "-1", "--format=%an <%ae>|%cn|%s|%b", sha) == (
        "Alice Example <alice@example.com>|InstantStart|Add b|Why: more work."
    )
    assert box.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("remote", [False, True])
def test_second_of_two_commits_is_refused(box: GitBox, remote: bool) -> None:
    """B31: the loser hears where the branch stands and nothing is forced."""
    one, two = box.open(remote=remote, writer="one"), box.open(remote=remote, writer="two")
    one.fetch()
    two.fetch()
    first = one.commit(onto=box.first, changes={"clusters/prod/a.yaml": b"1"}, message="1", author=ALICE)
    with pytest.raises(RefMoved) as caught:
        two.commit(onto=box.first, changes={"clusters/prod/a.yaml": b"2"}, message="2", author=ALICE)
    if remote:
        two.fetch()
    else:
        assert caught.value.tip == first
    assert two.head() == first
    assert two.commit(onto=first, changes={"clusters/prod/a.yaml": b"2"}, message="2", author=ALICE) == two.head()


def test_nothing_to_change_is_no_commit(box: GitBox) -> None:
    repo = box.open()
    same = {"clusters/prod/cluster.yaml": b"kind: Cluster\n"}
    assert repo.commit(onto=box.first, changes=same, message="x", author=ALICE) == box.first
    repo.commit(onto=box.first, changes={"clusters/prod/a.yaml": b"x"}, message="x", author=ALICE)
    with pytest.raises(RefMoved):
        repo.commit(onto=box.first, changes=same, message="x", author=ALICE)


def test_everything_removed(box: GitBox) -> None:
    repo = box.open()
    sha = repo.commit(onto=None, changes={"clusters/a/b.yaml": b"x"}, message="x", author=ALICE, branch="other")
    sha = repo.commit(onto=sha, changes={"clusters/a/b.yaml": None}, message="x", author=ALICE, branch="other")
    assert repo.clusters(sha) == {}
    assert box.git("ls-tree", "-r", sha) == ""


def test_another_branch_starts_on_its_base_and_main_never_does(box: GitBox) -> None:
    repo = box.open()
    change = {"clusters/prod/a.yaml": b"x"}
    sha = repo.commit(onto=box.first, changes=change, message="x", author=ALICE, branch="change/one")
    assert repo.resolve("change/one") == sha
    assert repo.head() == box.first
    with pytest.raises(RefMoved):
        repo.commit(onto=box.first, changes={"clusters/b/a.yaml": b"y"}, message="x", author=ALICE, branch="change/one")
    box.git("update-ref", "-d", "refs/heads/main")
    with pytest.raises(RefMoved):
        repo.commit(onto=box.first, changes=change, message="x", author=ALICE)


@pytest.mark.parametrize(
    "path",
    [
        "../x.yaml",
        "clusters/../../x",
        "/etc/passwd",
        "clusters/prod//x.yaml",
        "clusters/prod/./x.yaml",
        "clusters/prod/",
        "clusters",
        "clusters/.git/hooks/post-commit",
        "clusters/prod/.GIT/config",
        "clusters/prod/.g\u200bit/config",
        "clusters/prod/git~1/config",
        "clusters/prod/.gitmodules",
        "clusters/prod/.gitattributes",
        "clusters/prod/-x.yaml",
        "--upload-pack=x",
        "clusters/prod/a\nb.yaml",
        "clusters/prod/a\0b.yaml",
        "clusters/prod/a\\b.yaml",
        "clusters/prod/\udce9.yaml",
        "clusters/prod/" + "a" * 201,
        "clusters/" + "a/" * 20 + "x",
        "README.md",
        ".github/workflows/x.yaml",
        "",
    ],
)
def test_paths_that_are_refused(box: GitBox, path: str) -> None:
    """D07: only documents are written, under names that mean the same everywhere."""
    with pytest.raises(PathRefused):
        box.open().commit(onto=box.first, changes={path: b"x"}, message="x", author=ALICE)
    assert box.git("rev-parse", "main") == box.first


def test_links_are_never_written_through(box: GitBox) -> None:
    """B27: neither a linked file nor anything below a linked folder."""
    tree = box.tree({b"l.yaml": ("120000", box.blob(b"/etc/passwd")), b"d": ("120000", box.blob(b"/etc"))})
    base = box.commit_tree(box.cluster_tree(tree), box.first)
    repo = box.open()
    for path in ("clusters/prod/l.yaml", "clusters/prod/d/x.yaml", "clusters/prod/d"):
        with pytest.raises(PathRefused):
            repo.commit(onto=base, changes={path: b"x"}, message="x", author=ALICE)
    cleaned = repo.commit(onto=base, changes={"clusters/prod/l.yaml": None}, message="x", author=ALICE)
    assert [f.path for f in repo.files(cleaned, "clusters/prod")] == ["clusters/prod/d"]


@pytest.mark.parametrize(
    "branch",
    [
        "-x",
        "refs/notes/status",
        "refs/heads/x",
        "HEAD",
        "a..b",
        "a.lock",
        "a/.b",
        "a//b",
        "a\n",
        "a b",
        "@{u}",
        "a:b",
        "",
    ],
)
def test_branches_that_are_refused(box: GitBox, branch: str) -> None:
    """D07"""
    with pytest.raises(NameRefused):
        box.open().commit(onto=None, changes={"clusters/a/b": b"x"}, message="x", author=ALICE, branch=branch)


def test_hostile_author_and_message(box: GitBox) -> None:
    author = ("Al <x>\nparent 1234", "a b>\n@example.com")
    changes = {"clusters/prod/a.yaml": b"x"}
    sha = box.open().commit(onto=box.first, changes=changes, message="\0s\n\nparent 0\n", author=author)
    info = box.open().commit_info(sha)
    assert (info.author_name, info.author_email) == ("Al xparent 1234", "ab@example.com")
    assert info.parents == (box.first,)
    assert (info.subject, info.body) == ("s", "parent 0")


def test_file_mode_is_kept(box: GitBox) -> None:
    tree = box.tree({b"run.sh": ("100755", box.blob(b"x"))})
    base = box.commit_tree(box.cluster_tree(tree), box.first)
    repo = box.open()
    sha = repo.commit(onto=base, changes={"clusters/prod/run.sh": b"y"}, message="x", author=ALICE)
    assert [f.mode for f in repo.files(sha, "clusters/prod")] == ["100755"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    run(tmp_path, "init", "-q", "-b", "main", "work")
    work = tmp_path / "work"
    (work / "clusters" / "prod").mkdir(parents=True)
    (work / "clusters" / "prod" / "a.yaml").write_text("one\n")
    run(work, "add", ".")
    run(work, "commit", "-qm", "one")
    return work


def test_a_checkout_of_the_branch_comes_along(checkout: Path, tmp_path: Path) -> None:
    """Else `git status` would show our commit as undone, and the person's next commit would undo it."""
    (checkout / "notes.txt").write_text("mine")
    with ConfigRepo.open(str(checkout), state_dir=tmp_path, writer="one") as repo:
        changes = {"clusters/prod/a.yaml": b"two\n", "clusters/prod/b.yaml": b"new\n"}
        repo.commit(onto=repo.head(), changes=changes, message="x", author=ALICE)
    assert (checkout / "clusters" / "prod" / "a.yaml").read_text() == "two\n"
    assert (checkout / "clusters" / "prod" / "b.yaml").read_text() == "new\n"
    assert run(checkout, "status", "--porcelain") == b"?? notes.txt\n"


def test_a_persons_changes_are_never_overwritten(checkout: Path, tmp_path: Path) -> None:
    (checkout / "clusters" / "prod" / "a.yaml").write_text("my own work\n")
    with ConfigRepo.open(str(checkout), state_dir=tmp_path, writer="one") as repo:
        head = repo.head()
        with pytest.raises(WorkTreeInTheWay):
            repo.commit(onto=head, changes={"clusters/prod/a.yaml": b"two\n"}, message="x", author=ALICE)
        assert repo.head() == head
        repo.commit(onto=head, changes={"clusters/prod/b.yaml": b"new\n"}, message="x", author=ALICE)
    assert (checkout / "clusters" / "prod" / "a.yaml").read_text() == "my own work\n"
    assert run(checkout, "status", "--porcelain") == b" M clusters/prod/a.yaml\n"


def test_other_branch_leaves_the_checkout_alone(checkout: Path, tmp_path: Path) -> None:
    with ConfigRepo.open(str(checkout), state_dir=tmp_path, writer="one") as repo:
        changes = {"clusters/prod/a.yaml": b"two\n"}
        repo.commit(onto=repo.head(), changes=changes, message="x", author=ALICE, branch="change/x")
    assert run(checkout, "status", "--porcelain") == b""


def test_many_threads_one_branch(box: GitBox) -> None:
    """B31: every commit that was answered with an id is in the history, and no other."""
    repo = box.open()
    done: list[str] = []

    def work(number: int) -> None:
        for turn in range(5):
            for _ in range(200):
                tip = repo.head()
                try:
                    changes = {f"clusters/prod/{number}-{turn}.yaml": b"x"}
                    done.append(repo.commit(onto=tip, changes=changes, message="x", author=ALICE))
                    break
                except RefMoved:
                    continue
            else:
                raise AssertionError("never accepted")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    head = repo.head()
    assert head is not None
    assert {c.sha for c in repo.log(head)} == {box.first, *done}
    assert len(done) == 20
    assert len(repo.files(head, "clusters/prod")) == 22
