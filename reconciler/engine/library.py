"""Documents and resources of any revision: every file is parsed once in its life, every folder built once.

What is kept in memory between ticks is the resources, which every look needs; documents lie packed beside them, here
and on disk (`kept`), and come back in a fraction of the time that parsing takes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from reconciler.config_repo.errors import ObjectMissing, UnknownRevision
from reconciler.config_repo.records import RepoFile
from reconciler.config_repo.repo import ConfigRepo
from reconciler.desired.build import Desired, build
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

K = TypeVar("K")
V = TypeVar("V")
_FOLDERS = 3_000
_CLUSTERS = 5_000
_OLDER = 500
_REVISIONS = 20_000
_TOGETHER = 50  # clusters read in one go
_NOTHING = Kept(tree=None, packed=b"{}")


@functools.cache
def packaged_script() -> bytes:
    """The lifecycle script used where no document names one."""
    return (Path(__file__).parent.parent / "resources" / "storage" / "lifecycle" / "on_create.sh").read_bytes()


@dataclass(frozen=True, kw_only=True)
class Folder:
    """One cluster's folder at one tree. `desired` None: it has problems. `others`: as in LoadedCluster."""

    name: str
    problems: tuple[Problem, ...]
    others: Mapping[str, bytes]
    desired: Desired | None
    held: LoadedCluster | bytes = field(repr=False)

    @property
    def loaded(self) -> LoadedCluster:
        """Its documents, unpacked anew each time."""
        if isinstance(self.held, LoadedCluster):
            return self.held
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
        self._lock = threading.Lock()
        self._folders: OrderedDict[tuple[str, str], Folder] = OrderedDict()
        self._newest: OrderedDict[str, Kept] = OrderedDict()
        self._older: OrderedDict[str, bytes] = OrderedDict()
        self._built: OrderedDict[str, Desired] = OrderedDict()
        self._trees: OrderedDict[tuple[str, str], str | None] = OrderedDict()
        self._policies: OrderedDict[str, LoadedPolicy] = OrderedDict()
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
            if self._kept(self._folders, (tree, name)) is None and self._at_hand(name, tree) is None
        }
        for name, loaded, held in self._read(missing):
            self._make(trees[name], name, loaded, held)
        if missing and self._shelf is not None:
            self._shelf.prune(trees)

    def read(self, trees: Mapping[str, str]) -> Iterator[LoadedCluster]:
        """Only the documents of many clusters, in one go."""
        return (loaded for _, loaded, _ in self._read(trees))

    def remember(self, revision: str, cluster: str, tree: str | None) -> None:
        """Somebody knows which tree a cluster has at a revision."""
        self._keep(self._trees, (revision, cluster), tree, _REVISIONS)

    def policy(self, head: str) -> LoadedPolicy:
        """The policy in force at the branch's head."""
        found = self._repo.file(head, POLICY_PATH)
        if found is None:
            return LoadedPolicy(policy=built_in())
        if found.problem is not None:
            unreadable = problem(POLICY_PATH, Spot(1, 1), (), expected="a regular file", found=found.problem)
            return LoadedPolicy(policy=built_in(), problems=(unreadable,))
        known = self._kept(self._policies, found.blob)
        if known is None:
            data = self._repo.blobs([found.blob])[found.blob]
            known = load_policy(SourceFile(path=POLICY_PATH, data=data))
            self._keep(self._policies, found.blob, known, 64)
        return known

    def parent(self, revision: str) -> str | None:
        """The first parent, if it can be had."""
        try:
            return next(iter(self._repo.commit_info(revision).parents), None)
        except (ObjectMissing, UnknownRevision):
            return None

    # Helpers ---------------------------------------------------------------------------------------------------------

    def _tree(self, revision: str, cluster: str) -> str | None:
        with self._lock:
            if (revision, cluster) in self._trees:
                return self._trees[revision, cluster]
        tree = self._repo.input_of(revision, cluster)
        self.remember(revision, cluster, tree)
        return tree

    def _read(self, trees: Mapping[str, str]) -> Iterator[tuple[str, LoadedCluster, bytes]]:
        for names in _batches(list(trees)):
            with _resting():
                found = self._load({name: trees[name] for name in names}, newest=True)
            yield from ((name, *pair) for name, pair in found.items())

    def _folder(self, tree: str, cluster: str, *, newest: bool) -> Folder:
        known = self._kept(self._folders, (tree, cluster))
        if known is not None:
            return known
        loaded, held = self._load({cluster: tree}, newest=newest)[cluster]
        return self._make(tree, cluster, loaded, held)

    def _make(self, tree: str, cluster: str, loaded: LoadedCluster, held: bytes) -> Folder:
        desired = None
        if not loaded.problems:
            desired = _sharing(build(loaded, packaged_script()), self._kept(self._built, cluster))
            self.counts.built += 1
            self._keep(self._built, cluster, desired, _CLUSTERS)
        folder = Folder(
            name=cluster,
            problems=loaded.problems,
            others=loaded.others,
            desired=desired,
            held=loaded if loaded.problems else held,
        )
        self._keep(self._folders, (tree, cluster), folder, _FOLDERS)
        return folder

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
                older = {name: found for name in wanted if (found := self._kept(self._older, name)) is not None}
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
                self._keep(self._newest, name, made, _CLUSTERS)
                if self._shelf is not None:
                    self._shelf.write(name, made)
            else:
                self._keep(self._older, name, made.packed, _OLDER)
        return result

    def _load_anew(self, wanted: Mapping[str, str], *, newest: bool) -> dict[str, tuple[LoadedCluster, bytes]]:
        """What is at hand is nothing that we wrote: as if it were not there."""
        for name in wanted:
            self._keep(self._newest, name, _NOTHING, _CLUSTERS)
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
        known = self._kept(self._newest, cluster)
        if known is None and self._shelf is not None:
            known = self._shelf.read(cluster)
            if known is not None:
                self._keep(self._newest, cluster, known, _CLUSTERS)
        return known

    def _kept(self, where: OrderedDict[K, V], key: K) -> V | None:
        with self._lock:
            found = where.get(key)
            if found is not None:
                where.move_to_end(key)
            return found

    def _keep(self, where: OrderedDict[K, V], key: K, value: V, most: int) -> None:
        with self._lock:
            where[key] = value
            where.move_to_end(key)
            while len(where) > most:
                where.popitem(last=False)


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


def _sharing(desired: Desired, before: Desired | None) -> Desired:
    """The same; resources that are as in the revision built before are the same objects."""
    if before is None:
        return desired
    shared = {key: _same(resource, before.resources.get(key)) for key, resource in desired.resources.items()}
    return dataclasses.replace(desired, resources=shared)


def _same(resource: Resource, before: Resource | None) -> Resource:
    return before if before is not None and before == resource else resource


def _unreadable(files: Iterable[RepoFile]) -> tuple[Problem, ...]:
    return tuple(
        problem(f.path, Spot(1, 1), (), expected="a regular file", found=f.problem)
        for f in files
        if f.problem is not None
    )
