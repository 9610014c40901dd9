"""Orders given by name: who may give which, and that nobody lets pass what they asked for themselves.

An order is written for the engine to take up; it decides what the order means when it does.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from reconciler.changes.reaching import must_reach_cluster
from reconciler.changes.store import Store
from reconciler.changes.wording import author
from reconciler.config_repo.notes import US
from reconciler.engine import journal
from reconciler.engine.orders import DECIDING
from reconciler.journal import subjects
from reconciler.journal.fold import JOURNAL
from schemas.changes import NewOrder
from schemas.errors import Conflict, Forbidden, InvalidInput, NotFound
from schemas.journal import ClusterStatus
from schemas.principals import Principal, normal

_LONGEST: Final = 2000
_TRAILER: Final = re.compile(r"^(?:Proposed-by|On-behalf-of):\s*(.+)$", re.MULTILINE)
_CHOOSE: Final = {
    "approve": subjects.to_approve,
    "release": subjects.to_release,
    "retry": subjects.to_retry,
    "resolve": subjects.to_resolve,
}


def give(store: Store, who: Principal, asked: NewOrder, *, order: str) -> tuple[str, dict[str, str]]:
    """Write it under this id; its id and what it says. One that waits already and says the same is not given again: it
    was a retry. Raises Forbidden, NotFound, InvalidInput and Conflict."""
    _may_give(who, asked.do)
    must_reach_cluster(who, asked.cluster)
    if (asked.do == "resolve") != (asked.outcome is not None):
        raise InvalidInput("resolve, and only that, needs an outcome", reason="NoOutcome")
    store.repo.fetch()
    status = _status(store, asked.cluster)
    subject = _CHOOSE[asked.do](status, [asked.subject])[0]
    if asked.do in DECIDING:
        _must_wait(status, subject)
        _must_be_another(store, who, asked.cluster, status)
    body = {
        "cluster": asked.cluster,
        "do": asked.do,
        "subject": subject,
        "principal": who.name,
        "why": asked.why[:_LONGEST],
    }
    body |= {"as": asked.outcome} if asked.outcome is not None else {}
    orders = store.repo.orders()
    waiting = next((one.ulid for one in orders if one.body == store.signed_order(one.ulid, body)), None)
    if waiting is None:
        store.repo.put_order(order, store.signed_order(order, body), author=author(who))
    return waiting or order, body


def authors(store: Store, cluster: str, revisions: Sequence[str], *, after: str | None = None) -> set[str]:
    """Everyone who may have asked for what these revisions of a cluster wish, in normal form: also for commits in
    between, that came together with a later one, and those since `after`. Only to refuse by: names in commits are
    words, and one more name lets nobody do anything."""
    wanted = [sha for sha in revisions if store.repo.has_commit(sha)]
    known = [after] if after is not None and store.repo.has_commit(after) else []
    wanted += _in_between(store, cluster, [*known, *wanted])
    told: set[str] = set()
    heads: set[str] = set()
    for sha in wanted:
        commit = store.repo.commit_info(sha)
        first, *others = commit.parents or ("",)
        heads.update(others)
        brought = store.repo.changes.between(first, sha) if others else [sha]
        for each in brought:
            info = store.repo.commit_info(each)
            told.add(info.author_email or info.author_name)
            told.update(_TRAILER.findall(info.body))
    for state in store.all() if wanted else ():
        change = state.change
        if change.head in heads or (change.merge is not None and change.merge.commit in wanted):
            told |= change.authors
    return {normal(name) for name in told} - {normal(US[1]), ""}


def _in_between(store: Store, cluster: str, revisions: Sequence[str]) -> list[str]:
    """Commits of this cluster's files that one revision contains and the one before it does not."""
    pairs = itertools.pairwise(revisions)
    return [sha for old, new in pairs for sha in store.repo.changes.between(old, new, under=f"clusters/{cluster}")]


def _must_wait(status: ClusterStatus, subject: str) -> None:
    """What is not held yet has no author that could be refused: it would be let pass by whoever asks for it next.
    What a change would do is approved in the change."""
    waiting = {hold.action for hold in status.holds.values() if hold.state == "held"}
    if subject not in waiting and subject != JOURNAL:
        text = f"nothing waits in {status.cluster} under {subject[:12]}: an order is about what is held"
        raise InvalidInput(text, reason="NothingHeld", way_out="approve the change that would do it")


def _must_be_another(store: Store, who: Principal, cluster: str, status: ClusterStatus) -> None:
    if normal(who.name) in authors(store, cluster, _revisions(status), after=status.last_ready):
        text = f"{who.name} asked for what waits in {cluster} and cannot let it pass"
        raise Forbidden(text, reason="OwnChange", way_out="somebody else gives this order")


def _may_give(who: Principal, do: str) -> None:
    if who.is_agent:
        raise Forbidden("an agent gives no orders", reason="AgentsDoNotOrder")
    wanted = "approve" if do in DECIDING else "operate"
    if wanted not in who.scopes:
        raise Forbidden(f"the order {do} needs the scope {wanted}", reason="MissingScope")


def _status(store: Store, cluster: str) -> ClusterStatus:
    repo = store.repo
    if cluster not in repo.clusters(store.main()) and repo.journal_tip(cluster) is None:
        raise NotFound(f"there is no cluster {cluster}", reason="UnknownCluster")
    status = journal.read(repo, cluster, repo.notes(cluster)).status()
    if status.rev is None:
        text = f"nothing was ever applied to {cluster}: there is nothing an order could be about"
        raise Conflict(text, reason="NoJournal")
    return status


def _revisions(status: ClusterStatus) -> list[str]:
    """Commits whose wishes are not all done: since the last one that was Ready."""
    told = [*status.base, *([status.rev] if status.rev is not None else [])]
    since = told[told.index(status.last_ready) + 1 :] if status.last_ready in told else told
    return since or ([status.rev] if status.rev is not None else [])
