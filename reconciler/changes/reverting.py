"""Taking something back is a change like any other: the opposite of what a commit did to its files, laid over where
the branch stands now. What it did to the world is another matter, and is told: not everything comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reconciler.changes import combining
from reconciler.changes.editing import clusters_of
from reconciler.changes.proposing import Proposal
from reconciler.changes.store import Store
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.library import Library
from reconciler.journal.fold import fold_lines
from schemas.changes import NewRevert
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.operation import Operation
from schemas.documents.records import Document, LoadedCluster
from schemas.errors import Conflict, InvalidInput
from schemas.journal import OpRecord, Phase

_DONE = (Phase.SUCCEEDED, Phase.SUBMITTED, Phase.UNKNOWN, Phase.RESOLVED)
_NODES = ("hyperpod.InstanceGroup", "eks.NodeGroup")


def proposal(store: Store, asked: NewRevert) -> Proposal:
    """Raises NotFound, Conflict (it is not on the branch, or fields were changed since) and InvalidInput."""
    commit, subject = _subject(store, asked)
    main = store.main()
    if commit != main and not store.repo.is_ancestor(commit, main):
        text = f"{commit[:12]} is not on {store.repo.branch}: there is nothing to take back"
        raise Conflict(text, reason="NotMerged")
    parents = store.repo.commit_info(commit).parents
    if not parents:
        raise InvalidInput("the first commit cannot be taken back", reason="FirstCommit")
    return Proposal(
        title=asked.title or f"Revert: {subject}"[:200],
        why=asked.why or f"Takes back {commit[:12]}.",
        base=main,
        files=_own(combining.laid_over(store.repo, commit, parents[0], main)),
        reverts=commit,
    )


def losses(repo: ConfigRepo, library: Library, commit: str) -> list[str]:
    """What a commit did that taking it back does not undo, as sentences."""
    parents = repo.commit_info(commit).parents
    if not parents:
        return []
    told: list[str] = []
    for cluster in clusters_of(repo.changes.changed_files(parents[0], commit)):
        before = library.loaded(parents[0], cluster) or LoadedCluster(name=cluster)
        after = library.loaded(commit, cluster) or LoadedCluster(name=cluster)
        told += _of_documents(before, after)
        told += _of_journal(repo, cluster, commit)
    return list(dict.fromkeys(told))


def _subject(store: Store, asked: NewRevert) -> tuple[str, str]:
    if (asked.change is None) == (asked.commit is None):
        raise InvalidInput("name either a change or a commit", reason="WhatToRevert")
    if asked.commit is not None:
        if not store.repo.has_commit(asked.commit):
            raise Conflict(f"there is no commit {asked.commit[:12]}", reason="NotMerged")
        return asked.commit, store.repo.commit_info(asked.commit).subject
    assert asked.change is not None
    state = store.one(asked.change)
    if state.name != "merged":
        raise Conflict(f"change {asked.change} is {state.name}: there is nothing to take back", reason="NotMerged")
    if not state.merged:
        text = f"change {asked.change} was merged by a push: name the commit of the branch that brought it"
        raise Conflict(text, reason="MergedByPush")
    return state.merged, state.change.title


def _own(over: combining.Laid) -> dict[str, bytes | None]:
    """Of a whole commit, what is ours to write."""
    return {path: data for path, data in over.items() if path.startswith("clusters/")}


# What does not come back ---------------------------------------------------------------------------------------------


def _of_documents(before: LoadedCluster, after: LoadedCluster) -> Iterator[str]:
    """What the commit asked for: it may have happened, or be under way."""
    news = {(doc.kind, doc.name): doc for doc in after.documents}
    for old in before.documents:
        new = news.get((old.kind, old.name))
        model = old.model
        if isinstance(model, InstanceGroup):
            nodes = _fewer(old, new)
            if nodes:
                gone = "was deleted" if new is None else f"lost {nodes} nodes"
                yield f"{old.kind}/{old.name} {gone}: it gets new machines, and what was on their disks is gone"
        elif new is None and old.kind == "Storage":
            yield f"Storage/{old.name} was removed: the claim is made anew; what a deleted bucket held is gone"
        elif new is None and old.kind == "Cluster":
            yield f"cluster {old.name} was deleted: it is built anew, with new ids, addresses and machines"
    olds = {(doc.kind, doc.name) for doc in before.documents}
    for new in after.documents:
        if isinstance(new.model, Operation) and (new.kind, new.name) not in olds:
            yield f"Operation/{new.name} is done once for ever: if it ran, taking its document away undoes nothing"


def _fewer(old: Document, new: Document | None) -> int:
    was: Any = old.authored.get("count", 0)
    now: Any = new.authored.get("count", 0) if new is not None else 0
    if not isinstance(was, int) or not isinstance(now, int):
        return 0
    return max(was - now, 0)


def _of_journal(repo: ConfigRepo, cluster: str, commit: str) -> Iterator[str]:
    """What was really done under that revision."""
    note = repo.notes(cluster).entries.get(commit)
    if note is None:
        return
    for op in fold_lines(cluster, note.decode("ascii", "replace").splitlines()).ops.values():
        if op.phase in _DONE and op.asked == commit:
            yield from _of_op(op)


def _of_op(op: OpRecord) -> Iterator[str]:
    if op.verb == "replace":
        yield f"{op.key} was replaced: the one before does not come back, a third one is made"
    elif op.verb == "delete" and op.key.split("/", 1)[0] in _NODES:
        yield f"{op.key} was deleted: its machines and their disks are gone"
    elif op.verb == "delete":
        yield f"{op.key} was deleted: it is made anew, with another id"
    elif op.verb == "run":
        yield f"{op.call} of {op.key} was done: that cannot be undone"
    elif op.nodes and op.verb == "update":
        yield f"{op.key} lost {op.nodes} nodes: new ones come, and what was on their disks is gone"
