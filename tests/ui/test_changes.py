"""Changes as people go through them: an agent proposes; a person looks, asks, approves, merges, and takes it back."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.changes.changebox import POLICY, drop, scale
from tests.engine.fakes import group_yaml
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen


def prod(house: UiHouse) -> None:
    house.box.rig.commit_paths({"clusters/policy.yaml": POLICY})
    house.clusters("prod")
    house.settle()


def proposed(house: UiHouse, title: str, *edits: dict[str, Any], why: str = "") -> str:
    who = house.box.client("read", "propose", name="training-assistant", kind="agent")
    answer = who.post("/changes", json={"title": title, "why": why, "edits": list(edits)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_how_they_look(browser: Browser, house: UiHouse, screen: Screen) -> None:
    prod(house)
    gone = proposed(house, "Delete the idle GPU group", drop("gpu"), why="Its GPUs were idle for a week.")
    proposed(house, "Two more machines for the evaluation", scale(4, group="gpu"), why="The queue is two days long.")
    person = Person.come(browser, house, screen)
    person.go("/changes", "Changes")
    expect(person.page.get_by_text("Approval: Waits for a person")).to_be_visible()
    expect(person.page.get_by_text("Ready to merge")).to_be_visible()
    person.check("changes")
    person.page.get_by_role("link", name="Delete the idle GPU group").click()
    expect(person.heading("Delete the idle GPU group")).to_be_visible()
    expect(person.page.get_by_text("Its GPUs were idle for a week.")).to_be_visible()
    expect(person.page.get_by_text("Delete gpu", exact=False).first).to_be_visible()
    person.check("change-plan")
    person.page.get_by_role("tab", name="Differences (1)").click()
    expect(person.page.get_by_role("cell", name="- name: gpu").first).to_be_visible()
    person.check("change-diff")
    if screen is Screen.DESK:
        person.page.get_by_role("button", name="Side by side").click()
        person.check("change-diff-split")
    house.box.client(name="reviewer@example.com").post(
        f"/changes/{gone}/reviews", json={"verdict": "request-changes", "text": "Keep one node for debugging."}
    )
    person.page.get_by_role("tab", name="Reviews and comments").click()
    expect(person.page.get_by_text("Keep one node for debugging.", exact=True)).to_be_visible()
    person.check("change-talk")
    person.leave()


def test_from_a_proposal_to_its_end(person: Person) -> None:
    """Looked at, refused as long as nobody approved, approved, merged, done by the engine, and taken back."""
    page, house = person.page, person.house
    prod(house)
    change = proposed(house, "Delete the idle GPU group", drop("gpu"), why="Idle.")
    person.go(f"/changes/{change}", "Delete the idle GPU group")
    expect(page.get_by_role("button", name="Merge")).to_be_disabled()
    page.get_by_role("tab", name="Reviews and comments").click()
    page.get_by_label("Comment", exact=True).fill("Looks right to me.")
    page.get_by_role("button", name="Add comment").click()
    expect(page.get_by_role("listitem").get_by_text("Looks right to me.")).to_be_visible()

    page.get_by_role("button", name="Approve").click()
    dialog = page.get_by_role("dialog")
    person.check("change-approve")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("Approval: Fine")).to_be_visible()

    page.get_by_role("button", name="Merge").click()
    expect(dialog.get_by_text("prod: 1 to delete")).to_be_visible()
    dialog.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged. The engine takes it up now.")).to_be_visible()
    expect(page.get_by_text("Merged", exact=True).first).to_be_visible()
    house.settle()
    assert "gpu" not in {one.name for one in house.box.rig.cloud.of("hyperpod.InstanceGroup")}

    page.get_by_role("button", name="Revert").click()
    dialog.get_by_role("button", name="Revert").click()
    expect(person.heading("Revert: Delete the idle GPU group")).to_be_visible()
    expect(page.get_by_text("What does not come back")).to_be_visible()
    expect(page.get_by_text("Create gpu").first).to_be_visible()
    person.check("change-revert")


def test_a_change_that_others_got_ahead_of(person: Person) -> None:
    """Both values are shown, and who was first."""
    house = person.house
    prod(house)
    change = proposed(house, "Two more machines", scale(4, group="gpu"))
    house.box.rig.commit_paths(
        {"clusters/prod/gpu.yaml": scaled(house, 8)},
    )
    house.tick()
    person.go(f"/changes/{change}", "Two more machines")
    row = person.page.get_by_role("row").filter(has_text="/spec/count")
    expect(row.get_by_role("cell", name="4", exact=True)).to_be_visible()
    expect(row.get_by_role("cell", name="8", exact=True)).to_be_visible()
    person.check("change-conflict")
    person.page.get_by_role("button", name="More").click()
    person.page.get_by_role("menuitem", name="Close").click()
    person.page.get_by_role("dialog").get_by_role("button", name="Close", exact=True).last.click()
    expect(person.page.get_by_text("Closed", exact=True).first).to_be_visible()


def test_a_change_is_brought_onto_the_branch(person: Person) -> None:
    """Somebody else was faster elsewhere; an objection holds it back until it is taken back."""
    page, house = person.page, person.house
    prod(house)
    change = proposed(house, "Two more machines", scale(4, group="gpu"))
    house.box.rig.commit({"system": group_yaml("system", 3)})
    house.settle()
    person.go(f"/changes/{change}", "Two more machines")
    before = page.get_by_role("main").get_by_text(change_head(house, change)[:8])
    expect(before).to_be_visible()
    more(person, "Bring onto the branch")
    expect(page.get_by_text("It is on top of the branch now.")).to_be_visible()
    expect(before).to_be_hidden()

    more(person, "Request changes", press=False)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Request changes").click()
    expect(dialog.get_by_text("Say what should be different.", exact=True)).to_be_visible()
    dialog.get_by_role("textbox").fill("Three are enough.")
    dialog.get_by_role("button", name="Request changes").click()
    expect(page.get_by_text("Approval: Waits for a person")).to_be_visible()
    expect(page.get_by_role("button", name="Merge")).to_be_disabled()
    person.check("change-objected")
    more(person, "Withdraw my review")
    expect(page.get_by_text("Approval: Fine")).to_be_visible()
    page.get_by_role("tab", name="Reviews and comments").click()
    expect(page.get_by_text("took their review back", exact=False)).to_be_visible()
    page.get_by_role("tab", name="Plan").click()
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_text("Update gpu").first).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    dialog.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged. The engine takes it up now.")).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).first.click()
    expect(page.get_by_text("Merged. The engine takes it up now.")).to_be_hidden()
    house.settle()

    person.go("/changes", "Changes")
    expect(page.get_by_text("No changes here")).to_be_visible()
    page.get_by_role("button", name="Merged").click()
    expect(page.get_by_role("link", name="Two more machines")).to_be_visible()
    page.get_by_role("button", name="Closed").click()
    expect(page.get_by_text("No changes here")).to_be_visible()
    page.get_by_role("button", name="All").click()
    expect(page.get_by_role("link", name="Two more machines")).to_be_visible()


def more(person: Person, deed: str, *, press: bool = True) -> None:
    """What stands below More, and yes."""
    page = person.page
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name=deed).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    if press:
        dialog.get_by_role("button", name=deed).click()
        expect(dialog).to_be_hidden()


def change_head(house: UiHouse, change: str) -> str:
    return str(house.box.client("read").get(f"/changes/{change}").json()["head"])


def scaled(house: UiHouse, count: int) -> str:
    repo = house.box.rig.repo
    head = repo.head()
    assert head is not None
    file = repo.file(head, "clusters/prod/gpu.yaml")
    assert file is not None
    return repo.blobs([file.blob])[file.blob].decode().replace("count: 2", f"count: {count}")
