"""Nodes over a Kubernetes API and a scripted SageMaker: what is told of each, of many, and a reboot as a change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

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


def to_the_end(page: Page, name: str) -> None:
    """Scrolls on until the end stays the end: lines are as high as they turn out to be."""
    page.wait_for_function(
        """name => {
          scrollTo(0, document.documentElement.scrollHeight);
          const { scrollHeight, clientHeight } = document.documentElement;
          return document.querySelector(".windowed").textContent.includes(name) &&
            scrollY + clientHeight > scrollHeight - 2;
        }""",
        arg=name,
    )


def many(live: LiveBox, count: int) -> None:
    live.ready()
    live.machines(*(machine(f"i-0a1b2c3d4e5f6{number:04}") for number in range(count)))


def test_five_hundred_nodes_are_one_list(browser: Browser, live: LiveBox, house: UiHouse) -> None:
    """Only lines in sight are made, each knows its place, and one of them is found by its name."""
    many(live, 500)
    person = Person.come(browser, house, Screen.DESK)
    page = person.page
    person.go("/clusters/prod?tab=nodes", "prod")
    expect(page.get_by_role("heading", name="Nodes (500)")).to_be_visible()
    table = page.get_by_role("grid", name="Nodes")
    expect(table).to_have_attribute("aria-rowcount", "501")
    lines = table.locator("tbody > tr")
    expect(lines.first).to_have_attribute("aria-rowindex", "2")
    assert lines.count() < 80
    to_the_end(page, "i-0a1b2c3d4e5f60499")
    last = table.get_by_role("row").filter(has_text="i-0a1b2c3d4e5f60499")
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-rowindex", "501")
    assert lines.count() < 80
    person.check("cluster-nodes-many")
    to_the_end(page, "i-0a1b2c3d4e5f60499")  # a picture is taken of a higher screen

    page.get_by_role("button", name="Reboot i-0a1b2c3d4e5f60499", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("button", name="Reboot i-0a1b2c3d4e5f60498", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.mouse.wheel(0, -1_000_000)  # the line with the focus is gone; nothing scrolls back to it
    expect(lines.first).to_have_attribute("aria-rowindex", "2")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("scrollY") == 0

    sort = page.get_by_role("button", name="Node", exact=True)  # below the header that stays in sight, for the eye
    sort.press("Enter")
    expect(lines.first).to_contain_text("i-0a1b2c3d4e5f60000")
    sort.press("Enter")
    expect(lines.first).to_contain_text("i-0a1b2c3d4e5f60499")  # of all of them, not of those in sight

    search = page.get_by_role("combobox", name="Search and filter nodes")
    search.fill("60499")
    search.press("Enter")
    expect(page.get_by_role("heading", name="Nodes (1/500)")).to_be_visible()

    header = page.get_by_role("columnheader", name="Pods")
    expect(header.first).to_be_visible()
    page.get_by_role("button", name="Preferences").click()
    chosen = page.get_by_role("dialog")
    chosen.get_by_role("checkbox", name="Pods").click(force=True)
    chosen.get_by_role("button", name="Apply").click()
    expect(header).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="Nodes (500)")).to_be_visible()
    expect(header).to_have_count(0)
    person.leave()


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_several_nodes_are_rebooted_by_one_change(
    browser: Browser, live: LiveBox, house: UiHouse, screen: Screen
) -> None:
    """Marks stay while their lines are out of sight."""
    many(live, 120)
    person = Person.come(browser, house, screen)
    page = person.page
    person.go("/clusters/prod?tab=nodes", "prod")
    page.get_by_role("checkbox", name="i-0a1b2c3d4e5f60003").check()
    page.keyboard.press("Escape")
    if screen is Screen.DESK:
        to_the_end(page, "i-0a1b2c3d4e5f60118")
    else:  # cards come as one comes near the last
        page.wait_for_function(
            """() => {
              scrollTo(0, document.documentElement.scrollHeight);
              return document.body.textContent.includes("i-0a1b2c3d4e5f60118");
            }"""
        )
    far = page.get_by_role("checkbox", name="i-0a1b2c3d4e5f60118")
    expect(far).to_be_attached()
    far.check()
    if screen is Screen.DESK:
        expect(page.get_by_role("checkbox", name="i-0a1b2c3d4e5f60003")).to_have_count(0)
    page.evaluate("scrollTo(0, 0)")
    expect(page.get_by_role("button", name="Mark all 120")).to_be_visible()
    page.get_by_role("button", name="Reboot 2 nodes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("i-0a1b2c3d4e5f60118", exact=False)).to_be_visible()
    person.check("cluster-reboot-several")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Reboot 2 nodes")).to_be_visible()
    expect(page.get_by_text("Documents: Fine")).to_be_visible()
    person.leave()
