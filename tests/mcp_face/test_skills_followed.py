"""Scripted agents follow every skill literally against the sandbox, from a sentence to the terminal state: the cluster
that the first one makes is the one that the others work on. What goes wrong is done to the sandbox's cloud by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client import Client

from tests.engine_support import Sandbox
from tests.mcp_face.facebox import Told, cut_off
from tests.mcp_face.literal import Follower
from tests.mcp_face.town import Town, settled, until

pytestmark = pytest.mark.sandbox
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


@pytest.fixture(scope="module")
def made(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Town, Follower]]:
    """A town, and how its cluster came to be."""
    with settled(engine_cloud, chart, tmp_path_factory.mktemp("town")) as town:
        yield town, town.run(lambda tools: create(town, tools))


@pytest.fixture(scope="module")
def town(made: tuple[Town, Follower]) -> Town:
    return made[0]


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


def test_from_a_sentence_to_a_cluster_that_is_ready(made: tuple[Town, Follower]) -> None:
    town, agent = made
    assert list(dict.fromkeys(agent.calls)) == [
        "cluster_list",
        "change_list",
        "offerings_get",
        "cluster_create",
        "change_wait",
        "cluster_get",
    ]
    cluster = agent.told["cluster_get"].data
    assert cluster["condition"] == "Ready"
    assert {group["name"]: group["count"] for group in cluster["groups"]} == {"workers": 2, "system": 2}
    assert [one["name"] for one in cluster["storages"]] == ["shared"]
    (change,) = town.changes()
    assert change["proposed_by"] == "agent-7" and change["state"] == "merged"
    assert change["id"] == agent.told["cluster_create"].data["change"]
    listing = town.site.client("sagemaker").list_clusters()
    assert [one["ClusterName"] for one in listing["ClusterSummaries"]] == ["train"], "one cluster, made once"


class TestAddCapacity:
    SKILL = "add-capacity"

    def test_more_of_the_same(self, town: Town) -> None:
        async def script(tools: Client) -> None:
            agent = Follower(tools=tools, skill=self.SKILL)
            async with agent.step(1) as do:
                assert (await do("cluster_get", **IT)).data["gpus"]["idle"] == 2
                (workers,) = [one for one in (await do("group_list", **IT)).data["items"] if one["name"] == "workers"]
                assert workers["instance_type"] == TYPE
            await agent.think(2)
            async with agent.step(3) as do:
                (offer,) = (await do("offerings_get", **IT, instance_type=TYPE)).data["instance_types"]
                assert offer["on_demand_left"] >= 1
            await agent.think(4)
            async with agent.step(5, {"group_add": "more of the same"}) as do:
                proposed = await do("group_scale", **IT, group="workers", count=3)
                assert proposed.data["plan"] == [{"cluster": "train", "counts": {"update": 1}}]
            async with agent.step(6) as do:
                await followed(town, do, proposed)
            async with agent.step(7, {"diagnose_cluster_creation": "capacity came"}) as do:
                (workers,) = [one for one in (await do("group_list", **IT)).data["items"] if one["name"] == "workers"]
                assert workers["current"] == workers["desired"]["count"] == 3
                nodes = await until(
                    lambda: do("node_list", **IT, group="workers"), lambda told: len(told["items"]) == 3
                )
                assert all(node["takes_pods"] for node in nodes.data["items"])
            agent.end()

        town.run(script)

    def test_another_type_that_has_no_capacity_yet(self, town: Town) -> None:
        kind = "ml.g5.4xlarge"
        town.site.sandbox.post("/capacity", {"type": kind, "zone": ZONE, "count": 0})

        async def script(tools: Client) -> None:
            agent = Follower(tools=tools, skill=self.SKILL)
            async with agent.step(1) as do:
                await do("cluster_get", **IT)
                await do("group_list", **IT)
            await agent.think(2)
            async with agent.step(3) as do:
                await do("offerings_get", **IT, instance_type=kind)
            await agent.think(4)
            async with agent.step(5, {"group_scale": "another type is another group"}) as do:
                asked: dict[str, Any] = {"name": "spare", "instance_type": kind, "count": 1, "zone": ZONE}
                proposed = await do("group_add", **IT, **asked)
            change = proposed.data["change"]
            async with agent.step(6) as do:
                town.merge(change)
                waits = await until(
                    lambda: do("change_wait", change=change, timeout_seconds=0),
                    lambda told: told["clusters"][0].get("reason") == "CapacityPending",
                )
                assert waits.data["outcome"] == "applying" and not waits.data.get("terminal")
            async with agent.step(7, {"node_list": "no node came"}) as do:
                (spare,) = [one for one in (await do("group_list", **IT)).data["items"] if one["name"] == "spare"]
                assert not spare.get("current")
                told = await do("diagnose_cluster_creation", **IT)
                (found,) = [one for one in told.data["findings"] if one["reason"] == "NoCapacity"]
                assert found["step"] == "decide" and "another zone" in found["next_step"]
                assert found["subject"] == "hyperpod.InstanceGroup/train/spare"
            agent.end()
            # The rest of the wait: machines become free.
            town.site.sandbox.post("/capacity", {"type": kind, "zone": ZONE, "count": None})
            ended = await until(
                lambda: call(tools, "change_wait", change=change, timeout_seconds=10),
                lambda told: told.get("terminal"),
            )
            assert ended.data["outcome"] == "ready", ended.text

        town.run(script)

    @pytest.mark.parametrize(
        ("tool", "given", "why", "left"),
        [
            (
                "group_scale",
                {"group": "workers", "count": 2},
                "the group stays",
                {"workers": 2, "spare": 1, "system": 2},
            ),
            ("group_remove", {"group": "spare"}, "the group goes", {"workers": 2, "system": 2}),
        ],
    )
    def test_capacity_is_given_back(
        self, town: Town, tool: str, given: dict[str, Any], why: str, left: dict[str, int]
    ) -> None:
        async def script(tools: Client) -> None:
            agent = Follower(tools=tools, skill=self.SKILL, section="Give capacity back")
            async with agent.step(1) as do:
                nodes = (await do("node_list", **IT, group=given["group"])).data["items"]
                for node in nodes:
                    await do("pod_list", **IT, node=f"hyperpod-{node['id']}")
            other = "group_remove" if tool == "group_scale" else "group_scale"
            async with agent.step(2, {other: why}) as do:
                proposed = await do(tool, **IT, **given)
            async with agent.step(3) as do:
                await followed(town, do, proposed)
            async with agent.step(4) as do:
                groups = (await do("group_list", **IT)).data["items"]
                assert {one["name"]: one["current"] for one in groups} == left
            agent.end()

        town.run(script)


async def call(tools: Client, tool: str, /, **arguments: Any) -> Told:
    return Told.of(await tools.call_tool(tool, arguments))
