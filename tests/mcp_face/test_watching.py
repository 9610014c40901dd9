"""Updates of resources, as the protocol of each era has them; and that nothing is promised that is not done."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
import pytest
from anyio.to_thread import run_sync
from mcp.client import Client
from mcp.client.subscriptions import ResourceUpdated, SubscriptionLost
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND, ResourceUpdatedNotification

from instantstart_mcp import watching
from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.facebox import WAYS, Era, Way, agent, talk
from tests.waiting import PATIENCE

STATUS = "instantstart://clusters/prod/status"
PLAN = "instantstart://clusters/prod/plan"
NEWER = "2026-07-28"


@pytest.fixture
def prod(api: ApiBox) -> ApiBox:
    commit(api, 3)
    return api


def commit(api: ApiBox, count: int) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "workers": group_yaml("workers", count)})
    api.rig.settle()


async def count_read(client: Client) -> int:
    (content,) = (await client.read_resource(STATUS)).contents
    told: dict[str, Any] = json.loads(getattr(content, "text"))  # noqa: B009  # binary ones have none
    return int(told["groups"][0]["count"])


async def subscribe(client: Client, uri: str) -> None:
    with pytest.warns(MCPDeprecationWarning):
        await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]


async def unsubscribe(client: Client, uri: str) -> None:
    with pytest.warns(MCPDeprecationWarning):
        await client.unsubscribe_resource(uri)  # pyright: ignore[reportDeprecated]


@pytest.mark.parametrize("way", WAYS)
def test_one_who_listens_is_told_of_what_reads_differently(prod: ApiBox, way: Way) -> None:
    async def script(client: Client) -> None:
        documents, change = "instantstart://clusters/prod/documents", "instantstart://changes/none-yet"
        with anyio.fail_after(PATIENCE):
            async with client.listen(resource_subscriptions=[STATUS, documents, change]) as stream:
                assert stream.honored.resource_subscriptions == [STATUS, documents, change]
                assert await count_read(client) == 3
                await run_sync(prod.rig.settle)  # looked at again, and nothing is different
                await run_sync(commit, prod, 4)
                told = {await anext(stream), await anext(stream)}
                assert told == {ResourceUpdated(uri=STATUS), ResourceUpdated(uri=documents)}
                assert await count_read(client) == 4

    talk(prod, script, way=way)


@pytest.mark.parametrize(
    ("asked", "honored", "why"),
    [
        ([STATUS, STATUS], [STATUS], "once is enough"),
        (["instantstart://skills/create-cluster"], None, "it never changes"),
        (["instantstart://clusters", "file:///etc/passwd", ""], None, "nothing is there"),
        (["instantstart://clusters/none-yet/status"], ["instantstart://clusters/none-yet/status"], "it may come"),
        (
            [f"instantstart://changes/{number}" for number in range(99)],
            [f"instantstart://changes/{number}" for number in range(watching.MOST)],
            "no more than that",
        ),
    ],
)
def test_what_is_granted_is_told(prod: ApiBox, asked: list[str], honored: list[str] | None, why: str) -> None:
    async def script(client: Client) -> None:
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=asked,
        ) as stream:
            assert stream.honored.resource_subscriptions == honored, why
            assert not stream.honored.tools_list_changed and not stream.honored.prompts_list_changed
            assert not stream.honored.resources_list_changed

    talk(prod, script, way="http")


def test_a_wish_of_another_form_is_refused(prod: ApiBox) -> None:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    wish: dict[str, Any] = {"_meta": meta, "notifications": {"resourceSubscriptions": [STATUS, 7]}}
    answer = httpx2.post(
        f"{prod.url}/mcp",
        headers={
            "Authorization": f"Bearer {agent(prod)}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": NEWER,
            "Mcp-Method": "subscriptions/listen",
        },
        json={"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": wish},
        timeout=PATIENCE,
        trust_env=False,
    )
    assert answer.json()["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize("way", ["memory", "stdio"])
def test_a_connection_of_the_older_protocol_is_told(prod: ApiBox, way: Way) -> None:
    heard: list[str] = []
    rang = anyio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(message.params.uri)
            rang.set()

    async def script(client: Client) -> None:
        with anyio.fail_after(PATIENCE):
            for uri in (STATUS, STATUS, PLAN):
                await subscribe(client, uri)
            await unsubscribe(client, PLAN)
            await unsubscribe(client, "instantstart://changes/never-asked-for")
            await run_sync(commit, prod, 4)
            await rang.wait()
            assert heard == [STATUS]
            assert await count_read(client) == 4
        with pytest.raises(MCPError, match="nothing is known that changes there") as caught:
            await subscribe(client, "instantstart://skills/create-cluster")
        assert caught.value.code == INVALID_PARAMS
        for number in range(watching.MOST - 1):
            await subscribe(client, f"instantstart://changes/{number}")
        with pytest.raises(MCPError, match=f"at most {watching.MOST} resources"):
            await subscribe(client, "instantstart://changes/one-more")

    talk(prod, script, way=way, era="legacy", hear=hear)


def test_without_a_connection_that_lasts_the_older_protocol_is_refused(prod: ApiBox) -> None:
    async def script(client: Client) -> int:
        with pytest.raises(MCPError) as caught:
            await subscribe(client, STATUS)
        return caught.value.code

    assert talk(prod, script, way="http", era="legacy") == METHOD_NOT_FOUND


def test_a_stream_ends_with_the_right_to_read(prod: ApiBox) -> None:
    token = agent(prod)

    async def script(client: Client) -> None:
        with anyio.fail_after(PATIENCE):
            async with client.listen(resource_subscriptions=[STATUS]) as stream:
                for record in prod.house.access.tokens.all():
                    prod.house.access.tokens.revoke(record.id)
                with pytest.raises((SubscriptionLost, MCPError)):
                    await anext(stream)

    talk(prod, script, token=token, way="http")


def test_a_service_that_stops_ends_its_streams_in_good_order(prod: ApiBox) -> None:
    async def script(client: Client) -> list[object]:
        with anyio.fail_after(PATIENCE):
            async with client.listen(resource_subscriptions=[STATUS]) as stream:
                await run_sync(prod.stop)
                return [event async for event in stream]

    assert talk(prod, script, way="http") == []


@pytest.mark.parametrize(
    ("way", "era", "subscribe"),
    [
        ("memory", "legacy", True),
        ("stdio", "legacy", True),
        ("http", "legacy", False),
        ("memory", "auto", True),
        ("http", "auto", True),
    ],
)
def test_what_is_promised(prod: ApiBox, way: Way, era: Era, subscribe: bool) -> None:
    """Over HTTP nothing of the older protocol could carry an update; and no list changes while the server runs."""

    async def script(client: Client) -> None:
        can = client.server_capabilities
        assert can.resources is not None and can.tools is not None and can.prompts is not None
        assert bool(can.resources.subscribe) is subscribe
        assert not can.resources.list_changed and not can.tools.list_changed and not can.prompts.list_changed
        assert can.logging is None and can.completions is None

    talk(prod, script, way=way, era=era)
