"""What people do from the first link on, in a real browser against the real service."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from tests.ui.house import NAME, UiHouse
from tests.ui.person import Person, Screen


def test_a_link_logs_in_once_and_leaves_no_trace(browser: Browser, house: UiHouse) -> None:
    person = Person.come(browser, house, Screen.DESK, login=False)
    link = house.link()
    person.page.goto(link)
    expect(person.heading("Clusters")).to_be_visible()
    assert "#" not in person.page.url
    person.page.get_by_role("button", name=NAME).click()
    person.page.get_by_role("menuitem", name="Log out").click()
    expect(person.heading("InstantStart: Log in")).to_be_visible()
    person.page.goto(link)
    expect(person.page.get_by_text("This does not log you in")).to_be_visible()
    expect(person.page.get_by_text("instantstart login-link for a new one")).to_be_visible()
    person.page.go_back()
    assert "#" not in person.page.url, "the code stays in no history"
    person.forgive("401")
    person.leave()


def test_who_comes_by_a_deep_link_gets_there_after_the_log_in(browser: Browser, house: UiHouse) -> None:
    person = Person.come(browser, house, Screen.DESK, login=False)
    person.page.goto(f"{house.url}/tokens")
    expect(person.heading("InstantStart: Log in")).to_be_visible()
    field = person.page.get_by_label("Link or token")
    field.fill("nonsense")
    person.page.keyboard.press("Enter")
    expect(person.page.get_by_text("neither a log-in link nor a token")).to_be_visible()
    field.fill(house.link())
    person.page.keyboard.press("Enter")
    expect(person.heading("Tokens")).to_be_visible()
    expect(person.page).to_have_title("Tokens · InstantStart")
    person.forgive("401")
    person.leave()


def test_a_session_that_ended_says_so_and_goes_on_where_one_was(person: Person) -> None:
    person.go("/tokens", "Tokens")
    person.house.box.house.access.sessions.end_all(NAME)
    person.page.get_by_role("link", name="Clusters").first.click()
    expect(person.page.get_by_text("Your session is over")).to_be_visible()
    person.page.get_by_label("Link or token").fill(person.house.link())
    person.page.keyboard.press("Enter")
    expect(person.heading("Clusters")).to_be_visible()
    expect(person.page.get_by_text("No clusters yet")).to_be_visible()
    person.forgive("401")


def test_a_token_of_a_person_logs_in_and_its_end_logs_out(browser: Browser, house: UiHouse) -> None:
    person = Person.come(browser, house, Screen.DESK, login=False)
    person.page.goto(house.url)
    field = person.page.get_by_label("Link or token")
    field.fill(house.box.token("read", name="training-assistant", kind="agent"))
    person.page.keyboard.press("Enter")
    expect(person.page.get_by_text("a browser's session is a person's")).to_be_visible()
    field.fill(house.box.token("read"))
    person.page.keyboard.press("Enter")
    expect(person.heading("Clusters")).to_be_visible()
    expect(person.page.get_by_role("link", name="Create cluster")).to_have_count(0)  # who reads does not propose
    person.go("/tokens", "Tokens")
    expect(person.page.get_by_text("You need the scope operate for this.")).to_be_visible()
    for record in house.box.house.access.tokens.all():
        house.box.house.access.tokens.revoke(record.id)
    person.page.goto(house.url)
    expect(person.heading("InstantStart: Log in")).to_be_visible()
    person.forgive("401")
    person.forgive("403")
    person.leave()


def test_a_token_is_made_shown_once_used_and_revoked(person: Person) -> None:
    page = person.page
    person.go("/tokens", "Tokens")
    page.get_by_role("button", name="Create token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Create token").click()
    expect(dialog.get_by_text("Write 1 to 200 characters")).to_be_visible()
    dialog.get_by_role("textbox", name="Name").fill("training-assistant")
    expect(dialog.get_by_role("checkbox", name="Approve")).to_be_disabled()
    dialog.get_by_role("checkbox", name="Propose").check()
    dialog.get_by_role("button", name="Create token").click()
    expect(page.get_by_text("Copy the token now")).to_be_visible()
    shown = page.get_by_text(re.compile(r"^is_")).first.inner_text()
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    asker = person.house.box.anybody({"Authorization": f"Bearer {shown}"})
    told = asker.get("/session").json()
    assert (told["name"], told["kind"], told["scopes"]) == ("training-assistant", "agent", ["read", "propose"])
    person.check("tokens-made")
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("row", name="training-assistant")).to_be_visible()
    assert shown not in page.content()
    page.get_by_role("button", name="Revoke training-assistant").click()
    question = page.get_by_role("dialog")
    expect(question.get_by_text("refused from its next request on")).to_be_visible()
    person.check("tokens-revoke")
    question.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The token of training-assistant is revoked.")).to_be_visible()
    assert asker.get("/session").status_code == 401


def test_what_the_engine_does_shows_without_reloading(person: Person) -> None:
    page = person.page
    expect(page.get_by_text("No clusters yet")).to_be_visible()
    person.house.clusters("prod")
    person.house.tick()
    expect(page.get_by_role("link", name="prod")).to_be_visible()
    expect(page.get_by_text("Working on it")).to_be_visible()
    person.house.settle()
    expect(page.get_by_role("row", name="prod").get_by_text("Ready", exact=True)).to_be_visible()


def test_a_service_that_is_away_is_told_and_comes_back_by_itself(person: Person) -> None:
    page = person.page
    person.house.clusters("prod")
    person.house.tick()
    expect(page.get_by_role("link", name="prod")).to_be_visible()
    with person.house.away():
        expect(page.get_by_text(re.compile("Not connected since"))).to_be_visible(timeout=120_000)
        expect(page.get_by_role("link", name="prod")).to_be_visible()  # what was known stays
        person.check("service-away")
    expect(page.get_by_text(re.compile("Not connected since"))).to_be_hidden(timeout=120_000)
    person.house.settle()
    expect(page.get_by_role("row", name="prod").get_by_text("Ready", exact=True)).to_be_visible()
    person.forgive("ERR_CONNECTION_REFUSED")
    person.forgive("ERR_INCOMPLETE_CHUNKED_ENCODING")


def test_clusters_are_found_by_what_is_written(person: Person) -> None:
    page = person.page
    person.house.clusters("prod", "research", "staging")
    person.house.tick()
    expect(page.get_by_role("row")).to_have_count(4)
    field = page.get_by_role("combobox", name="Search and filter clusters")
    field.fill("sear")
    field.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("link", name="research")).to_be_visible()
    field.fill("nothing-like-it")
    field.press("Enter")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    person.check("fleet-no-match")
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.get_by_role("row")).to_have_count(4)


def test_the_page_works_by_keyboard_alone(person: Person) -> None:
    page = person.page
    person.house.clusters("prod")
    person.house.tick()
    expect(page.get_by_role("link", name="prod")).to_be_visible()
    reached: list[str] = []
    for _ in range(25):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''"))
        if reached[-1].strip() == "Tokens":
            break
    assert "Tokens" in reached[-1], reached
    page.keyboard.press("Enter")
    expect(person.heading("Tokens")).to_be_visible()


def test_a_persons_look_is_kept(person: Person) -> None:
    page = person.page
    page.get_by_role("button", name="Appearance").click()
    page.get_by_role("menuitemcheckbox", name="Dark").click()
    expect(page.locator("body.awsui-dark-mode")).to_have_count(1)
    page.reload()
    expect(person.heading("Clusters")).to_be_visible()
    expect(page.locator("body.awsui-dark-mode")).to_have_count(1)
    page.get_by_role("button", name="Appearance").click()
    page.get_by_role("menuitemcheckbox", name="Compact").click()
    expect(page.locator("body.awsui-compact-mode")).to_have_count(1)
    person.shot("fleet-compact")
