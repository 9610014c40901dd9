"""The link that an agent hands to a person opens the page of its change, whichever tool and whichever way told it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from playwright.sync_api import expect

from tests.mcp_face.facebox import Told, Way, agent, client
from tests.ui.house import UiHouse
from tests.ui.person import Person


def links(house: UiHouse, way: Way) -> list[str]:
    """Of a proposal, and of the tools that look at it and wait for it."""
    bearer = agent(house.box)

    async def whole() -> list[Told]:
        async with client(house.url, bearer, way) as tools:

            async def call(tool: str, **arguments: Any) -> Told:
                return Told.of(await tools.call_tool(tool, arguments))

            made = await call("group_scale", cluster="prod", group="gpu", count=4, why="The queue is two days long.")
            assert not made.error, made.text
            change = made.data["change"]
            return [
                made,
                await call("change_get", change=change),
                await call("change_wait", change=change, timeout_seconds=0),
            ]

    # A thread of its own: the browser's driver has an event loop in this one.
    with ThreadPoolExecutor(1) as other:
        return [told.data["review_link"] for told in other.submit(anyio.run, whole).result()]


@pytest.mark.parametrize("way", ["http", "stdio"])
def test_it_opens_the_change(person: Person, way: Way) -> None:
    person.house.clusters("prod")
    person.house.settle()
    found = links(person.house, way)
    assert len(set(found)) == 1, "every tool names the same page"
    person.page.goto(found[0])
    expect(person.page.get_by_text("The queue is two days long.", exact=True)).to_be_visible()
    expect(person.page.get_by_role("button", name="Merge")).to_be_visible()
    expect(person.page.get_by_text("agent-7").first).to_be_visible()
