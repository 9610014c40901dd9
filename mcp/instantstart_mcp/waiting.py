"""What became of a change, in one word: pure, from the change and the clusters that it touches.

needs_review   open: a person must review or merge it
applying       merged, and the engine is at it
ready          merged, and every cluster was seen healthy with it (or is gone, if it was to go)
refused        closed, or it cannot be merged as it is
held           merged, and what is left waits for a person's word
failed         merged, and a stage failed: it does not go on by itself
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from instantstart_mcp.api import Json, part, rows
from instantstart_mcp.words import Answer, Word

Outcome: TypeAlias = Literal["needs_review", "applying", "ready", "refused", "held", "failed"]
TERMINAL: Final[frozenset[Outcome]] = frozenset({"ready", "refused", "held", "failed"})
_WORST: Final[list[Outcome]] = ["failed", "held", "applying", "ready"]


class Followed(Answer):
    """One cluster of the change. `done` of `all`: stages that are Ready."""

    cluster: str
    outcome: Outcome
    condition: str = ""
    reason: Word = ""
    message_untrusted: str = ""
    stage: str = ""
    done: int = 0
    all: int = 0
    held: tuple[str, ...] = ()
    superseded_by: str = ""


def of_change(view: Json) -> tuple[Outcome, str]:
    """(outcome, why), before any cluster was looked at; a merged one is `applying`."""
    if view["state"] == "merged":
        return "applying", ""
    if view["state"] == "closed":
        closed: list[Json] = [one for one in rows(view, "events") if one["what"] == "close"]
        return "refused", "; ".join(f"closed by {one['by']}: {one['text']}".rstrip(": ") for one in closed[-1:])
    failed = [one for one in rows(view, "checks") if one["state"] == "failed"]
    if failed:
        return "refused", "; ".join(f"{one['name']}: {text}" for one in failed for text in one["says"][:3])
    waits = [text for one in rows(view, "checks") if one["state"] != "ok" for text in one["says"][:3]]
    return "needs_review", "; ".join(waits) or "nothing is missing but the merge"


def of_cluster(name: str, view: Json, merged: str | None, *, head: str | None) -> Followed:
    """`view`: GET /clusters/{name}; `merged`: the commit of the branch that brought the change, None if not known;
    `head`: the revision that the branch wants, which holds the change; None: there is no folder, or it is not seen."""
    revision = part(view, "revision").get("commit")
    wanted = head or merged
    stages = rows(view, "stages")
    waiting = next((one for one in stages if one["state"] != "Ready"), None)
    outcome = _outcome(view, revision, wanted)
    return Followed(
        cluster=name,
        outcome=outcome,
        condition=view["condition"],
        reason=view.get("reason") or "",
        message_untrusted=view.get("message") or "",
        stage=waiting["stage"] if waiting is not None else "",
        done=sum(1 for one in stages if one["state"] == "Ready"),
        all=len(stages),
        held=tuple(one["key"] for one in rows(view, "held")[:10]),
        superseded_by=head[:12] if head and merged and head != merged else "",
    )


def together(clusters: Mapping[str, Followed]) -> Outcome:
    """The worst; a change that touches no cluster is done with its merge."""
    outcomes = [one.outcome for one in clusters.values()]
    for outcome in _WORST:
        if outcome in outcomes:
            return outcome
    return "ready"


def _outcome(view: Json, revision: object, wanted: object) -> Outcome:
    condition = view["condition"]
    if condition == "Gone":
        return "ready" if part(view, "head").get("commit") is None else "applying"
    # A folder that went leaves no head: the journal's newest revision is then the one that took it away.
    if condition in ("Superseded", "Unknown") or (wanted is not None and revision != wanted):
        problems = rows(part(view, "desired"), "problems")
        return "failed" if problems else "applying"
    if condition == "Ready":
        return "ready"
    if condition == "Stalled" and not rows(view, "open_ops"):
        return "held" if any(one["reason"] == view["reason"] for one in rows(view, "held")) else "failed"
    return "applying"
