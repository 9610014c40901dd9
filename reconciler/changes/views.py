"""A change as every face shows it. Times are UTC, as they stand in the lines."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reconciler.changes.editing import clusters_of
from reconciler.changes.foresight import Foresight
from reconciler.changes.judging import Verdict
from reconciler.changes.store import State
from reconciler.journal.changes import Told
from schemas.errors import FieldConflict
from schemas.reviews import CloseLine, CommentLine, MergeLine, OpenLine, ReviewLine, UpdateLine

StateName = Literal["open", "merged", "closed"]


class _View(BaseModel):
    model_config = ConfigDict(frozen=True)


class FileView(_View):
    path: str
    verb: Literal["add", "change", "remove"]


class ChangeEventView(_View):
    """One thing that was said or done. `verified`: the control plane itself wrote it, so it is known who did. `head`:
    the head that it brought or was about."""

    seq: int
    at: str
    by: str
    kind: Literal["person", "agent"]
    what: str
    text: str = ""
    on_behalf_of: str = ""
    head: str = ""
    verified: bool


class ApprovalView(_View):
    """`actions`: how many it lets pass. `counts` false: `why` not, for the files of the change; the actions that it
    names may pass as long as it has not expired."""

    by: str
    at: str
    expires: str
    actions: int
    counts: bool
    why: str = ""
    text: str = ""


class CheckView(_View):
    """`ok`, `failed` (as it is it cannot be merged), `waiting` (for a person), `unknown` (nobody can say now)."""

    name: Literal["conflicts", "validation", "plan", "policy"]
    state: Literal["ok", "failed", "waiting", "unknown"]
    says: tuple[str, ...]


class ChangeSummary(_View):
    """`merged`: the commit of the branch; empty where nobody knows which (a push brought it)."""

    id: str
    state: StateName
    title: str
    proposed_by: str
    kind: Literal["person", "agent"]
    on_behalf_of: str = ""
    base: str
    head: str
    opened_at: str
    updated_at: str
    clusters: tuple[str, ...] = ()
    reverts: str | None = None
    merged: str | None = None
    approvals: int = 0
    objections: int = 0
    comments: int = 0


class ChangeView(ChangeSummary):
    """Everything about one change. `checks` and what follows are only told while it is open; `looked_at` says when the
    plan behind them was made, `plan` is its digest, which an approval names. `losses`: of a revert, what does not come
    back."""

    why: str = ""
    files: tuple[FileView, ...] = ()
    events: tuple[ChangeEventView, ...] = ()
    reviews: tuple[ApprovalView, ...] = ()
    checks: tuple[CheckView, ...] = ()
    mergeable: bool = False
    plan: str | None = None
    looked_at: str | None = None
    conflicts: tuple[FieldConflict, ...] = ()
    losses: tuple[str, ...] = ()
    findings: tuple[str, ...] = Field(default=(), description="Lines that count for nothing, and why")


def summary(state: State, files: dict[str, tuple[str | None, str | None]]) -> ChangeSummary:
    return ChangeSummary(**_common(state, files))


def whole(
    state: State,
    files: dict[str, tuple[str | None, str | None]],
    *,
    seen: Foresight | None,
    verdict: Verdict | None,
    stopped: str,
    losses: list[str],
    branch: str | None,
) -> ChangeView:
    """`stopped`: why nobody can judge it now."""
    change = state.change
    checks = (*_checks(seen, verdict),) if seen is not None and verdict is not None else ()
    if stopped:
        checks = (CheckView(name="policy", state="failed", says=(stopped,)),)
    findings = list(change.findings)
    if branch is not None and branch != change.head and state.name == "open":
        findings.append(f"branch change/{change.id} stands at {branch[:12]}: what was pushed there is no part of it")
    return ChangeView(
        **_common(state, files),
        why=change.why,
        files=tuple(FileView(path=path, verb=_verb(*pair)) for path, pair in sorted(files.items())),
        events=tuple(_event(told) for told in change.told),
        reviews=_reviews(state, verdict),
        checks=checks,
        mergeable=bool(checks) and all(check.state == "ok" for check in checks),
        plan=seen.digest if seen is not None and seen.commit is not None else None,
        looked_at=seen.looked_at.isoformat(timespec="seconds") if seen is not None else None,
        conflicts=seen.conflicts if seen is not None else (),
        losses=tuple(losses),
        findings=tuple(findings),
    )


def _common(state: State, files: dict[str, tuple[str | None, str | None]]) -> dict[str, Any]:
    change = state.change
    return {
        "id": change.id,
        "state": state.name,
        "title": change.title,
        "proposed_by": change.opened.by,
        "kind": change.opened.kind,
        "on_behalf_of": change.opened.behalf,
        "base": change.base,
        "head": change.head,
        "opened_at": change.opened.at,
        "updated_at": change.updated_at,
        "clusters": tuple(clusters_of(files)),
        "reverts": change.opened.reverts,
        "merged": state.merged,
        "approvals": len(change.approvals),
        "objections": len(change.objections),
        "comments": sum(1 for told in change.told if isinstance(told.line, CommentLine)),
    }


def _verb(before: str | None, after: str | None) -> Literal["add", "change", "remove"]:
    return "add" if before is None else "remove" if after is None else "change"


def _event(told: Told) -> ChangeEventView:
    line = told.line
    what: str = line.t
    text, head, behalf = "", "", ""
    match line:
        case OpenLine():
            text, head, behalf = line.title, line.head, line.behalf
        case UpdateLine():
            what, text, head, behalf = f"update: {line.how}", line.title or "", line.head, line.behalf
        case CommentLine():
            text, behalf = line.text, line.behalf
        case ReviewLine():
            what, text, head = line.verdict, line.text, line.head
        case MergeLine():
            text, head = f"as {line.commit}", line.head
        case CloseLine():
            text = line.text
    return ChangeEventView(
        seq=line.seq,
        at=line.at,
        by=line.by,
        kind=line.kind,
        what=what,
        text=text,
        on_behalf_of=behalf,
        head=head,
        verified=told.signed,
    )


def _reviews(state: State, verdict: Verdict | None) -> tuple[ApprovalView, ...]:
    void = {vote.line.seq: vote.void for vote in verdict.votes} if verdict is not None else {}
    return tuple(
        ApprovalView(
            by=line.by,
            at=line.at,
            expires=line.expires,
            actions=sum(len(found) for found in line.actions.values()),
            counts=not void.get(line.seq, ""),
            why=void.get(line.seq, ""),
            text=line.text,
        )
        for line in state.change.approvals
    )


# Checks --------------------------------------------------------------------------------------------------------------


def _checks(seen: Foresight, verdict: Verdict) -> list[CheckView]:
    if seen.commit is None:
        says = [_clash(found) for found in seen.conflicts] or [seen.refused or "it cannot be laid over the branch"]
        waits = "not known before it goes onto the branch"
        return [
            CheckView(name="conflicts", state="failed", says=tuple(says)),
            *(CheckView(name=name, state="unknown", says=(waits,)) for name in ("validation", "plan", "policy")),
        ]
    problems = tuple(str(problem) for problem in seen.problems)
    return [
        CheckView(name="conflicts", state="ok", says=("it goes onto the branch as it is",)),
        CheckView(
            name="validation",
            state="failed" if problems else "ok",
            says=problems or ("every document of the clusters that it touches is valid",),
        ),
        _plan(seen),
        _policy(verdict),
    ]


def _clash(found: FieldConflict) -> str:
    where = f"{found.document or found.path} {found.field}".rstrip()
    who = f"{found.by} at {found.at}" if found.by else "somebody"
    return f"{where}: {who} made it {found.theirs!r}, this change makes it {found.yours!r}; it was {found.base!r}"


def _plan(seen: Foresight) -> CheckView:
    if seen.unplanned:
        blind = tuple(f"{cluster} cannot be planned now: {why}" for cluster, why in seen.unplanned.items())
        return CheckView(name="plan", state="unknown", says=blind)
    says: list[str] = []
    refused: list[str] = []
    for cluster, scope in seen.scopes.items():
        if scope.plan is None:
            continue
        counts: dict[str, int] = {}
        for action in seen.actions(cluster):
            counts[action.verb.value] = counts.get(action.verb.value, 0) + 1
        impossible = seen.impossible[cluster]
        told = ", ".join(f"{number} to {verb}" for verb, number in counts.items())
        if told or not impossible:
            says.append(f"{cluster}: {told or 'nothing to do'}")
        refused += [f"{one.key}: {one.message}; {one.way_out}".rstrip("; ") for one in impossible]
        says += [f"{cluster}: {one.message}" for one in scope.plan.findings if one.severity != "info"]
    if refused:
        return CheckView(name="plan", state="failed", says=(*refused, *says))
    return CheckView(name="plan", state="ok", says=tuple(says) or ("no cluster changes",))


def _policy(verdict: Verdict) -> CheckView:
    missing = verdict.missing()
    if missing:
        return CheckView(name="policy", state="waiting", says=tuple(missing))
    by = ", ".join(line.by for line in verdict.counting)
    return CheckView(
        name="policy", state="ok", says=(f"approved by {by}" if by else "nothing in it needs an approval",)
    )
