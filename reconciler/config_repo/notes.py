"""Lines as git notes: one ref per cluster (its journal) or per change (its reviews), one note per annotated commit,
lines only ever added.

The tree has the layout `git notes` reads (two hex digits, then thirty-eight), whatever it was before: other tools'
fan-outs are understood, and a note found elsewhere moves when it is next written. Everything else in the tree stays.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from reconciler.config_repo import names
from reconciler.config_repo.errors import NameRefused, ObjectMissing, SecretRefused, UnknownRevision
from reconciler.config_repo.objects import EMPTY_TREE, TREE, NewObject, TreeEntry, blob_id, new_commit, new_object
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import NotesAppend, NotesResult, NotesView, RefUpdate
from reconciler.config_repo.refs import Refs
from reconciler.config_repo.trees import edit_tree
from schemas.secrets import find_secrets

US = ("InstantStart", "instantstart@localhost")
ATTACHMENTS = "blobs"
_HEX = frozenset(b"0123456789abcdef")


_Places = list[tuple[tuple[str, ...], TreeEntry]]
_Notes = dict[str, tuple[list[tuple[str, ...]], bytes]]
_KEPT = 16 << 20  # bytes of notes that stay in memory for the next reader


@dataclass(frozen=True, slots=True)
class _Seen:
    """A journal as it was read at a tip: trees by path and notes by id, so that the next reading reads what is new."""

    view: NotesView
    subtrees: Mapping[str, tuple[TreeEntry, ...]]
    contents: Mapping[str, bytes]
    size: int


_UNSEEN = _Seen(NotesView(tip=None, entries=MappingProxyType({})), {}, {}, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One family of notes: where its refs are, which names it takes, and what its first commit is called."""

    prefix: str
    check: Callable[[str], str]
    title: str


class Notes:
    """Writing reads only the notes that are written to; whole refs are for readers, and few of them are kept.
    Writing the same name from two threads is a race like any other: one is rejected."""

    def __init__(
        self, kind: Kind, reader: Reader, refs: Refs, *, writer: str, session: str, clock: Callable[[], float]
    ) -> None:
        self._kind = kind
        self._reader = reader
        self._refs = refs
        self._writer = writer
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, _Seen] = OrderedDict()

    def tip(self, name: str) -> str | None:
        return self._tip(self._kind.prefix + self._kind.check(name))

    def view(self, name: str) -> NotesView:
        tip = self.tip(name)
        ref = self._kind.prefix + name
        if tip is None and self._reader.lookup([ref])[0] is not None:
            tip = self.tip(name)  # somebody may have begun it between the two looks
            if tip is None:
                text = f"{ref} is no commit, or it is missing: put it back, or delete the ref"
                raise ObjectMissing(text)
        with self._lock:
            before = self._seen.get(name, _UNSEEN)
        if tip is None or before.view.tip == tip:
            return before.view if tip is not None else _UNSEEN.view
        seen = self._read(tip, before)
        with self._lock:
            self._seen[name] = seen
            self._seen.move_to_end(name)
            while sum(one.size for one in self._seen.values()) > _KEPT and len(self._seen) > 1:
                self._seen.popitem(last=False)
        return seen.view

    def let_go(self, name: str) -> None:
        """Keep nothing of these notes in memory: nobody will read them soon."""
        with self._lock:
            self._seen.pop(name, None)

    def draft(
        self, batch: Sequence[NotesAppend]
    ) -> tuple[list[NewObject], dict[str, RefUpdate], dict[str, NotesResult]]:
        """By name: the objects and the move of the ref that would add these lines, or why that cannot be."""
        if len({item.name for item in batch}) != len(batch):
            raise NameRefused("a batch holds each name once")
        for item in batch:
            self._check(item)
        self._must_have(item.revision_parent for item in batch if item.revision_parent)
        refused: dict[str, NotesResult] = {}
        objects: list[NewObject] = []
        updates: dict[str, RefUpdate] = {}
        for item, before in zip(batch, self._before(batch), strict=True):
            if isinstance(before, ObjectMissing):
                refused[item.name] = NotesResult(accepted=False, tip=None, rejected_by=before.message)
                continue
            made = self._commit(item, *before)
            objects += made
            ref = self._kind.prefix + item.name
            updates[item.name] = RefUpdate(ref=ref, old=item.expected_tip, new=made[-1].id)
        return objects, updates, refused

    def _tip(self, ref: str) -> str | None:
        found = self._reader.lookup([f"{ref}^{{commit}}"])[0]
        return found.id if found else None

    def _must_have(self, revisions: Iterable[str]) -> None:
        wanted = list(dict.fromkeys(revisions))
        for sha, found in zip(wanted, self._reader.lookup([f"{sha}^{{commit}}" for sha in wanted]), strict=True):
            if found is None:
                raise UnknownRevision(f"revision {sha} is not in the repository")

    # Reading ---------------------------------------------------------------------------------------------------------

    def _read(self, tip: str, before: _Seen) -> _Seen:
        found, subtrees = self._walk(self._reader.commit(tip).tree, before.subtrees)
        # Most notes are those we had: only new contents are read.
        wanted = {entry.id for places in found.values() for _, entry in places}
        fresh = self._reader.contents(sorted(wanted - before.contents.keys()), "blob")
        contents = {sha: fresh[sha] if sha in fresh else before.contents[sha] for sha in wanted}
        entries = {sha: _join(contents[entry.id] for _, entry in places) for sha, places in found.items()}
        view = NotesView(tip=tip, entries=MappingProxyType(entries))
        size = sum(map(len, contents.values())) + 300 * sum(map(len, subtrees.values()))
        return _Seen(view, subtrees, contents, size)

    def _walk(
        self, root: str, known: Mapping[str, tuple[TreeEntry, ...]]
    ) -> tuple[dict[str, _Places], dict[str, tuple[TreeEntry, ...]]]:
        used: dict[str, tuple[TreeEntry, ...]] = {}
        found: dict[str, _Places] = {}
        level: list[tuple[tuple[str, ...], str]] = [((), root)]
        while level:
            missing = [tree for _, tree in level if tree not in known]
            used |= {tree: known[tree] for _, tree in level if tree in known} | self._reader.trees(missing)
            below: list[tuple[tuple[str, ...], str]] = []
            for path, tree in level:
                for entry in used[tree]:
                    if not _HEX.issuperset(entry.name):
                        continue
                    here = (*path, entry.name.decode("ascii"))
                    if entry.mode == TREE and len(entry.name) == 2 and len(here) < 20:
                        below.append((here, entry.id))
                    elif entry.mode != TREE and len(sha := "".join(here)) == 40:
                        found.setdefault(sha, []).append((here, entry))
            level = below
        return found, used

    # Writing ---------------------------------------------------------------------------------------------------------

    def _before(self, batch: Sequence[NotesAppend]) -> list[tuple[str | None, _Notes] | ObjectMissing]:
        """For each item the tree that it is written on, and the notes that it adds to, with where they lie (more than
        one place after a foreign merge). All together: a handful of requests however many there are."""
        try:
            return self._before_all(batch)
        except ObjectMissing as error:
            return [error] if len(batch) == 1 else [found for item in batch for found in self._before([item])]

    def _before_all(self, batch: Sequence[NotesAppend]) -> list[tuple[str | None, _Notes] | ObjectMissing]:
        commits = self._reader.commits(item.expected_tip for item in batch if item.expected_tip is not None)
        roots = [commits[item.expected_tip].tree if item.expected_tip is not None else None for item in batch]
        asked = [(root, sha) for root, item in zip(roots, batch, strict=True) for sha in dict(item.lines)]
        places = self._places((root, sha) for root, sha in asked if root is not None)
        contents = self._reader.contents((entry.id for where in places.values() for _, entry in where), "blob")
        found: list[tuple[str | None, _Notes] | ObjectMissing] = []
        for root, item in zip(roots, batch, strict=True):
            notes: _Notes = {}
            for sha in dict(item.lines):
                where = places[root, sha] if root is not None else []
                notes[sha] = [path for path, _ in where], _join(contents[entry.id] for _, entry in where)
            found.append((root, notes))
        return found

    def _places(self, asked: Iterable[tuple[str, str]]) -> dict[tuple[str, str], _Places]:
        """(root, annotated commit) → where its note lies."""
        found: dict[tuple[str, str], _Places] = {pair: [] for pair in asked}
        level: list[tuple[tuple[str, str], tuple[str, ...], str]] = [(pair, (), pair[0]) for pair in found]
        while level:
            trees = self._reader.trees(tree for _, _, tree in level)
            below: list[tuple[tuple[str, str], tuple[str, ...], str]] = []
            for pair, path, tree in level:
                rest = pair[1][2 * len(path) :]
                for entry in trees[tree]:
                    name = entry.name.decode("ascii", "replace")
                    if entry.mode != TREE and name == rest:
                        found[pair].append(((*path, name), entry))
                    elif entry.mode == TREE and name == rest[:2] and len(rest) > 2:
                        below.append((pair, (*path, name), entry.id))
            level = below
        return found

    def _commit(self, item: NotesAppend, root: str | None, notes: _Notes) -> list[NewObject]:
        added: dict[str, list[str]] = {}
        for sha, line in item.lines:
            added.setdefault(sha, []).append(line)
        changes: dict[tuple[str, ...], bytes | None] = {}
        for sha, lines in added.items():
            places, before = notes[sha]
            changes |= dict.fromkeys(places)
            changes[(sha[:2], sha[2:])] = _join([before, "".join(f"{line}\n" for line in lines).encode()])
        for data in item.attachments:
            changes[(ATTACHMENTS, blob_id(data))] = data
        tree, objects = edit_tree(self._reader, root, changes)
        assert tree is not None  # a batch item has lines
        tip = item.expected_tip
        if tip is None:
            # An empty root, so that first parents are always the journal and never the branch.
            first = self._new_commit(EMPTY_TREE, (), f"{self._kind.title} {item.name}")
            objects += [new_object("tree", b""), first]
            tip = first.id
        parents = [tip, item.revision_parent] if item.revision_parent else [tip]
        return [*objects, self._new_commit(tree, parents, item.subject)]

    def _check(self, item: NotesAppend) -> None:
        self._kind.check(item.name)
        if not item.lines:
            raise NameRefused(f"nothing to append for {item.name}")
        if item.expected_tip is not None:
            names.sha(item.expected_tip)
        if item.revision_parent is not None:
            names.sha(item.revision_parent)
        for sha, line in item.lines:
            names.sha(sha)
            if "\n" in line or "\r" in line or "\0" in line:
                raise NameRefused("a line of a note is one line")
            _refuse_secrets(line, item.name)
        _refuse_secrets(item.subject, item.name)
        for data in item.attachments:
            _refuse_secrets(data.decode("utf-8", "replace"), item.name)

    def _new_commit(self, tree: str, parents: Sequence[str], subject: str) -> NewObject:
        # The session makes ids unique: two writers with the same words in the same second must not both be "up to
        # date" on the remote, or both would hold the fence.
        message = f"{subject}\n\nWriter: {self._writer} {self._session}"
        return new_commit(tree=tree, parents=parents, author=US, committer=US, at=self._clock(), message=message)


def _refuse_secrets(text: str, name: str) -> None:
    for finding in find_secrets(text):
        raise SecretRefused(f"a note of {name} would hold what looks like a {finding.kind}: {finding.masked}")


def _join(parts: Iterable[bytes]) -> bytes:
    """Notes one after the other, each ending its last line."""
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts if part)
