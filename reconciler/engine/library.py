"""Documents and resources of any revision: every file is parsed once in its life, every folder built once.

What is kept in memory between ticks is the resources, which every look needs; documents lie packed beside them, here
and on disk (`kept`), and come back in a fraction of the time that parsing takes. Newest folders stay as long as their
clusters do; of the revisions before them there may be any number, so those stay within bounds by what they weigh.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from reconciler.config_repo.errors import ObjectMissing, UnknownRevision
from reconciler.config_repo.records import RepoFile
from reconciler.config_repo.repo import ConfigRepo
from reconciler.desired.build import Desired, build
from reconciler.engine.bounded import Bounded
from reconciler.engine.kept import Kept, Shelf
from schemas.documents import packed
from schemas.documents.load import assemble, load_policy
from schemas.documents.parse import parse_files
from schemas.documents.policy import POLICY_PATH, built_in
from schemas.documents.problems import Problem, problem
from schemas.documents.records import LoadedCluster, LoadedPolicy, ParsedFile, SourceFile
from schemas.reading.read import is_document_file
from schemas.reading.records import Spot
from schemas.resource import Resource

T = TypeVar("T")
_CLUSTERS = 5_000
_PAST = 16 << 20  # bytes that folders of earlier revisions may weigh: some thousands of them
_OLDER = 8 << 20  # bytes of packed documents of earlier revisions
_REVISIONS = 10_000
_POLICIES = 64
_TOGETHER = 50  # clusters read in one go
_FOLDER, _ENTRY, _RESOURCE, _PROBLEM = 1_000, 40, 1_500, 700  # bytes, measured: of each, beside what it refers to
_NOTHING = Kept(tree=None, packed=b"{}")


@functools.cache
def packaged_script() -> bytes:
    """The lifecycle script used where no document names one."""
    return (Path(__file__).parent.parent / "resources" / "storage" / "lifecycle" / "on_create.sh").read_bytes()


@dataclass(frozen=True, kw_only=True)
class Folder:
    """One cluster's folder at one tree. `desired` None: it has problems. `others`: as in LoadedCluster. `held`: its
    documents packed, or how to read them again, which is done for those with problems."""

    name: str
    problems: tuple[Problem, ...]
    others: Mapping[str, bytes]
    desired: Desired | None
    held: bytes | Callable[[], LoadedCluster] = field(repr=False)

    @property
    def loaded(self) -> LoadedCluster:
        """Its documents, unpacked (or read) anew each time."""
        if not isinstance(self.held, bytes):
            return self.held()
        inside = f"clusters/{self.name}/"
        files = [
            ParsedFile(
                path=path,
                data=self.others.get(path.removeprefix(inside), b""),
                documents=packed.documents(path, documents),
            )
            for path, (_, documents) in packed.listed(self.held).items()
        ]
        return dataclasses.replace(assemble(self.name, files), others=self.others)


@dataclass(kw_only=True)
class Counts:
    """What was done since the start: files parsed and unpacked, folders built."""

    parsed: int = 0
    unpacked: int = 0
    built: int = 0


class Library:
    """Reads folders and policies of any revision, and keeps what it read. Thread-safe."""

    def __init__(self, repo: ConfigRepo, shelf: Path | None = None) -> None:
        """`shelf`: a folder of our own to keep packed documents in."""
        self._repo = repo
        self._shelf = Shelf(shelf) if shelf is not None else None
        self._current: Bounded[str, tuple[str, Folder]] = Bounded(_CLUSTERS)  # cluster → tree, folder
        self._past: Bounded[tuple[str, str], Folder] = Bounded(_PAST)
        self._newest: Bounded[str, Kept] = Bounded(_CLUSTERS)
        self._older: Bounded[str, bytes] = Bounded(_OLDER)
        self._built: Bounded[str, Folder] = Bounded(_CLUSTERS)  # cluster → what was built for it last
        self._trees: Bounded[tuple[str, str], tuple[str | None]] = Bounded(_REVISIONS)
        self._policies: Bounded[str, LoadedPolicy] = Bounded(_POLICIES)
        self.counts = Counts()

    def folder(self, revision: str, cluster: str) -> Folder | None:
        """None: the folder is not there at this revision."""
        tree = self._tree(revision, cluster)
        return None if tree is None else self._folder(tree, cluster, newest=False)

    def current(self, tree: str, cluster: str) -> Folder:
        """The folder whose input is this tree, the cluster's newest: what the next revision will be compared with."""
        return self._folder(tree, cluster, newest=True)

    def loaded(self, revision: str, cluster: str) -> LoadedCluster | None:
        """Only the documents of a folder, where nobody needs its resources."""
        tree = self._tree(revision, cluster)
        return None if tree is None else self._load({cluster: tree}, newest=False)[cluster][0]

    def prepare(self, trees: Mapping[str, str]) -> None:
        """Read the newest folders of many clusters (by their input trees) together, as at a start: what has to be
        parsed is parsed in one go, what lies on the shelf stays packed until it is asked for."""
        missing = {
            name: tree
            for name, tree in trees.items()
            if self._known(tree, name) is None and self._at_hand(name, tree) is None
        }
        with _resting():
            for name, loaded, held in self._read(missing):
                self._stand(trees[name], self._make(trees[name], name, loaded, held))
        if missing and self._shelf is not None:
            self._shelf.prune(trees)

    def read(self, trees: Mapping[str, str]) -> Iterator[LoadedCluster]:
        """Only the documents of many clusters, in one go."""
        return (loaded for _, loaded, _ in self._read(trees))

    def remember(self, revision: str, cluster: str, tree: str | None) -> None:
        """Somebody knows which tree a cluster has at a revision."""
        self._trees.put((revision, cluster), (tree,))

    def forget(self, cluster: str) -> None:
        """Nobody will ask for this cluster again."""
        for kept in (self._current, self._newest, self._older, self._built):
            kept.forget(lambda name: name == cluster)
        for of_revisions in (self._past, self._trees):
            of_revisions.forget(lambda key: key[1] == cluster)

    def policy(self, head: str) -> LoadedPolicy:
        """The policy in force at the branch's head."""
        found = self._repo.file(head, POLICY_PATH)
        if found is None:
            return LoadedPolicy(policy=built_in())
        if found.problem is not None:
            unreadable = problem(POLICY_PATH, Spot(1, 1), (), expected="a regular file", found=found.problem)
            return LoadedPolicy(policy=built_in(), problems=(unreadable,))
        known = self._policies.get(found.blob)
        if known is None:
            data = self._repo.blobs([found.blob])[found.blob]
            known = load_policy(SourceFile(path=POLICY_PATH, data=data))
            self._policies.put(found.blob, known)
        return known

    def parent(self, revision: str) -> str | None:
        """The first parent, if it can be had."""
        try:
            return next(iter(self._repo.commit_info(revision).parents), None)
        except (ObjectMissing, UnknownRevision):
            return None

    # Helpers ---------------------------------------------------------------------------------------------------------

    def _tree(self, revision: str, cluster: str) -> str | None:
        known = self._trees.get((revision, cluster))
        if known is not None:
            return known[0]
        tree = self._repo.input_of(revision, cluster)
        self.remember(revision, cluster, tree)
        return tree

    def _read(self, trees: Mapping[str, str]) -> Iterator[tuple[str, LoadedCluster, bytes]]:
        for names in _batches(list(trees)):
            with _resting():
                found = self._load({name: trees[name] for name in names}, newest=True)
            yield from ((name, *pair) for name, pair in found.items())

    def _folder(self, tree: str, cluster: str, *, newest: bool) -> Folder:
        found = self._known(tree, cluster)
        if found is None:
            loaded, held = self._load({cluster: tree}, newest=newest)[cluster]
            found = self._make(tree, cluster, loaded, held)
        if newest:
            self._stand(tree, found)
        return found

    def _known(self, tree: str, cluster: str) -> Folder | None:
        current = self._current.get(cluster)
        return current[1] if current is not None and current[0] == tree else self._past.get((tree, cluster))

    def _stand(self, tree: str, folder: Folder) -> None:
        """This is what its cluster is now; what it was before is past."""
        before = self._current.get(folder.name)
        if before is not None and before[0] == tree:
            return
        self._current.put(folder.name, (tree, folder))
        if before is not None:
            self._past.put((before[0], folder.name), before[1], _weight(before[1], folder))

    def _make(self, tree: str, cluster: str, loaded: LoadedCluster, held: bytes) -> Folder:
        before = self._built.get(cluster)
        folder = Folder(
            name=cluster,
            problems=loaded.problems,
            others=loaded.others,
            desired=None if loaded.problems else build(loaded, packaged_script()),
            held=functools.partial(self._again, tree, cluster) if loaded.problems else held,
        )
        folder = _sharing(folder, before)
        if folder.desired is not None:
            self.counts.built += 1
            self._built.put(cluster, folder)
        self._past.put((tree, cluster), folder, _weight(folder, before))
        return folder

    def _again(self, tree: str, cluster: str) -> LoadedCluster:
        return self._load({cluster: tree}, newest=False)[cluster][0]

    def _load(self, wanted: Mapping[str, str], *, newest: bool) -> dict[str, tuple[LoadedCluster, bytes]]:
        """Documents of many clusters, and the same packed. What is at hand is unpacked, the rest is read and parsed
        in one go."""
        kept = {name: self._newest_of(name) for name in wanted}
        whole = {name: found for name, found in kept.items() if found is not None and found.tree == wanted[name]}
        files = self._repo.cluster_files({name: tree for name, tree in wanted.items() if name not in whole})
        try:
            packs = {name: packed.listed(found.packed) for name, found in kept.items() if found is not None}
            ids = {name: [(f.path, f.blob) for f in found if f.problem is None] for name, found in files.items()}
            ids |= {name: [(path, blob) for path, (blob, _) in packs[name].items()] for name in whole}
            done = _unpacked(ids, packs)
            if not newest:  # one old revision is much like the next
                older = {name: found for name in wanted if (found := self._older.get(name)) is not None}
                done |= _unpacked(ids, {name: packed.listed(found) for name, found in older.items()})
        except packed.NotPacked:
            return self._load_anew(wanted, newest=newest)
        self.counts.unpacked += len(done)
        done |= self._parse(pair for pairs in ids.values() for pair in pairs if pair not in done)
        result: dict[str, tuple[LoadedCluster, bytes]] = {}
        for name, tree in wanted.items():
            loaded = assemble(name, [done[pair] for pair in ids[name]])
            if loaded.problems and name in whole:
                return self._load_anew(wanted, newest=newest)
            if loaded.problems:  # told with their places, which nobody packs
                loaded = assemble(name, list(self._parse(ids[name]).values()))
            loaded = dataclasses.replace(loaded, problems=(*_unreadable(files.get(name, ())), *loaded.problems))
            if name in whole and not loaded.problems:
                result[name] = loaded, whole[name].packed
                continue
            made = Kept(
                tree=None if loaded.problems else tree,
                packed=packed.pack((blob, done[path, blob]) for path, blob in ids[name]),
            )
            result[name] = loaded, made.packed
            if newest:
                self._newest.put(name, made)
                if self._shelf is not None:
                    self._shelf.write(name, made)
            else:
                self._older.put(name, made.packed, len(made.packed))
        return result

    def _load_anew(self, wanted: Mapping[str, str], *, newest: bool) -> dict[str, tuple[LoadedCluster, bytes]]:
        """What is at hand is nothing that we wrote: as if it were not there."""
        for name in wanted:
            self._newest.put(name, _NOTHING)
        return self._load(wanted, newest=newest)

    def _parse(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], ParsedFile]:
        wanted = list(dict.fromkeys(pairs))
        if not wanted:
            return {}
        data = self._repo.blobs(dict.fromkeys(blob for _, blob in wanted))
        self.counts.parsed += sum(is_document_file(path) for path, _ in wanted)
        parsed = parse_files(SourceFile(path=path, data=data[blob]) for path, blob in wanted)
        return dict(zip(wanted, parsed, strict=True))

    def _at_hand(self, cluster: str, tree: str) -> Kept | None:
        kept = self._newest_of(cluster)
        return kept if kept is not None and kept.tree == tree else None

    def _newest_of(self, cluster: str) -> Kept | None:
        known = self._newest.get(cluster)
        if known is None and self._shelf is not None:
            known = self._shelf.read(cluster)
            if known is not None:
                self._newest.put(cluster, known)
        return known


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _TOGETHER] for start in range(0, len(names), _TOGETHER))


@contextlib.contextmanager
def _resting() -> Generator[None]:
    """Without the cyclic garbage collector: what is made here stays, and it would only look."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _unpacked(
    ids: Mapping[str, Sequence[tuple[str, str]]], packs: Mapping[str, Mapping[str, tuple[str, Any]]]
) -> dict[tuple[str, str], ParsedFile]:
    """Files that lie packed with the same content. Raises NotPacked."""
    done: dict[tuple[str, str], ParsedFile] = {}
    for name, held in packs.items():
        for path, blob in ids[name]:
            if path in held and held[path][0] == blob and is_document_file(path):
                found = packed.documents(path, held[path][1])
                done[path, blob] = ParsedFile(path=path, data=b"", documents=found)
    return done


def _sharing(folder: Folder, before: Folder | None) -> Folder:
    """The same; what is as in the folder built before is the same objects."""
    if before is None or before.desired is None:
        return folder
    others = {path: _same(data, before.others.get(path)) for path, data in folder.others.items()}
    desired = folder.desired
    if desired is not None:
        olds = before.desired.resources
        found = [_same(resource, olds.get(key)) for key, resource in desired.resources.items()]
        names = _same(desired.names, before.desired.names)
        desired = dataclasses.replace(desired, resources={one.key: one for one in found}, names=names)
    return dataclasses.replace(folder, others=others, desired=desired)


def _same(found: T, before: T | None) -> T:
    return before if before is not None and before == found else found


def _weight(folder: Folder, beside: Folder | None) -> int:
    """About how many bytes are held for this folder alone, and not for the one beside it."""
    shared: Mapping[str, Resource] = {} if beside is None or beside.desired is None else beside.desired.resources
    wanted: Mapping[str, Resource] = {} if folder.desired is None else folder.desired.resources
    files: Mapping[str, bytes] = {} if beside is None else beside.others
    return (
        _FOLDER
        + _ENTRY * len(wanted)
        + _RESOURCE * sum(resource is not shared.get(key) for key, resource in wanted.items())
        + _PROBLEM * len(folder.problems)
        + (len(folder.held) if isinstance(folder.held, bytes) else 0)
        + sum(len(data) for path, data in folder.others.items() if data is not files.get(path))
    )


def _unreadable(files: Iterable[RepoFile]) -> tuple[Problem, ...]:
    return tuple(
        problem(f.path, Spot(1, 1), (), expected="a regular file", found=f.problem)
        for f in files
        if f.problem is not None
    )
