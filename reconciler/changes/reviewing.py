"""Comments, reviews and the end without a merge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from reconciler.changes.foresight import Foresight
from reconciler.changes.proposing import open_state
from reconciler.changes.reaching import must_reach_all, must_reach_change
from reconciler.changes.store import Store
from reconciler.config_repo.changes import Move
from reconciler.journal.changes import Change
from reconciler.plan.gates import Limits
from schemas.changes import NewReview
from schemas.errors import Conflict, Forbidden, InvalidInput, Unavailable
from schemas.principals import Principal, normal
from schemas.reviews import CommentLine

Look = Callable[[Change], Foresight]


def comment(store: Store, who: Principal, change: str, text: str) -> None:
    """Also when it has ended. Who says the same twice, with nothing of theirs in between, says it once: a retry."""

    def act(move: Move) -> None:
        state = store.one(change)
        found = state.change
        own = [told.line for told in found.told if normal(told.line.by) == normal(who.name)]
        if own and isinstance(own[-1], CommentLine) and own[-1].text == text:
            return
        line = store.line(change, found.seq + 1, who, "comment", text=text, behalf=who.on_behalf_of)
        store.add(move, change, line, tip=state.tip, head=found.head, say="comment")

    store.attempt(act)


def review(
    store: Store,
    who: Principal,
    change: str,
    asked: NewReview,
    *,
    look: Look,
    limits: Callable[[], Limits],
    now: Callable[[], datetime],
    head: str | None,
) -> None:
    """Approve, ask for changes, or take one's own review back. An approval is about the plan that was seen: `look`
    makes it again, and it must be the same."""
    if who.is_agent or "approve" not in who.scopes:
        raise Forbidden(f"{who.name} may not review: that needs a person with the scope approve", reason="MayNotReview")

    def act(move: Move) -> None:
        state = open_state(store, change, head)
        found = state.change
        must_reach_all(store, who, found)
        if asked.verdict == "withdraw" and normal(who.name) not in found.reviews:
            raise Conflict(f"there is no review by {who.name} to withdraw", reason="NothingToWithdraw")
        approval = {}
        if asked.verdict == "approve":
            _may_approve(who, found)
            seen = look(found)
            _was_seen(found, seen, asked.plan)
            expires = now() + timedelta(seconds=limits().expire_after)
            approval = {
                "plan": seen.digest,
                "actions": {cluster: sorted(digests) for cluster, digests in seen.introduced.items()},
                "files": seen.files_digest,
                "authors": sorted(found.authors),
                "expires": expires.isoformat(timespec="seconds"),
            }
        line = store.line(
            change, found.seq + 1, who, "review", verdict=asked.verdict, head=found.head, text=asked.text, **approval
        )
        store.add(move, change, line, tip=state.tip, head=found.head, say=asked.verdict)

    store.attempt(act)


def close(store: Store, who: Principal, change: str, text: str, *, head: str | None) -> None:
    """End it without a merge. Its head stays reachable by its lines; the branch goes."""

    def act(move: Move) -> None:
        state = store.one(change)
        if state.name == "closed":
            return
        state = open_state(store, change, head)
        found = state.change
        must_reach_change(store, who, found)
        line = store.line(change, found.seq + 1, who, "close", text=text)
        store.add(move, change, line, tip=state.tip, head=found.head, say="closed", keep=found.head)
        at = store.repo.changes.branch(change)
        if at == found.head:
            store.repo.changes.set_branch(move, change, at, None)

    store.attempt(act)


def _may_approve(who: Principal, change: Change) -> None:
    if not change.vouched:
        text = "this control plane did not see who proposed this change (its key was lost, or somebody wrote past it)"
        raise Forbidden(text, reason="AuthorUnknown", way_out="close it and open it again")
    if normal(who.name) in change.authors:
        raise Forbidden(f"{who.name} proposed this change and cannot approve it", reason="OwnChange")


def _was_seen(change: Change, seen: Foresight, plan: str | None) -> None:
    if plan is None:
        raise InvalidInput("an approval names the digest of the plan that was seen", reason="NoPlanSeen")
    if seen.conflicts or seen.refused:
        text = seen.refused or f"change {change.id} cannot be merged as it is"
        raise Conflict(text, reason="Conflicts", conflicts=seen.conflicts, way_out="rebase it, or edit it")
    if seen.problems:
        raise Conflict(f"its documents have problems: {seen.problems[0]}", reason="DocumentsInvalid")
    if seen.unplanned:
        cluster, why = next(iter(seen.unplanned.items()))
        raise Unavailable(f"{cluster} cannot be planned now: {why}", reason="NotPlanned")
    if plan != seen.digest:
        text = "the plan is no longer the one that was seen: the change, the branch or the world moved"
        raise Conflict(text, reason="PlanChanged", way_out="look at the plan again")
