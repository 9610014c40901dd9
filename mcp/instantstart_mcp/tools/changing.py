"""What is said and done about changes: wait, comment, close, revert, bring up to date; and, for people, merge."""

from __future__ import annotations

import time
from typing import Annotated, Final

import anyio
from pydantic import Field

from instantstart_mcp import waiting
from instantstart_mcp.api import ApiProblem, Json, part
from instantstart_mcp.calling import Call
from instantstart_mcp.proposing import Proposal, proposal, propose_revert
from instantstart_mcp.toolkit import decides, proposes, reads
from instantstart_mcp.tools.changes import review_link
from instantstart_mcp.waiting import Followed, Outcome
from instantstart_mcp.words import Answer, ChangeId, Key, Why

EACH: Final = 1.0  # seconds between two looks
Text = Annotated[str, Field(min_length=1, max_length=5000)]


class WaitAnswer(Answer):
    change: str
    outcome: Outcome
    terminal: bool
    why_untrusted: str = ""
    clusters: tuple[Followed, ...] = ()
    review_link: str = ""
    next_step: str


async def change_wait(
    call: Call,
    change: ChangeId,
    timeout_seconds: Annotated[float, Field(ge=0, le=50, description="Answer after so long at the latest")] = 20,
) -> WaitAnswer:
    """Follow a change to its end, with progress. outcome: needs_review (a person must act), applying, or, terminal:
    ready (merged, applied and healthy), refused, held (waits for a person's word), failed. Not terminal: call again."""
    end = time.monotonic() + timeout_seconds
    seen: WaitAnswer | None = None
    looks = 0
    while True:
        try:
            seen = await _look(call, change)
        except ApiProblem as problem:
            if seen is None or problem.status not in (0, 429, 503):
                raise
        looks += 1
        left = end - time.monotonic()
        if seen.terminal or left <= 0:
            return seen
        await call.progress(float(looks), None, _in_words(seen))
        await anyio.sleep(min(EACH, left))


async def change_comment(call: Call, change: ChangeId, text: Text) -> Proposal:
    """Say something about a change, for its reviewers. The same words twice in a row are said once."""
    return await proposal(call, await call.api.post("changes", change, "comments", body={"text": text}))


async def change_close(call: Call, change: ChangeId, why: Text) -> Proposal:
    """End an open change without a merge, saying why. Nothing is applied."""
    return await proposal(call, await call.api.post("changes", change, "close", body={"text": why}))


async def change_rebase(call: Call, change: ChangeId) -> Proposal:
    """Bring an open change onto where the branch stands now, when it is stale. Approvals of other files fall away."""
    return await proposal(call, await call.api.post("changes", change, "rebase"))


async def change_revert(call: Call, change: ChangeId, why: Why = "", idempotency_key: Key = "") -> Proposal:
    """Propose to take a merged change back, as a new change. losses says what does not come back."""
    return await propose_revert(call, {"change": change, "why": why}, key=idempotency_key)


async def change_merge(
    call: Call,
    change: ChangeId,
    head: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$", description="The head of change_get that the person saw")],
) -> Proposal:
    """Merge a change that a person told you to merge. The policy and the checks decide whether it may be. If its head
    moved since, nothing is merged."""
    return await proposal(call, await call.api.post("changes", change, "merge", match=head))


async def _look(call: Call, change: str) -> WaitAnswer:
    view = await call.api.get("changes", change)
    outcome, why = waiting.of_change(view)
    followed: dict[str, Followed] = {}
    if view["state"] == "merged":
        for name in view["clusters"]:
            followed[name] = await _followed(call, name, view)
        outcome = waiting.together(followed)
    return WaitAnswer(
        change=change,
        outcome=outcome,
        terminal=outcome in waiting.TERMINAL,
        why_untrusted=why[:1500],
        clusters=tuple(followed.values()),
        review_link=review_link(call, change),
        next_step=_NEXT[outcome],
    )


async def _followed(call: Call, name: str, view: Json) -> Followed:
    merged = view.get("merged")
    try:
        seen = await call.api.get("clusters", name)
        head = part(seen, "head").get("commit")
        if merged is not None and head is not None and head != merged and not await _has(call, name, merged):
            head = None  # what is shown was looked at before the merge
        return waiting.of_cluster(name, seen, merged, head=head)
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        return Followed(cluster=name, outcome="ready", condition="Gone")  # its folder went, and nothing was ever made


async def _has(call: Call, name: str, merged: str) -> bool:
    """Whether the branch as the service shows it has this commit: then what stands on it is newer."""
    told = await call.api.get("clusters", name, "timeline", kind="commit", revision=merged, limit=1)
    return bool(told["items"])


def _in_words(seen: WaitAnswer) -> str:
    if not seen.clusters:
        return seen.outcome
    return "; ".join(f"{one.cluster}: {one.condition}, {one.done} of {one.all} stages" for one in seen.clusters)


_NEXT: Final[dict[Outcome, str]] = {
    "needs_review": "tell the person the review_link; when they have merged it, call change_wait again",
    "applying": "call change_wait again; say how far it is",
    "ready": "done: tell the person",
    "refused": "tell the person why; propose it differently only if they want that",
    "held": "tell the person what waits for their word: cluster_get says the way and who may; do not work around it",
    "failed": "find out why (diagnose_cluster_creation, cluster_get, cluster_events) and tell the person",
}

TOOLS = (
    reads(change_wait),
    proposes(change_comment),
    proposes(change_close),
    proposes(change_rebase),
    proposes(change_revert, destructive=True),
    decides(change_merge, "approve"),
)
