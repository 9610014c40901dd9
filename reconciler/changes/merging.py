"""The merge: one compare-and-swap of the branch, with the line that tells of it, on documents that were validated and
a plan that was made just before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from reconciler.changes import combining, judging, wording
from reconciler.changes.foresight import Foresight
from reconciler.changes.judging import Verdict
from reconciler.changes.proposing import open_state
from reconciler.changes.reaching import must_reach_all
from reconciler.changes.store import State, Store
from reconciler.config_repo.changes import Move
from reconciler.config_repo.notes import US
from reconciler.journal.changes import Change
from reconciler.plan.gates import Limits
from schemas.documents.policy import POLICY_PATH
from schemas.documents.problems import Problem
from schemas.errors import Conflict, Flaw, Forbidden, Unavailable, Unseen
from schemas.globs import any_matches
from schemas.principals import Principal

Look = Callable[[Change, str], Foresight]


def merge(
    store: Store,
    who: Principal,
    change: str,
    *,
    look: Look,
    limits: Callable[[str], Limits],
    now: Callable[[], datetime],
    head: str | None,
) -> str:
    """The commit on the branch. One that was merged already stays merged. `head`: what the person saw; None is refused
    (Unseen). `look(change, main)` plans it on where the
    branch stands; `limits(main)` is the policy in force there."""
    if who.is_agent:
        raise Forbidden("an agent does not merge: a person does", reason="AgentsDoNotMerge")
    if head is None:
        text = "a merge names the head that was seen (If-Match: the change's head or ETag)"
        raise Unseen(text, reason="HeadNeeded", way_out="get the change, look at it, and send its head along")

    def act(move: Move) -> str:
        state = store.one(change)
        if state.merged is not None and head == state.change.head:
            _note_merge(store, move, state, who)
            return state.merged
        state = open_state(store, change, head)
        found = state.change
        must_reach_all(store, who, found)
        main = store.main()
        seen = look(found, main)
        verdict = judging.judge(found, seen, limits(main), now())
        _must_fit(found, seen)
        _must_pass(found, verdict)
        over = combining.laid_over(store.repo, found.base, found.head, main)
        approvers = [line.by for line in verdict.counting]
        trailers = [
            *wording.proposed_by(change, found.opened.by, found.opened.behalf),
            *(("Approved-by", name) for name in approvers),
        ]
        commit = store.repo.changes.store_commit(
            parents=[main, found.head],
            changes=over,
            message=wording.message(found.title, found.why, trailers),
            author=US,
        )
        store.repo.changes.set_main(move, store.repo.branch, main, commit)
        line = store.line(
            change,
            found.seq + 1,
            who,
            "merge",
            commit=commit,
            head=found.head,
            approvals=[line.seq for line in verdict.counting],
            plan=_numbers(seen),
        )
        store.add(move, change, line, tip=state.tip, head=found.head, say="merged", keep=commit)
        _drop_branch(store, move, found)
        return commit

    return store.attempt(act)


def may_commit_directly(who: Principal, paths: Iterable[str], limits: Limits) -> None:
    """Raises Forbidden: an agent, the policy itself, or files that the policy does not name."""
    if who.is_agent:
        raise Forbidden("an agent proposes; it commits nothing directly", reason="AgentsDoNotMerge")
    for path in paths:
        allowed = any_matches(limits.direct, path)
        if path == POLICY_PATH or not allowed:
            text = f"{path} is not committed without a review (directCommit.paths of the policy)"
            raise Forbidden(text, reason="ReviewNeeded", way_out="open a change without direct")


def _note_merge(store: Store, move: Move, state: State, who: Principal) -> None:
    """A merge of which the lines do not tell: a crash in between, or a person's own push. Only the lines follow, and
    only if one commit brought it: it is what a revert takes back."""
    found = state.change
    if found.merge is None and found.close is None and state.merged is not None:
        commit = state.merged or store.repo.changes.brought(found.head, store.main())
        is_part = commit == found.head and store.repo.commit_info(found.head).parents[:1] != (found.base,)
        if commit is not None and not is_part:
            line = store.line(found.id, found.seq + 1, who, "merge", commit=commit, head=found.head)
            store.add(move, found.id, line, tip=state.tip, head=found.head, say="merged")
    _drop_branch(store, move, found)


def _drop_branch(store: Store, move: Move, change: Change) -> None:
    at = store.repo.changes.branch(change.id)
    if at == change.head:
        store.repo.changes.set_branch(move, change.id, at, None)


def _must_fit(change: Change, seen: Foresight) -> None:
    if seen.conflicts or seen.refused:
        text = seen.refused or f"change {change.id} and the branch changed the same fields"
        way = "take one of the values: edit the change, then rebase it"
        raise Conflict(text, reason="Conflicts", conflicts=seen.conflicts, way_out=way)
    if seen.problems:
        flaws = [_flaw(problem) for problem in seen.problems]
        text = f"what the merge would make is not valid: {seen.problems[0]}"
        raise Conflict(text, reason="DocumentsInvalid", flaws=flaws, way_out="edit the change")
    impossible = [one for found in seen.impossible.values() for one in found]
    if impossible:
        flaws = [
            Flaw(where=one.key, expected="a change that can be made", found=one.message, hint=one.way_out)
            for one in impossible
        ]
        first = impossible[0]
        text = f"{first.key} cannot be changed like this: {first.message}"
        raise Conflict(text, reason="Impossible", flaws=flaws, way_out=first.way_out)
    if seen.unplanned:
        cluster, why = next(iter(seen.unplanned.items()))
        raise Unavailable(f"no plan, no merge: {cluster} cannot be planned now: {why}", reason="NotPlanned")


def _must_pass(change: Change, verdict: Verdict) -> None:
    if verdict.passes:
        return
    reason = "ChangesRequested" if verdict.objections else "NeedsApproval"
    missing = verdict.missing()
    flaws = [Flaw(where=f"changes/{change.id}", expected=text, found="not yet") for text in missing]
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    text = f"change {change.id} waits: {'; '.join(missing[:3])}{more}"
    raise Conflict(text, reason=reason, flaws=flaws, way_out="get it approved, or change it")


def _flaw(problem: Problem) -> Flaw:
    where = f"{problem.file}:{problem.line}:{problem.column}"
    return Flaw(where=where, expected=problem.expected, found=problem.found, hint=problem.hint)


def _numbers(seen: Foresight) -> dict[str, dict[str, int]]:
    """What the change brings, per cluster and verb."""
    told: dict[str, dict[str, int]] = {}
    for cluster in seen.scopes:
        counts: dict[str, int] = {}
        for action in seen.actions(cluster):
            counts[action.verb.value] = counts.get(action.verb.value, 0) + 1
        told[cluster] = counts
    return told
