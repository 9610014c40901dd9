"""Step 1: which clusters there are, at which revision each is, and what its journal says.

Clusters are the folders of the branch, journals that have not ended as Gone, and names that the branch's history tells
of and that have neither: what was made for them may live on, which one look tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from reconciler.config_repo.errors import UnknownCluster
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import journal
from reconciler.engine.doubt import compare
from reconciler.engine.memory import Memory
from reconciler.engine.scope import Scope
from reconciler.journal.lines import Pen
from reconciler.live.clock import Clock
from schemas.errors import InstantStartError
from schemas.journal import ClusterStatus

Tips: TypeAlias = Mapping[str, str]


def clusters(
    repo: ConfigRepo,
    head: str,
    memories: dict[str, Memory],
    tips: Tips | None = None,
    gone: dict[str, str] | None = None,
) -> list[str]:
    """`tips`: where the journals stand, if somebody just looked. `gone`: the tips at which journals were seen to have
    ended; those are not read again, and nobody remembers more of them."""
    tips = repo.journal_tips() if tips is None else tips
    gone = {} if gone is None else gone
    folders = repo.clusters(head)
    journals = [name for name in tips if name not in folders]
    left = [name for name in journals if gone.get(name) != tips[name] and _is_alive(repo, name, memories, tips, gone)]
    forgotten = {*repo.clusters_ever(head), *memories} - {*folders, *journals}
    orphans = [name for name in forgotten if _may_be_left(repo, name, head, memories)]
    return sorted({*folders, *left, *orphans})


def _is_alive(repo: ConfigRepo, cluster: str, memories: dict[str, Memory], tips: Tips, gone: dict[str, str]) -> bool:
    known = cluster in memories
    try:
        alive = not remember(repo, cluster, memories, tips).fold.status().gone
    except InstantStartError:
        return True  # it is told when the cluster is opened
    if alive:
        gone.pop(cluster, None)
    else:
        gone[cluster] = tips[cluster]
        if not known:
            del memories[cluster]
            repo.let_go(cluster)  # a restart reads the journals of all that ever were
    return alive


def _may_be_left(repo: ConfigRepo, cluster: str, head: str, memories: dict[str, Memory]) -> bool:
    """Nobody needs to look twice where nothing was left."""
    known = memories.get(cluster)
    if known is None or known.nothing_left is None:
        return True
    try:
        return repo.revision_of(head, cluster) != known.nothing_left
    except UnknownCluster:
        return False


def remember(repo: ConfigRepo, cluster: str, memories: dict[str, Memory], tips: Tips | None = None) -> Memory:
    """The memory of a cluster, its journal read again if others wrote to it."""
    tip = tips.get(cluster) if tips is not None else repo.journal_tip(cluster)
    known = memories.get(cluster)
    if known is not None and known.tip == tip:
        return known
    view = repo.notes(cluster)
    read = journal.read(repo, cluster, view)
    if known is None:
        known = Memory(cluster=cluster, tip=view.tip, fold=read, confirmed=repo.known_tip(cluster))
    known.tip, known.fold, known.durable = view.tip, read, None
    compare(repo, known)
    memories[cluster] = known
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


def open_scope(
    repo: ConfigRepo, cluster: str, head: str, memories: dict[str, Memory], clock: Clock, tips: Tips | None = None
) -> Scope:
    """`tips`: where the journals stand, if somebody just looked."""
    memory = remember(repo, cluster, memories, tips)
    memory.born = memory.born or clock.now().timestamp()
    status = memory.fold.status()
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
        journal_at=status.at,
        rewritten=rewritten,
    )
