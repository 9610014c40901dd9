"""Looking at changes: the list, one of them, its plan and its differences."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.tools.plans import PlanAnswer, plan_answer
from instantstart_mcp.words import Answer, ChangeId, Cursor, Limit

_LONGEST = 12_000  # characters of a file's difference
_SAYS = 12


class ChangeRow(Answer):
    id: str
    state: str
    title_untrusted: str = ""
    proposed_by_untrusted: str = ""
    kind: str = ""
    opened_at: str = ""
    clusters: tuple[str, ...] = ()
    approvals: int = 0
    objections: int = 0
    merged: str | None = None


class ChangeList(Answer):
    items: tuple[ChangeRow, ...]
    next_cursor: str | None = Field(None, validation_alias="next")


class Check(Answer):
    """A gate: conflicts, validation, plan or policy."""

    name: str
    state: str
    says_untrusted: tuple[str, ...] = ()
    says_left_out: int = 0


class Said(Answer):
    by_untrusted: str
    at: str = ""
    what: str = ""
    text_untrusted: str = ""


class ChangeAnswer(ChangeRow):
    why_untrusted: str = ""
    base: str = ""
    head: str = ""
    mergeable: bool = False
    checks: tuple[Check, ...] = ()
    files_untrusted: tuple[str, ...] = ()
    files_left_out: int = 0
    said: tuple[Said, ...] = ()
    said_left_out: int = 0
    losses_untrusted: tuple[str, ...] = ()
    review_link: str = ""


class ChangePlanAnswer(Answer):
    change: str
    looked_at: str = ""
    missing_untrusted: tuple[str, ...] = ()
    refused_untrusted: str = ""
    clusters: tuple[PlanAnswer, ...] = ()
    clusters_left_out: int = 0


class FileDiff(Answer):
    path_untrusted: str
    verb: str
    lines_untrusted: str = ""
    characters_left_out: int = 0


class DiffList(Answer):
    items: tuple[FileDiff, ...]
    next_cursor: str | None = None


async def change_list(
    call: Call,
    state: Annotated[Literal["open", "merged", "closed"] | None, Field(description="Only these")] = None,
    cluster: Annotated[str, Field(max_length=40, description="Only those that touch it")] = "",
    limit: Limit = 20,
    cursor: Cursor = "",
) -> ChangeList:
    """Changes, newest first: what was proposed, by whom, and what became of it."""
    told = await call.api.get("changes", state=state, cluster=cluster, limit=limit, cursor=cursor)
    return ChangeList.model_validate(told)


async def change_get(call: Call, change: ChangeId) -> ChangeAnswer:
    """One change: checks (conflicts, validation, plan, policy) with what each says, files, comments, reviews, whether
    it can be merged, and the review link for people. To wait for its end: change_wait."""
    return of_view(call, await call.api.get("changes", change))


async def change_plan(
    call: Call,
    change: ChangeId,
    fresh: Annotated[bool, Field(description="Look at the world again; slower")] = False,
    limit: Annotated[int, Field(ge=1, le=100, description="Actions per cluster at most")] = 30,
) -> ChangePlanAnswer:
    """What merging an open change would do, cluster by cluster: only the actions that it brings, with cost and what
    holds them, refusals, findings; and what is missing before it may be merged."""
    told = await call.api.get("changes", change, "plan", fresh=fresh)
    shown = [
        plan_answer(one["plan"], limit, looked_at="", introduced=frozenset(one["introduced"]))
        for one in told["clusters"][:5]
    ]
    return ChangePlanAnswer(
        change=change,
        looked_at=told["looked_at"],
        missing_untrusted=tuple(told["missing"][:20]),
        refused_untrusted=told.get("refused") or "",
        clusters=tuple(shown),
        clusters_left_out=max(0, len(told["clusters"]) - len(shown)),
    )


async def change_diff(
    call: Call,
    change: ChangeId,
    limit: Annotated[int, Field(ge=1, le=20, description="Files at most")] = 4,
    cursor: Cursor = "",
) -> DiffList:
    """What a change does to files, as unified differences. characters_left_out: cut off; document_get with at=<change>
    has the whole."""
    told = await call.api.get("changes", change, "diff", limit=limit, cursor=cursor)
    return DiffList(items=tuple(_file(one, len(told["items"])) for one in told["items"]), next_cursor=told.get("next"))


def of_view(call: Call, view: dict[str, Any]) -> ChangeAnswer:
    events, files = view["events"], view["files"]
    return ChangeAnswer.model_validate(
        {
            **view,
            "base": view["base"][:12],
            "checks": [check(one) for one in view["checks"]],
            "files": [f"{one['verb']} {one['path']}" for one in files[:20]],
            "files_left_out": max(0, len(files) - 20),
            "said": [Said.model_validate(one) for one in events[-10:]],
            "said_left_out": max(0, len(events) - 10),
            "review_link": review_link(call, view["id"]),
        }
    )


def check(one: dict[str, Any]) -> Check:
    says = one["says"]
    return Check(
        name=one["name"],
        state=one["state"],
        says_untrusted=tuple(text[:500] for text in says[:_SAYS]),
        says_left_out=max(0, len(says) - _SAYS),
    )


def review_link(call: Call, change: str) -> str:
    return call.link("changes", change)


def _file(one: dict[str, Any], files: int) -> FileDiff:
    lines = one.get("lines") or ""
    most = _LONGEST if files <= 4 else 2 * _LONGEST // files
    return FileDiff(
        path_untrusted=one["path"],
        verb=one["verb"],
        lines_untrusted=lines[:most],
        characters_left_out=max(0, len(lines) - most),
    )


TOOLS = (reads(change_list), reads(change_get), reads(change_plan), reads(change_diff))
