"""From a sentence to a cluster, and what else scripted agents do again and again."""

from __future__ import annotations

from typing import Any

from mcp.client import Client

from tests.mcp_face.facebox import Told, cut_off
from tests.mcp_face.literal import Follower
from tests.mcp_face.town import Town, until

SENTENCE: dict[str, Any] = {
    "name": "train",
    "region": "us-west-2",
    "zone": "usw2-az2",
    "instance_type": "ml.g5.8xlarge",
    "count": 2,
    "capacity": "onDemand",
    "storage_bucket": "new",
    "like": "prod",
}
IT: dict[str, Any] = {"cluster": "train"}
TYPE, ZONE = SENTENCE["instance_type"], SENTENCE["zone"]


async def create(town: Town, tools: Client) -> Follower:
    agent = Follower(tools=tools, skill="create-cluster")
    async with agent.step(1) as do:
        told = await do("cluster_list")
        assert SENTENCE["name"] not in [row["cluster"] for row in told.data["items"]]
        assert (await do("change_list", state="open")).data["items"] == []
    async with agent.step(2) as do:
        asked = {name: SENTENCE[name] for name in ("region", "zone", "instance_type")}
        (offer,) = (await do("offerings_get", **asked)).data["instance_types"]
        assert offer["instance_type"] == TYPE and ZONE in offer["zones"]
    await agent.think(3)
    async with agent.step(4) as do:
        # The client gives up in the middle, and calls again: one change.
        await cut_off(town.service.base, town.agent, "http", 0.3, "cluster_create", SENTENCE)
        proposed = await do("cluster_create", **SENTENCE)
    await agent.think(5)
    async with agent.step(6) as do:
        await followed(town, do, proposed)
    async with agent.step(7) as do:
        await do("cluster_get", **IT)
    agent.end()
    return agent


async def followed(town: Town, do: Any, proposed: Told, *, outcome: str = "ready", merged: bool = True) -> Told:
    """It waits for a person; who merges; then it is waited for until it is terminal."""
    change = proposed.data["change"]
    assert proposed.data["status_tool"] == "change_wait" and change in proposed.data["review_link"]
    before: Told = await do("change_wait", change=change, timeout_seconds=0)
    assert before.data["outcome"] == "needs_review", before.text
    if merged:
        town.merge(change)
    ended = await until(lambda: do("change_wait", change=change, timeout_seconds=10), lambda told: told.get("terminal"))
    assert ended.data["outcome"] == outcome, ended.text
    return ended


async def call(tools: Client, tool: str, /, **arguments: Any) -> Told:
    return Told.of(await tools.call_tool(tool, arguments))


async def applied(town: Town, tools: Client, tool: str, /, outcome: str = "ready", **arguments: Any) -> str:
    """What happens before a skill is needed: proposed, merged, and at its end. The change."""
    proposed = await call(tools, tool, **arguments)
    assert not proposed.error, proposed.text
    change: str = proposed.data["change"]
    town.merge(change)
    await ended(tools, change, outcome)
    return change


async def ended(tools: Client, change: str, outcome: str = "ready") -> Told:
    told = await until(
        lambda: call(tools, "change_wait", change=change, timeout_seconds=10),
        lambda told: told.get("terminal") and told["outcome"] == outcome,
    )
    assert told.data["outcome"] == outcome, told.text
    return told
