"""Opening a change, once: a retry finds the change that is there, whoever lost the first answer.

Without a key the key follows from the edits, not from the words around them. Where that very wish was merged before and
the documents no longer say so, it is a new wish: its key follows from the edits and the change that ended.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Final

from pydantic import Field

from instantstart_mcp.api import ApiProblem, Json, rows
from instantstart_mcp.calling import Call
from instantstart_mcp.tools.changes import Check, check, review_link
from instantstart_mcp.words import Answer

STATUS_TOOL: Final = "change_wait"
_MOST_REPEATS: Final = 50
_CHANGE: Final = re.compile(r"changes/([0-9a-hjkmnp-tv-z]{26})")


class ClusterSummary(Answer):
    """What the change brings to one cluster: how many actions of each verb."""

    cluster: str
    counts: dict[str, int] = Field(default_factory=dict)
    held: int = 0
    refused: int = 0


class Proposal(Answer):
    """What every tool that changes something gives back."""

    change: str
    state: str
    title_untrusted: str
    plan: tuple[ClusterSummary, ...] = ()
    checks: tuple[Check, ...] = ()
    mergeable: bool = False
    losses_untrusted: tuple[str, ...] = ()
    note: str = ""
    review_link: str
    status_tool: str
    next_step: str


async def propose(
    call: Call,
    title: str,
    edits: Sequence[Json],
    *,
    why: str = "",
    key: str = "",
    note: str = "",
    content: Sequence[Json] | None = None,
) -> Proposal:
    """Open a change with these edits, or find it. `content`: what makes it this wish and no other, if not the edits.
    Raises ApiProblem."""
    body: Json = {"title": title, "why": why, "edits": list(edits)}
    view = await _opened(call, ("changes",), body, key, edits if content is None else content)
    return await proposal(call, view, note=note)


async def propose_revert(call: Call, body: Json, *, key: str = "") -> Proposal:
    view = await _opened(call, ("reverts",), body, key, [{name: body.get(name) for name in ("change", "commit")}])
    return await proposal(call, view)


async def proposal(call: Call, view: Json, *, note: str = "") -> Proposal:
    """From a change as the API shows it."""
    return Proposal(
        change=view["id"],
        state=view["state"],
        title_untrusted=view["title"],
        plan=await _summary(call, view),
        checks=tuple(check(one) for one in view["checks"]),
        mergeable=view["mergeable"],
        losses_untrusted=tuple(view["losses"]),
        note=note,
        review_link=review_link(call, view["id"]),
        status_tool=STATUS_TOOL,
        next_step=_next_step(view),
    )


async def _opened(call: Call, path: tuple[str, ...], body: Json, key: str, content: Sequence[Json]) -> Json:
    if key:
        return await call.api.post(*path, body=body, key=key)
    ended: Json | None = None
    for _ in range(_MOST_REPEATS):
        try:
            view = await _once(call, path, body, derived_key(path, content, ended))
        except ApiProblem as problem:
            if ended is not None and problem.reason == "NothingToChange":
                return ended  # it was merged and still holds: this was a retry
            raise
        if view["state"] != "merged":
            return view
        ended = view
    text = "this was proposed and merged too often to tell a retry from a new wish"
    raise ApiProblem("KeyNeeded", text, status=409, way_out="give an idempotency key of your own")


async def _once(call: Call, path: tuple[str, ...], body: Json, key: str) -> Json:
    try:
        return await call.api.post(*path, body=body, key=key)
    except ApiProblem as problem:
        known = next((found for flaw in problem.errors if (found := _CHANGE.fullmatch(str(flaw.get("where"))))), None)
        if problem.reason != "KeyReused" or known is None:
            raise
        return await call.api.get("changes", known.group(1))  # the same edits, in other words


def derived_key(path: tuple[str, ...], content: Sequence[Json], ended: Json | None = None) -> str:
    told = {"path": path, "content": list(content), "after": ended["id"] if ended is not None else ""}
    return f"mcp-{hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:48]}"


async def _summary(call: Call, view: Json) -> tuple[ClusterSummary, ...]:
    """Numbers of what it would do; nothing of a change that has ended, or that cannot be planned now."""
    if view["state"] != "open":
        return ()
    try:
        told = await call.api.get("changes", view["id"], "plan")
    except ApiProblem:
        return ()
    return tuple(_of_cluster(one) for one in rows(told, "clusters"))


def _of_cluster(one: Json) -> ClusterSummary:
    introduced = set(one["introduced"])
    counts: dict[str, int] = {}
    held = 0
    for action in one["plan"]["actions"]:
        if action["digest"] in introduced:
            counts[action["verb"]] = counts.get(action["verb"], 0) + 1
            held += action.get("held") is not None
    return ClusterSummary(cluster=one["cluster"], counts=counts, held=held, refused=len(one["plan"]["refusals"]))


def _next_step(view: Json) -> str:
    if view["state"] == "merged":
        return "it was merged: call change_wait until its state is terminal"
    if view["state"] == "closed":
        return "it was closed without a merge: ask the person; a new idempotency_key proposes it once more"
    if any(one["state"] == "failed" for one in view["checks"]):
        return "it cannot be merged as it is: read the failed checks, close it (change_close) and propose it right"
    return "a person reviews and merges it at review_link: give it to them, then call change_wait until it is terminal"
