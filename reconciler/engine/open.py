"""Step 1: which clusters there are, at which revision each is, and what its journal says."""

from __future__ import annotations

from reconciler.config_repo.errors import UnknownCluster
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.memory import Memory
from reconciler.engine.scope import Scope
from reconciler.journal import fold
from reconciler.journal.lines import Pen
from reconciler.live.clock import Clock
from schemas.journal import ClusterStatus


def clusters(repo: ConfigRepo, head: str, memories: dict[str, Memory]) -> list[str]:
    """Folders, and clusters whose journal has not ended as Gone."""
    folders = repo.clusters(head)
    left = [
        name
        for name in repo.journal_clusters()
        if name not in folders and not remember(repo, name, memories).status().gone
    ]
    return sorted({*folders, *left})


def remember(repo: ConfigRepo, cluster: str, memories: dict[str, Memory]) -> Memory:
    """The memory of a cluster, its journal read again if others wrote to it."""
    view = repo.notes(cluster)
    known = memories.get(cluster)
    if known is not None and known.tip == view.tip:
        return known
    texts = (line for note in view.entries.values() for line in note.decode("ascii", "replace").splitlines())
    read = fold.read(cluster, texts)
    if known is None:
        known = memories[cluster] = Memory(cluster=cluster, tip=view.tip, fold=read)
    known.tip, known.fold = view.tip, read
    if read.seq < known.highest_seq:
        read.breaks(f"the journal went back from line {known.highest_seq} to {read.seq}")
    known.highest_seq = max(known.highest_seq, read.seq)
    return known


def revision_at(repo: ConfigRepo, cluster: str, head: str, status: ClusterStatus) -> str:
    """The commit that last changed the cluster's input. After a force push to a history that never held the cluster,
    the head that we first saw without it."""
    try:
        return repo.revision_of(head, cluster)
    except UnknownCluster:
        seen = status.rev
        known = seen is not None and status.input is None and repo.has_commit(seen) and repo.is_ancestor(seen, head)
        return seen if seen is not None and known else head


def open_scope(repo: ConfigRepo, cluster: str, head: str, memories: dict[str, Memory], clock: Clock) -> Scope:
    memory = remember(repo, cluster, memories)
    memory.born = memory.born or clock.now().timestamp()
    status = memory.status()
    revision = revision_at(repo, cluster, head, status)
    rewritten = bool(
        status.rev
        and status.rev != revision
        and not (repo.has_commit(status.rev) and repo.is_ancestor(status.rev, head))
    )
    return Scope(
        cluster=cluster,
        head=head,
        revision=revision,
        input=repo.clusters(head).get(cluster),
        memory=memory,
        pen=Pen(memory.fold.seq, memory.fold.roll, clock.iso),
        rewritten=rewritten,
    )
