"""Any revision can be read without a work tree, and what is not a plain file is named and never followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.config_repo.errors import NotARepository, ObjectMissing, UnknownCluster, UnknownRevision
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from tests.config_repo.gitbox import ALICE, NOW, GitBox, run


def problems(repo: ConfigRepo, sha: str) -> dict[str, str]:
    return {f.path: f.problem for f in repo.files(sha, "clusters/prod") if f.problem}


@pytest.mark.parametrize("remote", [False, True])
def test_reads_a_revision(box: GitBox, remote: bool) -> None:
    repo = box.open(remote=remote)
    repo.fetch()
    head = repo.head()
    assert head is not None
    assert head == box.first == repo.resolve("main")
    assert repo.is_remote is remote
    assert sorted(repo.clusters(head)) == ["dev", "prod"]
    files = repo.files(head, "clusters/prod")
    assert [(f.path, f.size, f.problem) for f in files] == [
        ("clusters/prod/cluster.yaml", 14, None),
        ("clusters/prod/groups/a.yaml", 20, None),
    ]
    assert repo.blobs(f.blob for f in files)[files[0].blob] == b"kind: Cluster\n"
    info = repo.commit_info(head)
    assert (info.author_name, info.author_email, info.parents) == (*ALICE, ())
    assert (info.at, info.subject) == ("2026-09-21T14:13:20Z", "Start the config repository")


def test_work_tree_is_read_at_its_commit(tmp_path: Path) -> None:
    """What lies uncommitted in a checkout is not the config repository's business."""
    run(tmp_path, "init", "-q", "-b", "main", "work")
    work = tmp_path / "work"
    (work / "clusters" / "prod").mkdir(parents=True)
    (work / "clusters" / "prod" / "a.yaml").write_text("one")
    run(work, "add", ".")
    run(work, "commit", "-qm", "one")
    (work / "clusters" / "prod" / "a.yaml").write_text("two")
    with ConfigRepo.open(str(work), state_dir=tmp_path / "state", writer="one") as repo:
        head = repo.head()
        assert head is not None
        file = repo.file(head, "clusters/prod/a.yaml")
        assert file is not None
        assert repo.blobs([file.blob]) == {file.blob: b"one"}


@pytest.mark.parametrize("remote", [False, True])
def test_empty_repository(tmp_path: Path, remote: bool) -> None:
    """B37: no commit at all, then a branch of another name; both are "no commits on main yet", not errors."""
    bare = tmp_path / "empty.git"
    run(tmp_path, "init", "-q", "--bare", "-b", "master", str(bare))
    location = f"file://{bare}" if remote else str(bare)
    with ConfigRepo.open(location, state_dir=tmp_path / "state", writer="one") as repo:
        repo.fetch()
        assert repo.head() is None
        assert repo.journal_clusters() == []
        with pytest.raises(UnknownRevision):
            repo.resolve("main")
        tree = run(bare, "mktree", stdin=b"").decode().strip()
        run(bare, "update-ref", "refs/heads/master", run(bare, "commit-tree", tree, "-m", "x").decode().strip())
        repo.fetch()
        assert repo.head() is None
        first = repo.commit(onto=None, changes={"clusters/a/c.yaml": b"x"}, message="Start", author=ALICE)
        assert repo.head() == first
        assert list(repo.clusters(first)) == ["a"]


def test_links_and_submodules_are_named_not_followed(box: GitBox) -> None:
    """B27, B28: links out of the repository and inside it are treated alike: not followed, and said so."""
    tree = box.tree(
        {
            b"out.yaml": ("120000", box.blob(b"/etc/passwd")),
            b"in.yaml": ("120000", box.blob(b"cluster.yaml")),
            b"folder": ("120000", box.blob(b"../../clusters/dev")),
            b"sub": ("160000", box.first),
            b"cluster.yaml": ("100644", box.blob(b"x")),
        }
    )
    sha = box.commit_tree(box.cluster_tree(tree), box.first)
    repo = box.open()
    found = problems(repo, sha)
    assert set(found) == {f"clusters/prod/{n}" for n in ("out.yaml", "in.yaml", "folder", "sub")}
    assert "never followed" in found["clusters/prod/out.yaml"]
    assert "submodule" in found["clusters/prod/sub"]
    assert repo.files(sha, "clusters/prod/folder") == []
    assert repo.file(sha, "clusters/prod/folder/cluster.yaml") is None


@pytest.mark.parametrize(
    ("name", "fine", "reason"),
    [
        ("größe.yaml".encode(), True, "UTF-8 names work"),
        (b"with space.yaml", True, "so do spaces"),
        (b"new\nline.yaml", True, "a newline is an odd but honest name"),
        (b'quo"te.yaml', True, "quotes too"),
        (b"-flag.yaml", True, "reading one is harmless; only writing is refused"),
        (b"caf\xe9.yaml", False, "bytes that are no UTF-8 are reported, not skipped"),
        (b"..", False, "a folder above"),
        (b".", False, "the folder itself"),
        (b".git", False, "git's own folder"),
        (b".GiT", False, "git's own folder where case does not count"),
        ("\u200b.git".encode(), False, "git's own folder where invisible letters do not count"),
        (b"a/b.yaml", False, "a slash inside a name"),
    ],
)
def test_names_in_trees(box: GitBox, name: bytes, fine: bool, reason: str) -> None:
    """B42, and trees that no git would write."""
    inner = box.tree({b"x.yaml": ("100644", box.blob(b"x"))})
    for mode, sha in (("100644", box.blob(b"x")), ("40000", inner)):
        commit = box.commit_tree(box.cluster_tree(box.tree({name: (mode, sha)})), box.first)
        files = box.open().files(commit, "clusters/prod")
        assert len(files) == 1
        assert (files[0].problem is None) is fine, reason
        assert files[0].path.startswith("clusters/prod/")


def test_large_files_are_named_not_read(box: GitBox) -> None:
    tree = box.tree(
        {b"big.yaml": ("100644", box.blob(b"x" * (1 << 20) + b"y")), b"ok.yaml": ("100644", box.blob(b"x" * (1 << 20)))}
    )
    sha = box.commit_tree(box.cluster_tree(tree), box.first)
    assert problems(box.open(), sha) == {"clusters/prod/big.yaml": "larger than 1 MiB (1048577 bytes)"}


def test_tree_bomb_and_depth_are_bounded(box: GitBox) -> None:
    """A few hundred bytes of shared trees can stand for millions of files."""
    bomb = box.tree({b"f%03d" % i: ("100644", box.blob(b"x")) for i in range(100)})
    for _ in range(3):
        bomb = box.tree({b"d%03d" % i: ("40000", bomb) for i in range(100)})
    sha = box.commit_tree(box.cluster_tree(bomb), box.first)
    assert [f.problem for f in box.open().files(sha, "clusters/prod")] == ["more than 20000 files"]

    deep = box.tree({b"f": ("100644", box.blob(b"x"))})
    for _ in range(30):
        deep = box.tree({b"d": ("40000", deep)})
    sha = box.commit_tree(box.cluster_tree(deep), box.first)
    assert [f.problem for f in box.open().files(sha, "clusters/prod")] == ["folders too deep"]


def test_what_is_no_cluster_below_clusters(box: GitBox) -> None:
    folder = box.tree({b"x.yaml": ("100644", box.blob(b"x"))})
    clusters = box.tree(
        {
            b"prod": ("40000", folder),
            b"Prod": ("40000", folder),
            b"a" * 41: ("40000", folder),
            b"b" * 40: ("40000", folder),
            b"-x": ("40000", folder),
            b"link": ("120000", box.blob(b"prod")),
            b"policy.yaml": ("100644", box.blob(b"x")),
        }
    )
    sha = box.commit_tree(box.tree({b"clusters": ("40000", clusters)}), box.first)
    repo = box.open()
    assert sorted(repo.clusters(sha)) == ["b" * 40, "prod"]
    assert {p.path.removeprefix("clusters/") for p in repo.problems(sha)} == {"Prod", "a" * 41, "-x", "link"}
    policy = repo.file(sha, "clusters/policy.yaml")
    assert policy is not None
    assert policy.path == "clusters/policy.yaml"
    assert policy.problem is None


def test_clusters_that_is_a_link(box: GitBox) -> None:
    sha = box.commit_tree(box.tree({b"clusters": ("120000", box.blob(b"/etc"))}), box.first)
    repo = box.open()
    assert repo.clusters(sha) == {}
    assert [p.path for p in repo.problems(sha)] == ["clusters"]


def test_missing_object_is_an_error_not_an_absence(box: GitBox) -> None:
    """A damaged repository must never look like an emptied one."""
    repo = box.open()
    blob = next(f.blob for f in repo.files(box.first, "clusters/prod"))
    tree = repo.clusters(box.first)["dev"]
    for sha in (blob, tree):
        (box.path / "objects" / sha[:2] / sha[2:]).unlink()
    fresh = box.open()
    assert "missing" in (fresh.files(box.first, "clusters/prod")[0].problem or "")
    with pytest.raises(ObjectMissing):
        fresh.blobs([blob])
    with pytest.raises(ObjectMissing):
        fresh.files(box.first, "clusters/dev")


def test_malformed_tree_is_an_error_not_an_absence(box: GitBox) -> None:
    raw = b"100644 a.yaml\0" + bytes(20) + b"garbage"
    tree = box.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    sha = box.commit_tree(box.cluster_tree(tree), box.first)
    with pytest.raises(ObjectMissing):
        box.open().files(sha, "clusters/prod")


@pytest.mark.parametrize(
    "text",
    [
        "--upload-pack=x",
        "-x",
        "",
        "main\n",
        "main:clusters",
        "main@{1}",
        "main^{/Start}",
        ":/Start",
        "refs/notes/instantstart/status/prod",
        "refs/heads/main",
        "../main",
        "a..b",
        "main~1 --all",
        "main\0",
        "mäin",
    ],
)
def test_revisions_that_are_refused(box: GitBox, text: str) -> None:
    """D07: what a person types is a revision or an error, never a flag or another kind of ref."""
    with pytest.raises(UnknownRevision):
        box.open().resolve(text)


def test_revisions_that_resolve(box: GitBox) -> None:
    repo = box.open()
    second = repo.commit(onto=box.first, changes={"clusters/a/b.yaml": b"x"}, message="two", author=ALICE)
    box.git("tag", "-a", "v1", "-m", "v1", box.first)
    box.git("update-ref", "refs/heads/change/one", second)
    for text, sha in {
        "main": second,
        "main~1": box.first,
        "main^": box.first,
        "v1": box.first,
        "change/one": second,
        second: second,
        second[:10]: second,
        "HEAD": second,
    }.items():
        assert repo.resolve(text) == sha


def test_revision_of_follows_first_parents(box: GitBox) -> None:
    """B36: each cluster has the commit that last changed it; a revert is a new revision; a merge counts as one."""
    repo = box.open()
    shas = [box.first]

    def commit(changes: dict[str, bytes | None]) -> str:
        shas.append(repo.commit(onto=shas[-1], changes=changes, message="c", author=ALICE))
        return shas[-1]

    changed = commit({"clusters/prod/cluster.yaml": b"B\n"})
    commit({"clusters/prod/cluster.yaml": b"kind: Cluster\n"})
    removed = commit({"clusters/dev/cluster.yaml": None})
    side = repo.commit(
        onto=removed, changes={"clusters/side/c.yaml": b"x"}, message="side", author=ALICE, branch="side"
    )
    box.git("update-ref", "refs/heads/main", removed)
    mainline = commit({"clusters/prod/new.yaml": b"x"})
    tree = box.git("merge-tree", "--write-tree", mainline, side)
    merge = box.git("commit-tree", tree, "-p", mainline, "-p", side, "-m", "merge")
    box.git("update-ref", "refs/heads/main", merge)
    shas.append(merge)
    unrelated = repo.commit(onto=merge, changes={"clusters/z/c.yaml": b"x"}, message="z", author=ALICE)

    assert repo.revision_of(changed, "prod") == changed
    # Warm and cold must agree, from any revision.
    for reader in (repo, box.open()):
        assert reader.revision_of(unrelated, "side") == merge
        assert reader.revision_of(unrelated, "prod") == mainline
        assert reader.revision_of(unrelated, "dev") == removed
        assert "dev" not in reader.clusters(unrelated)
        assert reader.revision_of(box.first, "dev") == box.first
        assert reader.revision_of(merge, "side") == merge
        with pytest.raises(UnknownCluster):
            reader.revision_of(box.first, "side")
    assert [c.sha for c in repo.log(unrelated, cluster="side")] == [merge]
    assert [c.sha for c in repo.log(unrelated, limit=2)] == [unrelated, merge]


def test_force_push_and_lost_history(box: GitBox) -> None:
    """B30: after a rewrite and gc the old ids are simply gone, and the branch is followed."""
    repo = box.open(remote=True)
    repo.fetch()
    old = repo.commit(onto=box.first, changes={"clusters/prod/x.yaml": b"x"}, message="old", author=ALICE)
    assert repo.revision_of(old, "prod") == old
    new = box.commit_tree(box.git("rev-parse", f"{box.first}^{{tree}}"), message="rewritten")
    repo.fetch()
    assert repo.head() == new
    assert repo.history_rewritten(old, new)
    assert not repo.history_rewritten(new, new)
    run(next((box.root / "state-one" / "mirrors").iterdir()), "gc", "-q", "--prune=now")
    assert repo.history_rewritten(old, new)
    assert not repo.has_commit(old)
    assert not repo.is_ancestor(old, new)
    assert repo.revision_of(new, "prod") == new
    with pytest.raises(ObjectMissing):
        repo.commit_info(old)


def test_shallow_clone(box: GitBox) -> None:
    repo = box.open()
    sha = box.first
    for number in range(3):
        changes = {f"clusters/prod/{number}.yaml": b"x"}
        sha = repo.commit(onto=sha, changes=changes, message=str(number), author=ALICE)
    run(box.root, "clone", "-q", "--bare", "--depth", "1", f"file://{box.path}", "shallow.git")
    shallow = box.open(location=str(box.root / "shallow.git"), writer="two")
    assert shallow.head() == sha
    assert shallow.revision_of(sha, "dev") == sha
    assert len(shallow.files(sha, "clusters/prod")) == 5
    assert not shallow.has_commit(box.first)
    assert shallow.history_rewritten(box.first, sha)


def test_dates_and_idents_nobody_should_write(box: GitBox) -> None:
    tree = box.git("rev-parse", "main^{tree}")
    raw = f"tree {tree}\nauthor  <> 99999999999999999 +0000\ncommitter nobody\n\n\xff".encode("latin-1")
    sha = box.git("hash-object", "-w", "-t", "commit", "--literally", "--stdin", stdin=raw)
    info = box.open().commit_info(sha)
    assert (info.author_name, info.at, info.subject) == ("", "1970-01-01T00:00:00Z", "\ufffd")


@pytest.mark.parametrize(
    "location",
    [
        "ext::sh -c touch% spy",
        "--upload-pack=touch x",
        "ssh://-oProxyCommand=x/y",
        "git://example.com/x",
        "http://example.com/x.git",
        "https://user:word@example.com/x.git",
        "https://example.com/x.git\n",
        "https:///x.git",
        "nowhere",
    ],
)
def test_locations_that_are_refused(tmp_path: Path, location: str) -> None:
    """D07: an address runs no program, carries no credential, and means what it says."""
    with pytest.raises(NotARepository):
        ConfigRepo.open(location, state_dir=tmp_path, writer="one")


def test_callers_git_variables_change_nothing(box: GitBox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Inside a hook, git's own variables point to another repository."""
    other = tmp_path / "other.git"
    init_repository(other, {"clusters/x/c.yaml": b"x"}, at=NOW)
    for key, value in {
        "GIT_DIR": str(other),
        "GIT_OBJECT_DIRECTORY": str(other / "objects"),
        "GIT_NAMESPACE": "x",
        "GIT_CONFIG_PARAMETERS": "'core.bare=false'",
    }.items():
        monkeypatch.setenv(key, value)
    assert box.open().head() == box.first
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    with pytest.raises(NotARepository, match="GIT_WORK_TREE"):
        box.open(writer="two")
