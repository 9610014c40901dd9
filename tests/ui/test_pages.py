"""What test_routes.py does not come by: nobody logged in, nothing there yet, several states, a form, no such page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen


def fleet(person: Person) -> None:
    person.house.clusters("research", "prod")
    person.house.settle()
    person.house.clusters("staging")
    for _ in range(8):
        person.house.tick()
    expect(person.page.get_by_text("Working on it").first).to_be_visible()


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_pages(browser: Browser, house: UiHouse, screen: Screen) -> None:
    visitor = Person.come(browser, house, screen, login=False)
    visitor.page.goto(house.url)
    expect(visitor.heading("InstantStart: Log in")).to_be_visible()
    visitor.check("login")
    visitor.forgive("401")
    visitor.leave()

    person = Person.come(browser, house, screen)
    expect(person.page.get_by_text("No clusters yet")).to_be_visible()
    person.check("fleet-empty")
    fleet(person)
    person.check("fleet")
    person.go("/tokens", "Tokens")
    person.check("tokens-empty")
    person.page.get_by_role("button", name="Create token").click()
    expect(person.page.get_by_role("dialog")).to_be_visible()
    person.check("tokens-create")
    person.go("/nowhere", "There is no such page")
    person.check("not-found")
    person.leave()
