"""Nodes over a Kubernetes API and a scripted SageMaker: what is told of each, of many, and a reboot as a change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.api.livebox import LiveBox, machine, node, pod
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen


@pytest.fixture
def house(live: LiveBox) -> Iterator[UiHouse]:
    made = UiHouse(live.api)
    yield made
    made.close()


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_nodes_and_a_reboot(browser: Browser, live: LiveBox, house: UiHouse, screen: Screen) -> None:
    live.ready()
    boots = live.api.rig.cloud.boots
    boots["i-0a1b2c3d4e5f60001"] = 1
    live.machines(machine("i-0a1b2c3d4e5f60001"), machine("i-0a1b2c3d4e5f60002"), machine("i-0a1b2c3d4e5f60003"))
    live.apply(node("i-0a1b2c3d4e5f60001"), node("i-0a1b2c3d4e5f60002", ready=False))
    live.apply(pod("train-0", on="i-0a1b2c3d4e5f60001", gpus=3))
    person = Person.come(browser, house, screen)
    page = person.page
    person.go("/clusters/prod?tab=nodes", "prod")
    expect(page.get_by_text("3 of 4")).to_be_visible()
    expect(page.get_by_text("Silent")).to_be_visible()
    expect(page.get_by_text("Not in Kubernetes")).to_be_visible()
    person.check("cluster-nodes")
    page.get_by_role("button", name="Reboot i-0a1b2c3d4e5f60001").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("1 pod on it is stopped, holding 3 GPUs", exact=False)).to_be_visible()
    person.check("cluster-reboot")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Reboot i-0a1b2c3d4e5f60001")).to_be_visible()
    expect(page.get_by_text("Documents: Fine")).to_be_visible()
    page.get_by_role("tab", name="Differences (1)").click()
    expect(page.get_by_text("i-0a1b2c3d4e5f60001", exact=False).last).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    dialog.get_by_role("button", name="Merge").click()
    page.get_by_role("button", name="Watch prod").click()
    house.settle()
    expect(page.get_by_text("Operations", exact=False).first).to_be_visible()
    assert boots["i-0a1b2c3d4e5f60001"] == 2, "once"
    house.settle()
    assert boots["i-0a1b2c3d4e5f60001"] == 2, "and never again"
    person.leave()


def test_five_hundred_nodes_are_a_page_at_a_time(browser: Browser, live: LiveBox, house: UiHouse) -> None:
    """What is in the document does not grow with the cluster, and one of them is found by its name."""
    live.ready()
    live.machines(*(machine(f"i-0a1b2c3d4e5f6{number:04}") for number in range(500)))
    person = Person.come(browser, house, Screen.DESK)
    page = person.page
    person.go("/clusters/prod?tab=nodes", "prod")
    expect(page.get_by_role("heading", name="Nodes (500)")).to_be_visible()
    assert page.get_by_role("button", name="Reboot i-").count() <= 50
    search = page.get_by_role("combobox", name="Search and filter nodes")
    search.fill("60499")
    search.press("Enter")
    expect(page.get_by_role("heading", name="Nodes (1/500)")).to_be_visible()
    person.leave()
