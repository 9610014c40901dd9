"""What was read once is not read again: in one process, across restarts, and never from what somebody else wrote."""

from __future__ import annotations

import gc
import os
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.engine.kept import MAX_FILE, Kept, Shelf
from reconciler.engine.library import Folder, Library
from schemas.documents import packed
from schemas.documents.load import load_cluster
from schemas.documents.records import LoadedCluster, ParsedFile, SourceFile
from tests.bench.config_documents import FILES, documents, group_document

AUTHOR = ("Engineer", "engineer@example.com")
SCRIPT = b"#!/bin/bash\necho ready\n"
CLUSTERS = ("a", "b", "c")


class Box:
    """A repository with three clusters of twenty documents and a script, and libraries over it, as restarts make."""

    def __init__(self, root: Path) -> None:
        self.shelf = root / "cache" / "documents"
        files = {path: data for name in CLUSTERS for path, data in documents(name).items()}
        init_repository(root / "config.git", {**files, "clusters/a/setup.sh": SCRIPT}, author=AUTHOR)
        self.repo = ConfigRepo.open(str(root / "config.git"), state_dir=root, writer="test")

    def library(self) -> Library:
        return Library(self.repo, self.shelf)

    def commit(self, **files: str | None) -> None:
        changes = {f"clusters/a/{name}.yaml": None if text is None else text.encode() for name, text in files.items()}
        self.repo.commit(onto=self.repo.head(), changes=changes, message="change", author=AUTHOR)

    def prepare(self, library: Library) -> dict[str, Folder]:
        head = self.repo.resolve("main")
        trees = self.repo.clusters(head)
        library.prepare(trees)
        return {name: library.current(tree, name) for name, tree in trees.items()}

    def plain(self, cluster: str = "a") -> LoadedCluster:
        """Read without any library."""
        files = self.repo.files(self.repo.resolve("main"), f"clusters/{cluster}")
        data = self.repo.blobs(f.blob for f in files)
        return load_cluster(cluster, [SourceFile(path=f.path, data=data[f.blob]) for f in files])


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    made = Box(tmp_path)
    yield made
    made.repo.close()


def test_a_commit_parses_what_it_changed_and_nothing_else(box: Box) -> None:
    library = box.library()
    box.prepare(library)
    assert library.counts.parsed == len(CLUSTERS) * FILES
    box.commit(**{"group-1": group_document("group-1", 1, 9), "group-2": None})
    folders = box.prepare(library)
    assert library.counts.parsed == len(CLUSTERS) * FILES + 1
    assert library.counts.built == len(CLUSTERS) + 1
    assert folders["a"].loaded == box.plain()
    desired = folders["a"].desired
    assert desired is not None
    assert desired.resources["hyperpod.InstanceGroup/a/group-1"].spec["count"] == 9
    assert "hyperpod.InstanceGroup/a/group-2" not in desired.resources


def test_a_restart_parses_nothing_and_says_the_same(box: Box) -> None:
    before = box.prepare(box.library())
    library = box.library()
    after = box.prepare(library)
    assert library.counts.parsed == 0
    for name in CLUSTERS:
        assert after[name].loaded == before[name].loaded == box.plain(name)
        assert after[name].desired == before[name].desired
    assert after["a"].others == {"setup.sh": SCRIPT}


def test_a_commit_while_nobody_ran_costs_one_file(box: Box) -> None:
    box.prepare(box.library())
    box.commit(**{"group-1": group_document("group-1", 1, 9)})
    library = box.library()
    assert box.prepare(library)["a"].loaded == box.plain()
    assert library.counts.parsed == 1


def test_what_did_not_change_is_shared_between_revisions(box: Box) -> None:
    """Hundreds of revisions of one cluster are kept; what they have in common is there once."""
    library = box.library()
    first = box.prepare(library)["a"].desired
    box.commit(**{"group-1": group_document("group-1", 1, 9)})
    second = box.prepare(library)["a"].desired
    assert first is not None and second is not None
    other = [key for key, resource in second.resources.items() if first.resources.get(key) is not resource]
    assert other == ["hyperpod.InstanceGroup/a/group-1"]
    assert all(key is resource.key for key, resource in second.resources.items()), "their names too"


def test_a_packed_text_takes_the_room_of_its_text(box: Box) -> None:
    """The library that writes it leaves a buffer around it that is many times as large."""
    parsed = [ParsedFile(path=doc.path, data=b"", documents=(doc,)) for doc in box.plain().documents]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        text = packed.pack((f"{number:040x}", file) for number, file in enumerate(parsed))
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(text) > 4_000
    assert held < len(text) * 1.5


def test_documents_with_problems_are_read_again_and_not_kept(box: Box) -> None:
    """A folder that is broken for a hundred commits would hold its documents a hundred times."""
    library = box.library()
    box.prepare(library)
    for number in range(3):
        box.commit(extra="kind: Nonsense\n", **{"group-1": group_document("group-1", 1, number)})
        box.prepare(library)
    folder = box.prepare(library)["a"]
    assert folder.problems
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, LoadedCluster)]
    assert folder.loaded == box.plain()


def test_earlier_revisions_stay_within_bounds(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reconciler.engine.library._PAST", 60_000)
    library = box.library()
    newest, past, revisions = box.prepare(library)["a"], list[weakref.ref[Folder]](), list[str]()
    for number in range(20):
        box.commit(**{"group-1": group_document("group-1", 1, number)})
        revisions.append(box.repo.resolve("main"))
        past.append(weakref.ref(newest))
        newest = box.prepare(library)["a"]
    gc.collect()
    alive = [folder for folder in past if folder() is not None]
    assert 1 <= len(alive) <= 10, "about ten thousand bytes each: what changed, and what is said of each resource"
    assert alive == past[-len(alive) :], "those that were used last"
    tree = box.repo.clusters(revisions[-1])["a"]
    assert library.current(tree, "a") is newest
    first = library.folder(revisions[0], "a")
    assert first is not None and first.desired is not None
    assert first.desired.resources["hyperpod.InstanceGroup/a/group-1"].spec["count"] == 0
    assert library.current(tree, "a") is newest, "whatever is read of the past"


def test_files_that_are_no_documents_are_held_once(box: Box) -> None:
    library = box.library()
    first = box.prepare(library)["a"]
    box.commit(**{"group-1": group_document("group-1", 1, 9)})
    second = box.prepare(library)["a"]
    assert second is not first
    assert second.others["setup.sh"] is first.others["setup.sh"]


def test_a_cluster_that_is_gone_leaves_nothing(box: Box) -> None:
    library = box.library()
    first = box.prepare(library)["a"]
    box.commit(**{"group-1": group_document("group-1", 1, 9)})
    second = box.prepare(library)["a"]
    held = [weakref.ref(one) for one in (first, second)]
    others = box.prepare(library)
    del first, second, others["a"]
    library.forget("a")
    gc.collect()
    assert [one() for one in held] == [None, None]
    assert library.current(box.repo.clusters(box.repo.resolve("main"))["b"], "b") is others["b"]


def test_an_older_revision_does_not_take_the_place_of_the_newest(box: Box) -> None:
    library = box.library()
    old = box.repo.resolve("main")
    box.commit(**{"group-1": group_document("group-1", 1, 9)})
    box.prepare(library)
    counted = library.counts.parsed
    assert library.folder(old, "a") is not None
    assert library.counts.parsed == counted + 1
    box.commit(**{"group-2": group_document("group-2", 2, 9)})
    box.prepare(library)
    assert library.counts.parsed == counted + 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (group_document("group-1", 1), "a name twice: known only when files are put side by side"),
        (group_document("group-9", 1).replace("usw2", "euc1"), "a zone of another region"),
        ("kind: Cluster\n", "a file that is wrong by itself"),
    ],
)
@pytest.mark.parametrize("restarts", [False, True])
def test_problems_have_their_places_whatever_was_kept(box: Box, text: str, why: str, restarts: bool) -> None:
    library = box.library()
    box.prepare(library)
    box.commit(extra=text)
    for _ in range(3):
        if restarts:
            library = box.library()
        folder = box.prepare(library)["a"]
        assert folder.problems == box.plain().problems, why
        assert folder.problems and folder.desired is None
    box.commit(extra=None)
    assert box.prepare(library)["a"].desired is not None


def test_the_shelf_is_private(box: Box) -> None:
    box.prepare(box.library())
    assert box.shelf.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in box.shelf.iterdir()} == set(CLUSTERS)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in box.shelf.iterdir())


def _garbage(path: Path) -> None:
    path.write_bytes(os.urandom(500))


def _torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def _one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _link(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other)
    path.symlink_to(other)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _readable(path: Path) -> None:
    path.chmod(0o644)


def _huge(path: Path) -> None:
    with path.open("ab") as stream:
        stream.truncate(MAX_FILE * 2)


def _other_cluster(path: Path) -> None:
    path.write_bytes(path.with_name("b").read_bytes())


def _other_program(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(packed.program().encode(), b"0" * 64))


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[1]",
        b"{}",
        b'{"clusters/a/cluster.yaml":["0",[["Cluster","a",1,{"x":1}]]]}',
        b'{"clusters/a/cluster.yaml":["0",[["Nonsense","a",1,{}]]]}',
        b'{"clusters/a/cluster.yaml":["0",[["Cluster","a",1]]]}',
    ],
)
def test_a_whole_file_that_holds_nonsense_does_not_count(box: Box, body: bytes) -> None:
    good = box.prepare(box.library())["a"]
    Shelf(box.shelf).write("a", Kept(tree=box.repo.clusters(box.repo.resolve("main"))["a"], packed=body))
    library = box.library()
    assert box.prepare(library)["a"].loaded == good.loaded
    assert library.counts.parsed == FILES


@pytest.mark.parametrize(
    "spoil",
    [
        _garbage,
        _torn,
        _one_bit,
        _empty,
        _link,
        _pipe,
        _folder,
        _readable,
        _huge,
        _other_cluster,
        _other_program,
    ],
)
def test_what_is_not_ours_or_not_whole_does_not_count(box: Box, spoil: Callable[[Path], None]) -> None:
    good = box.prepare(box.library())["a"]
    spoil(box.shelf / "a")
    library = box.library()
    again = box.prepare(library)["a"]
    assert library.counts.parsed == FILES
    assert (again.loaded, again.desired) == (good.loaded, good.desired)


def test_a_folder_that_others_may_write_is_not_used(box: Box) -> None:
    box.prepare(box.library())
    box.shelf.chmod(0o777)
    library = box.library()
    box.prepare(library)
    assert library.counts.parsed == len(CLUSTERS) * FILES


def test_a_disk_that_fails_stops_nothing(box: Box, tmp_path: Path) -> None:
    """The place of the shelf is taken by a file."""
    box.shelf.parent.mkdir(parents=True)
    box.shelf.write_bytes(b"")
    assert box.prepare(box.library())["a"].desired is not None


def test_the_shelf_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds by number and by size; clusters that are there stay longest, half-written files do not stay at all."""
    shelf = Shelf(tmp_path / "shelf")
    for number in range(20):
        shelf.write(f"c{number}", Kept(tree=None, packed=b"x" * 100))
        os.utime(tmp_path / "shelf" / f"c{number}", (number, number))
    half = tmp_path / "shelf" / ".c1.123.4"
    half.write_bytes(b"half")
    os.utime(half, (0, 0))
    monkeypatch.setattr("reconciler.engine.kept.MAX_FILES", 5)
    shelf.prune(["c0", "c1"])
    assert {path.name for path in (tmp_path / "shelf").iterdir()} == {"c0", "c1", "c17", "c18", "c19"}
    monkeypatch.setattr("reconciler.engine.kept.MAX_TOTAL", 600)
    shelf.prune(["c0", "c1"])
    assert {path.name for path in (tmp_path / "shelf").iterdir()} == {"c0", "c1"}
