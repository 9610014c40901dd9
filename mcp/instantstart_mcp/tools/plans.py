"""Plans: what the engine would do now, and what the policy lets pass without a person."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from instantstart_mcp.api import Json, part
from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.tools.clusters import Problem
from instantstart_mcp.words import Answer, ClusterName, Word


class Action(Answer):
    verb: str
    key: str
    stage: str = ""
    cost: str = ""
    because: str = ""
    fields_untrusted: tuple[str, ...] = ()
    held_for: str = ""
    way: str = ""


class Refusal(Answer):
    key: str
    where_untrusted: str = ""
    reason: Word = ""
    message_untrusted: str = ""
    way_out: str = ""


class Finding(Answer):
    severity: str
    reason: Word = ""
    message_untrusted: str = ""
    where_untrusted: str = ""


class PlanAnswer(Answer):
    cluster: str
    revision: str = ""
    looked_at: str = ""
    unplanned_untrusted: str = ""
    counts: dict[str, int]
    held: int = 0
    actions: tuple[Action, ...] = ()
    actions_left_out: int = 0
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()
    findings_left_out: int = 0
    problems: tuple[Problem, ...] = ()


class PolicyAnswer(Answer):
    revision: str
    spec_untrusted: dict[str, Any] = Field(default_factory=dict)
    built_in: bool = False
    problems: tuple[Problem, ...] = ()


async def cluster_plan(
    call: Call,
    cluster: ClusterName,
    fresh: Annotated[bool, Field(description="Look at the world again; slower")] = False,
    limit: Annotated[int, Field(ge=1, le=100, description="Actions at most")] = 40,
) -> PlanAnswer:
    """What the engine would do to a cluster now: counts by verb, actions with cost and what holds them, refusals with
    the way out, preflight findings (quota, zone, capacity, addresses). The plan of a change is change_plan."""
    told = await call.api.get("clusters", cluster, "plan", fresh=fresh)
    return plan_answer(told, limit, looked_at=told.get("looked_at") or "")


async def policy_get(call: Call) -> PolicyAnswer:
    """The policy in force: what needs whose approval, and how much one commit may change."""
    told = await call.api.get("policy")
    return PolicyAnswer(
        revision=told["revision"][:12],
        spec_untrusted=told["spec"],
        built_in=told.get("blob") is None,
        problems=tuple(Problem.model_validate(one) for one in told.get("problems") or ()),
    )


def plan_answer(
    told: dict[str, Any], limit: int, *, looked_at: str, introduced: frozenset[str] | None = None
) -> PlanAnswer:
    """From a PlanView. `introduced`: only the actions of these digests."""
    actions = [one for one in told["actions"] if introduced is None or one["digest"] in introduced]
    counts: dict[str, int] = {}
    for action in actions:
        counts[action["verb"]] = counts.get(action["verb"], 0) + 1
    findings = [one for one in told["findings"] if one["severity"] != "info"] or told["findings"]
    return PlanAnswer(
        cluster=told["cluster"],
        revision=(told.get("revision") or "")[:12],
        looked_at=looked_at,
        unplanned_untrusted=told.get("unplanned") or "",
        counts=counts,
        held=sum(1 for one in actions if one.get("held")),
        actions=tuple(_action(one) for one in actions[:limit]),
        actions_left_out=max(0, len(actions) - limit),
        refusals=tuple(Refusal.model_validate(one) for one in told["refusals"][:20]),
        findings=tuple(Finding.model_validate(one) for one in findings[:15]),
        findings_left_out=max(0, len(told["findings"]) - len(findings[:15])),
        problems=tuple(Problem.model_validate(one) for one in told["problems"][:20]),
    )


def _action(one: Json) -> Action:
    held = part(one, "held")
    return Action(
        verb=one["verb"],
        key=one["key"],
        stage=one["stage"],
        cost=one["cost"],
        because=one["because"],
        fields_untrusted=tuple(step["path"] for step in one["changes"][:10]),
        held_for=held.get("reason", ""),
        way=held.get("way", ""),
    )


TOOLS = (reads(cluster_plan), reads(policy_get))
