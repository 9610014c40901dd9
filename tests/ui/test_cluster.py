"""A cluster as people work on it: its progress, its groups and nodes, what is held, what drifted, what happened."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.changes.changebox import POLICY
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen


def tab(person: Person, name: str) -> Locator:
    found = person.page.get_by_role("tab", name=name)
    found.click()
    return found


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_how_it_looks(browser: Browser, house: UiHouse, screen: Screen) -> None:
    house.clusters("prod")
    for _ in range(6):
        house.tick()
    person = Person.come(browser, house, screen)
    person.go("/clusters/prod", "prod")
    expect(person.page.get_by_text("Working on it").first).to_be_visible()
    expect(person.page.get_by_role("list", name="Stages in the order of building")).to_be_visible()
    person.check("cluster-progress")
    house.settle()
    expect(person.page.get_by_text("Working on it")).to_be_hidden()
    tab(person, "Instance groups")
    expect(person.page.get_by_text("ml.g5.12xlarge").first).to_be_visible()
    tab(person, "Drift")
    expect(person.page.get_by_text("Nothing differs from what is written.")).to_be_visible()
    tab(person, "Timeline")
    expect(person.page.get_by_text("Effect", exact=True).first).to_be_visible()
    if screen is Screen.DESK:
        person.page.get_by_role("button", name="Commits").click()
        expect(person.page.get_by_text("Commit", exact=True).first).to_be_visible()
    person.leave()


def menu(person: Person, group: str, deed: str) -> Locator:
    person.page.get_by_role("button", name=f"Change {group}").click()
    person.page.get_by_role("menuitem", name=deed).click()
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def test_a_group_is_scaled(person: Person) -> None:
    """Only the count is sent, the change shows what it costs, and merged it is done."""
    page, house = person.page, person.house
    house.clusters("prod")
    house.settle()
    person.go("/clusters/prod?tab=groups", "prod")
    dialog = menu(person, "gpu", "Scale")
    expect(dialog.get_by_text("Fixed once it is made")).to_be_visible()
    expect(dialog.get_by_text("2 now")).to_be_visible()
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("That is what it has.")).to_be_visible()
    dialog.get_by_label("Nodes").fill("1")
    expect(dialog.get_by_text("The service chooses which nodes go", exact=False)).to_be_visible()
    person.check("cluster-scale")
    dialog.get_by_label("Nodes").fill("4")
    dialog.get_by_label("Why").fill("The queue is long.")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Scale gpu from 2 to 4")).to_be_visible()
    page.get_by_role("tab", name="Differences (1)").click()
    expect(page.get_by_role("cell", name="+ count: 4")).to_be_visible()
    assert page.locator(".diff-text.diff-add").count() == 1, "one line changes"
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged. The engine takes it up now.")).to_be_visible()
    house.settle()
    page.get_by_role("button", name="Watch prod").click()
    expect(person.heading("prod")).to_be_visible()
    tab(person, "Timeline")
    expect(page.get_by_text("Scale gpu from 2 to 4").first).to_be_visible()
    expect(page.get_by_text("asked for by platform-engineer@example.com", exact=False).first).to_be_visible()


def test_labels_and_a_new_group(person: Person) -> None:
    page, house = person.page, person.house
    house.clusters("prod")
    house.settle()
    person.go("/clusters/prod?tab=groups", "prod")
    dialog = menu(person, "gpu", "Labels")
    dialog.get_by_role("button", name="Add label").click()
    dialog.get_by_role("textbox", name="Key").fill("not a key")
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("A key has a name", exact=False)).to_be_visible()
    person.check("cluster-labels")
    dialog.get_by_role("textbox", name="Key").fill("example.com/team")
    dialog.get_by_role("textbox", name="Value").fill("evaluation")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Labels of gpu")).to_be_visible()

    person.go("/clusters/prod?tab=groups", "prod")
    page.get_by_role("button", name="Add group").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("A type begins with ml.", exact=False)).to_be_visible()
    person.check("cluster-add-group")
    dialog.get_by_label("Name").fill("trn")
    dialog.get_by_label("Instance type").fill("ml.trn1.32xlarge")
    dialog.get_by_label("Instance type").press("Escape")
    dialog.get_by_label("Nodes").fill("1")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Add trn: 1 × ml.trn1.32xlarge")).to_be_visible()
    expect(page.get_by_text("Create trn").first).to_be_visible()
    person.forgive("404")
    person.forgive("503")


def test_what_is_held_is_let_go(person: Person) -> None:
    """A commit past the control plane deletes a group; it waits, and goes by an order with a reason."""
    page, house = person.page, person.house
    house.box.rig.commit_paths({"clusters/policy.yaml": POLICY})
    house.clusters("prod")
    house.settle()
    house.box.rig.commit({"gpu": None})
    for _ in range(4):
        house.tick()
    person.go("/clusters/prod", "prod")
    expect(page.get_by_role("heading", name="Waits for a person (1)")).to_be_visible()
    person.check("cluster-held")
    page.get_by_role("button", name="Approve: ", exact=False).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_text("Say why.")).to_be_visible()
    dialog.get_by_label("Why").fill("Nobody uses it.")
    person.check("cluster-order")
    dialog.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("The order is given.", exact=False)).to_be_visible()
    house.settle()
    expect(page.get_by_role("heading", name="Waits for a person (1)")).to_be_hidden()
    tab(person, "Timeline")
    expect(page.get_by_text("approved by platform-engineer@example.com", exact=False).first).to_be_visible()


def test_drift_is_seen_and_everything_is_held(person: Person) -> None:
    """What somebody did past git is told before the engine puts it back; a change suspends the cluster, another one
    takes it up again."""
    page, house, rig = person.page, person.house, person.house.box.rig
    house.clusters("prod")
    house.settle()
    person.go("/clusters/prod?tab=drift", "prod")
    propose(person, "Hold everything", "Suspend prod")
    merge(person)
    house.settle()
    group = next(one for one in rig.cloud.of("hyperpod.InstanceGroup") if one.name == "gpu")
    group.spec["count"] = 7
    for _ in range(3):
        house.tick()
    tab(person, "Drift")
    expect(page.get_by_text("This cluster is suspended", exact=False)).to_be_visible()
    expect(page.get_by_text("Waits for a person").first).to_be_visible()
    person.check("cluster-drifted")
    propose(person, "Go on again", "Take up prod again")
    page.get_by_role("tab", name="Differences (1)").click()
    expect(page.get_by_role("cell", name="+ suspend: false")).to_be_visible()
    merge(person)
    house.settle()
    assert group.spec["count"] == 2
    expect(page.get_by_text("This cluster is suspended", exact=False)).to_be_hidden()
    tab(person, "Drift")
    expect(page.get_by_text("Nothing differs from what is written.")).to_be_visible()


def propose(person: Person, button: str, title: str) -> None:
    """Press a button that opens a form, and propose what it asks for."""
    page = person.page
    page.get_by_role("button", name=button).click()
    page.get_by_role("dialog").get_by_role("button", name="Propose change").click()
    expect(person.heading(title)).to_be_visible()


def merge(person: Person) -> None:
    page = person.page
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    page.get_by_role("button", name="Watch prod").click()
    expect(person.heading("prod")).to_be_visible()


def test_a_group_is_deleted_by_two_people(browser: Browser, person: Person) -> None:
    """Who asks cannot say yes: the second person does, at a browser of their own, and the first one's page shows it."""
    page, house = person.page, person.house
    house.box.rig.commit_paths({"clusters/policy.yaml": POLICY})
    house.clusters("prod")
    house.settle()
    person.go("/clusters/prod?tab=groups", "prod")
    dialog = menu(person, "gpu", "Delete")
    expect(dialog.get_by_text("All its nodes go", exact=False)).to_be_visible()
    person.check("cluster-delete-group")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Delete gpu")).to_be_visible()
    expect(page.get_by_text("Approval: Waits for a person")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_text("You may not do this")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    second = Person.come(browser, house, Screen.DESK, name="second-engineer@example.com")
    second.page.goto(page.url)
    second.page.get_by_role("button", name="Approve").click()
    second.page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(second.page.get_by_text("Approved.", exact=True).first).to_be_visible()
    second.leave()
    expect(page.get_by_text("Approval: Fine")).to_be_visible()
    merge(person)
    house.settle()
    tab(person, "Instance groups")
    expect(page.get_by_role("button", name="Change system")).to_be_visible()
    expect(page.get_by_role("button", name="Change gpu")).to_be_hidden()
    assert {one.name for one in house.box.rig.cloud.of("hyperpod.InstanceGroup")} == {"system"}
    person.forgive("403")


def test_two_people_change_the_same(person: Person) -> None:
    """Somebody was faster while the form was open. It keeps what was seen, so both values are shown, and neither is
    lost in silence; it does not come onto the branch as it is."""
    page, house = person.page, person.house
    house.clusters("prod")
    house.settle()
    person.go("/clusters/prod?tab=groups", "prod")
    dialog = menu(person, "gpu", "Scale")
    expect(dialog.get_by_text("2 now")).to_be_visible()
    house.clusters("prod", gpus=8)
    house.settle()
    dialog.get_by_label("Nodes").fill("5")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Scale gpu from 2 to 5")).to_be_visible()
    both_values(page.get_by_role("main"))
    expect(page.get_by_role("button", name="Merge")).to_be_disabled()
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Bring onto the branch").click()
    dialog.get_by_role("button", name="Bring onto the branch").click()
    expect(dialog.get_by_text("Somebody else was faster")).to_be_visible()
    both_values(dialog)
    person.check("cluster-conflict")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    person.forgive("409")


def both_values(place: Locator) -> None:
    row = place.get_by_role("row").filter(has_text="/spec/count")
    for value in ("2", "5", "8"):  # it was, this change, the branch now
        expect(row.get_by_role("cell", name=value, exact=True)).to_be_visible()
