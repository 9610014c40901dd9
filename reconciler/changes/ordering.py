"""Orders given by name: who may give which, and that nobody lets pass what they asked for themselves.

An order is written for the engine to take up; it decides what the order means when it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from reconciler.changes.store import Store
from reconciler.changes.wording import author
from reconciler.config_repo.notes import US
from reconciler.engine import journal
from reconciler.journal import subjects
from schemas.changes import NewOrder
from schemas.errors import Conflict, Forbidden, InvalidInput, NotFound
from schemas.journal import ClusterStatus
from schemas.principals import Principal, normal

_DECIDING: Final = ("approve", "release")  # they let pass what waits for a second person
_LONGEST: Final = 2000
_TRAILER: Final = re.compile(r"^(?:Proposed-by|On-behalf-of):\s*(.+)$", re.MULTILINE)
_CHOOSE: Final = {
    "approve": subjects.to_approve,
    "release": subjects.to_release,
    "retry": subjects.to_retry,
    "resolve": subjects.to_resolve,
}


def give(store: Store, who: Principal, asked: NewOrder, *, order: str) -> dict[str, str]:
    """Write it under this id; what it says. Raises Forbidden, NotFound, InvalidInput and Conflict."""
    _may_give(who, asked.do)
    if (asked.do == "resolve") != (asked.outcome is not None):
        raise InvalidInput("resolve, and only that, needs an outcome", reason="NoOutcome")
    store.repo.fetch()
    status = _status(store, asked.cluster)
    subject = _CHOOSE[asked.do](status, [asked.subject])[0]
    if asked.do in _DECIDING and normal(who.name) in authors(store, _revisions(status)):
        text = f"{who.name} asked for what waits in {asked.cluster} and cannot let it pass"
        raise Forbidden(text, reason="OwnChange", way_out="somebody else gives this order")
    body = {
        "cluster": asked.cluster,
        "do": asked.do,
        "subject": subject,
        "principal": who.name,
        "why": asked.why[:_LONGEST],
    }
    body |= {"as": asked.outcome} if asked.outcome is not None else {}
    store.repo.put_order(order, body, author=author(who))
    return body


def authors(store: Store, revisions: Iterable[str]) -> set[str]:
    """Everyone who may have asked for these commits, in normal form. Only to refuse by: names in commits are words,
    and one more name lets nobody do anything."""
    wanted = [sha for sha in revisions if store.repo.has_commit(sha)]
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


def _may_give(who: Principal, do: str) -> None:
    if who.is_agent:
        raise Forbidden("an agent gives no orders", reason="AgentsDoNotOrder")
    wanted = "approve" if do in _DECIDING else "operate"
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
