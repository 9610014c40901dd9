"""A cluster from an empty fleet to Ready, by the browser alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_the_first_cluster(browser: Browser, house: UiHouse, screen: Screen) -> None:
    """The form asks, the change shows the plan, and merged its progress is seen until it is Ready."""
    person = Person.come(browser, house, screen)
    page = person.page
    page.get_by_role("link", name="Create the first cluster").click()
    expect(person.heading("Create a cluster")).to_be_visible()
    step = page.get_by_role("button", name="Next")
    step.click()
    expect(page.get_by_text("1 to 40 lower-case letters", exact=False)).to_be_visible()
    person.check("create-cluster")
    page.get_by_label("Name", exact=True).fill("research")
    page.get_by_label("AWS account").fill("111122223333")
    page.get_by_label("Region").fill("us-west-2")
    step.click()
    page.get_by_label("Instance type").fill("p5.48xlarge")
    page.get_by_label("Instance type").press("Escape")
    step.click()
    expect(page.get_by_text("A type begins with ml.", exact=False)).to_be_visible()
    person.check("create-machines")
    page.get_by_label("Instance type").fill("ml.p5.48xlarge")
    page.get_by_label("Instance type").press("Escape")
    page.get_by_role("spinbutton", name="Nodes").fill("2")
    step.click()
    expect(page.get_by_text("A new bucket")).to_be_visible()
    person.check("create-storage")
    step.click()
    expect(page.get_by_text("instanceType: ml.p5.48xlarge", exact=False)).to_be_visible()
    person.check("create-review")
    page.get_by_role("button", name="Open the change").click()
    expect(person.heading("Create cluster research")).to_be_visible()
    expect(page.get_by_text("Control plane").first).to_be_visible()
    person.check("create-change")
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    page.get_by_role("button", name="Watch research").click()
    expect(person.heading("research")).to_be_visible()
    for _ in range(5):
        house.tick()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    house.settle()
    expect(page.get_by_role("main").get_by_text("Ready", exact=True).first).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_hidden()
    person.forgive("422")
    person.forgive("503")
    person.leave()
