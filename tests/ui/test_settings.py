"""A cluster's settings: what can be changed and what cannot, the policy, and the end of a cluster in two changes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.changes.changebox import POLICY
from tests.engine.fakes import cluster_yaml
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen


def merge(person: Person) -> None:
    page = person.page
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged. The engine takes it up now.")).to_be_visible()


def opened(person: Person, button: str) -> Locator:
    person.page.get_by_role("button", name=button, exact=True).click()
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def settings(person: Person) -> None:
    person.page.goto(f"{person.house.url}/clusters/prod?tab=settings")
    expect(person.page.get_by_role("heading", name="Policy")).to_be_visible()


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_settings_become_one_change(browser: Browser, house: UiHouse, screen: Screen) -> None:
    """Only what became different is sent, and it is told before; what somebody else wrote meanwhile is shown beside."""
    house.box.rig.commit_paths({"clusters/policy.yaml": POLICY})
    house.clusters("prod")
    house.settle()
    person = Person.come(browser, house, screen)
    page = person.page
    settings(person)
    expect(page.get_by_text("Fixed once it is made")).to_be_visible()
    dialog = opened(person, "Change settings")
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("Nothing is different yet.").first).to_be_visible()
    dialog.get_by_role("radio", name="None: faulty nodes", exact=False).check(force=True)
    dialog.get_by_role("button", name="Tags").click()
    dialog.get_by_role("button", name="Add tag").click()
    dialog.get_by_role("textbox", name="Key").last.fill("SageMaker")
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("are not yours to set", exact=False)).to_be_visible()
    dialog.get_by_role("textbox", name="Key").last.fill("team")
    dialog.get_by_role("textbox", name="Value").last.fill("training")
    dialog.get_by_role("button", name="Add-ons").click()
    expect(dialog.get_by_role("listitem").filter(has_text="nodeRecovery")).to_contain_text("Automatic → None")
    person.check("cluster-settings-form")
    house.box.rig.commit({"cluster": cluster_yaml("prod", "  hyperpod: {nodeRecovery: Automatic}\n")})
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Settings of prod")).to_be_visible()
    conflict = page.get_by_role("table", name="Others changed the same")
    expect(conflict).to_contain_text("/spec/hyperpod/nodeRecovery")
    expect(conflict.get_by_role("cell", name="None", exact=True)).to_be_visible()
    expect(conflict.get_by_role("cell", name="Automatic", exact=True)).to_be_visible()
    person.check("cluster-settings-conflict")
    person.forgive("409")
    person.forgive("503")
    person.forgive("404")
    person.leave()


def test_the_end_of_a_cluster_takes_two_changes(person: Person) -> None:
    page, house = person.page, person.house
    house.clusters("prod")
    house.settle()
    settings(person)
    dialog = opened(person, "Take the protection off")
    expect(dialog.get_by_text("Nothing is deleted by this.", exact=False)).to_be_visible()
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Take the deletion protection off prod")).to_be_visible()
    merge(person)
    settings(person)
    expect(page.get_by_role("button", name="Delete the cluster", exact=True)).to_be_disabled()
    house.settle()
    expect(page.get_by_text("Deletion protection is off, and applied.")).to_be_visible()
    dialog = opened(person, "Delete the cluster")
    expect(dialog.get_by_text("gpu: 2 × ml.g5.12xlarge")).to_be_visible()
    dialog.get_by_role("button", name="Propose change").click()
    expect(dialog.get_by_text("That is not its name.")).to_be_visible()
    person.check("cluster-delete")
    dialog.get_by_label("Write prod to go on").fill("prod")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Delete cluster prod")).to_be_visible()
    expect(page.get_by_text("Documents: Fine")).to_be_visible()
    person.check("cluster-delete-change")


def test_a_cluster_is_suspended_after_what_it_means(person: Person) -> None:
    house = person.house
    house.clusters("prod")
    house.settle()
    settings(person)
    dialog = opened(person, "Suspend")
    expect(dialog.get_by_text("Looking goes on, and what was already sent", exact=False)).to_be_visible()
    person.check("cluster-suspend")
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading("Suspend prod")).to_be_visible()
    merge(person)
    house.settle()
    settings(person)
    expect(person.page.get_by_text("Suspended: nothing is changed.")).to_be_visible()
