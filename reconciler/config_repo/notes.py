"""Journals as git notes: one ref per cluster, one note per revision, lines only ever added.

The tree has the layout `git notes` reads (two hex digits, then thirty-eight), whatever it was before: other tools'
fan-outs are understood, and a note found elsewhere moves when it is next written. Everything else in the tree stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from reconciler.config_repo import names
from reconciler.config_repo.errors import NameRefused, ObjectMissing, SecretRefused, UnknownRevision
from reconciler.config_repo.objects import EMPTY_TREE, TREE, NewObject, TreeEntry, blob_id, new_commit, new_object
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import NotesAppend, NotesResult, NotesView, RefUpdate
from reconciler.config_repo.refs import Refs, advice
from reconciler.config_repo.trees import edit_tree
from schemas.secrets import find_secrets

US = ("InstantStart", "instantstart@localhost")
ATTACHMENTS = "blobs"
_HEX = frozenset(b"0123456789abcdef")


@dataclass(frozen=True, slots=True)
class _Notes:
    """A journal at a tip. `places`: annotated commit → where its note lies (more than one after a foreign merge)."""

    tip: str | None
    tree: str | None
    places: Mapping[str, tuple[tuple[str, ...], ...]]
    contents: Mapping[str, bytes]
    view: NotesView


class Journals:
    """Reads are cached by tip. Writing the same cluster from two threads is a race like any other: one is rejected."""

    def __init__(self, reader: Reader, refs: Refs, *, writer: str, session: str, clock: Callable[[], float]) -> None:
        self._reader = reader
        self._refs = refs
        self._writer = writer
        self._session = session
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: dict[str, _Notes] = {}
        self._subtrees: dict[str, dict[str, tuple[TreeEntry, ...]]] = {}

    def view(self, cluster: str) -> NotesView:
        ref = names.JOURNAL + names.cluster(cluster)
        return self._notes(cluster, self._tip(ref)).view

    def append(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        """One commit per cluster, one process for all objects, one for all refs, and one push."""
        if len({item.cluster for item in batch}) != len(batch):
            raise NameRefused("a batch holds each cluster once")
        for item in batch:
            _check(item)
        results: dict[str, NotesResult] = {}
        objects: list[NewObject] = []
        updates: dict[str, RefUpdate] = {}
        for item in batch:
            try:
                before = self._notes(item.cluster, item.expected_tip)
            except ObjectMissing as error:
                results[item.cluster] = NotesResult(accepted=False, tip=None, rejected_by=error.message)
                continue
            made = self._commit(item, before)
            objects += made
            updates[item.cluster] = RefUpdate(ref=names.JOURNAL + item.cluster, old=item.expected_tip, new=made[-1].id)
        self._refs.store(objects)
        try:
            verdicts = self._refs.publish(list(updates.values())) if updates else {}
        except BaseException:  # they may have arrived or not: readable here in any case
            for cluster, update in updates.items():
                self.keep_lost(cluster, update.new or "")
            raise
        for cluster, update in updates.items():
            rejected = verdicts[update.ref]
            if rejected is None:
                results[cluster] = NotesResult(accepted=True, tip=update.new)
            else:
                self.keep_lost(cluster, update.new or "")
                told = f"{rejected}; {advice(rejected)}"
                results[cluster] = NotesResult(accepted=False, tip=self._tip(update.ref), rejected_by=told)
        return results

    def known_tip(self, cluster: str) -> str | None:
        """The newest tip that this writer once read whole or wrote, in whatever life of its process."""
        return self._tip(f"{names.KNOWN}{self._writer}/{names.cluster(cluster)}")

    def keep_known(self, cluster: str, tip: str | None) -> None:
        ref = f"{names.KNOWN}{self._writer}/{names.cluster(cluster)}"
        before = self._tip(ref)
        if before != tip:
            self._refs.keep_here([RefUpdate(ref=ref, old=before, new=tip)])

    def keep_lost(self, cluster: str, commit: str) -> str:
        """What is on no ref of the remote stays readable here: the newest in front, all earlier ones behind it.
        Returns the ref."""
        ref = f"{names.LOST}{self._writer}/{names.cluster(cluster)}"
        earlier = self._tip(ref)
        if earlier is not None and commit in self._reader.commit(earlier).parents:
            return ref
        if earlier not in (None, commit):
            tree = self._reader.commit(commit).tree
            chain = self._new_commit(tree, [commit, earlier], f"Lost to another writer: {cluster}")
            self._refs.store([chain])
            commit = chain.id
        if earlier != commit:
            self._refs.keep_here([RefUpdate(ref=ref, old=earlier, new=commit)])
        return ref

    def _tip(self, ref: str) -> str | None:
        found = self._reader.lookup([f"{ref}^{{commit}}"])[0]
        return found.id if found else None

    def _notes(self, cluster: str, tip: str | None) -> _Notes:
        with self._lock:
            cached = self._cache.get(cluster)
        if cached is not None and cached.tip == tip:
            return cached
        notes = self._read(cluster, tip, cached)
        with self._lock:
            self._cache[cluster] = notes
        return notes

    def _read(self, cluster: str, tip: str | None, before: _Notes | None) -> _Notes:
        if tip is None:
            return _Notes(None, None, {}, {}, NotesView(tip=None, entries=MappingProxyType({})))
        tree = self._reader.commit(tip).tree
        found = self._walk(cluster, tree)
        # Most notes are those we had: only new contents are read.
        known: Mapping[str, bytes] = before.contents if before is not None else {}
        wanted = {entry.id for places in found.values() for _, entry in places}
        fresh = self._reader.contents(sorted(wanted - known.keys()), "blob")
        contents = {sha: fresh[sha] if sha in fresh else known[sha] for sha in wanted}
        entries = {sha: _join(contents[entry.id] for _, entry in places) for sha, places in found.items()}
        places = {sha: tuple(path for path, _ in where) for sha, where in found.items()}
        return _Notes(tip, tree, places, contents, NotesView(tip=tip, entries=MappingProxyType(entries)))

    def _walk(self, cluster: str, root: str) -> dict[str, list[tuple[tuple[str, ...], TreeEntry]]]:
        known = self._subtrees.get(cluster, {})
        used: dict[str, tuple[TreeEntry, ...]] = {}
        found: dict[str, list[tuple[tuple[str, ...], TreeEntry]]] = {}
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
        self._subtrees[cluster] = used
        return found

    def _commit(self, item: NotesAppend, before: _Notes) -> list[NewObject]:
        added: dict[str, list[str]] = {}
        for sha, line in item.lines:
            added.setdefault(sha, []).append(line)
        changes: dict[tuple[str, ...], bytes | None] = {}
        for sha, lines in added.items():
            note = _join([before.view.entries.get(sha, b""), "".join(f"{line}\n" for line in lines).encode()])
            changes |= dict.fromkeys(before.places.get(sha, ()))
            changes[(sha[:2], sha[2:])] = note
        for data in item.attachments:
            changes[(ATTACHMENTS, blob_id(data))] = data
        tree, objects = edit_tree(self._reader, before.tree, changes)
        assert tree is not None  # a batch item has lines
        if item.revision_parent and self._reader.lookup([f"{item.revision_parent}^{{commit}}"])[0] is None:
            raise UnknownRevision(f"revision {item.revision_parent} is not in the repository")
        tip = item.expected_tip
        if tip is None:
            # An empty root, so that first parents are always the journal and never the branch.
            root = self._new_commit(EMPTY_TREE, (), f"Journal of {item.cluster}")
            objects += [new_object("tree", b""), root]
            tip = root.id
        parents = [tip, item.revision_parent] if item.revision_parent else [tip]
        return [*objects, self._new_commit(tree, parents, item.subject)]

    def _new_commit(self, tree: str, parents: Sequence[str], subject: str) -> NewObject:
        # The session makes ids unique: two writers with the same words in the same second must not both be "up to
        # date" on the remote, or both would hold the fence.
        message = f"{subject}\n\nWriter: {self._writer} {self._session}"
        return new_commit(tree=tree, parents=parents, author=US, committer=US, at=self._clock(), message=message)


def _check(item: NotesAppend) -> None:
    names.cluster(item.cluster)
    if not item.lines:
        raise NameRefused(f"nothing to append for {item.cluster}")
    if item.expected_tip is not None:
        names.sha(item.expected_tip)
    if item.revision_parent is not None:
        names.sha(item.revision_parent)
    for sha, line in item.lines:
        names.sha(sha)
        if "\n" in line or "\r" in line or "\0" in line:
            raise NameRefused("a journal line is one line")
        _refuse_secrets(line, item.cluster)
    _refuse_secrets(item.subject, item.cluster)
    for data in item.attachments:
        _refuse_secrets(data.decode("utf-8", "replace"), item.cluster)


def _refuse_secrets(text: str, cluster: str) -> None:
    for finding in find_secrets(text):
        raise SecretRefused(f"a note of {cluster} would hold what looks like a {finding.kind}: {finding.masked}")


def _join(parts: Iterable[bytes]) -> bytes:
    """Notes one after the other, each ending its last line."""
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts if part)
