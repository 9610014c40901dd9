"""A person's word to the engine: tried again, said what became of it, let go of what a guard holds."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.engine.fakes import group_yaml, reboot_yaml
from tests.ui.person import Person

NODE = "i-0123456789abcdef0"


def give(person: Person, order: str, *, why: str) -> None:
    """Press an order's button, be asked, and say why."""
    page = person.page
    page.get_by_role("button", name=order).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why").fill(why)
    dialog.get_by_role("button", name=order.split(":")[0].removesuffix(" all"), exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("The order is given.", exact=False).first).to_be_visible()


def stage(person: Person, name: str) -> Locator:
    stages = person.page.get_by_role("list", name="Stages in the order of building")
    return stages.get_by_role("listitem").filter(has_text=name)


def test_what_failed_is_tried_again_and_what_nobody_knows_is_said(person: Person) -> None:
    page, house, rig = person.page, person.house, person.house.box.rig
    house.clusters("prod")
    house.settle()
    rig.cloud.faults.append(("InstanceGroup:create hyperpod.InstanceGroup/prod/more", "failed"))
    rig.commit({"more": group_yaml("more", 1)})
    house.settle()
    person.go("/clusters/prod", "prod")
    expect(page.get_by_role("heading", name="Did not work")).to_be_visible()
    person.check("cluster-failed")
    give(person, "Try again: hyperpod.InstanceGroup/prod/more", why="The service was not well.")
    house.settle()
    expect(page.get_by_role("heading", name="Did not work")).to_be_hidden()
    assert "more" in {one.name for one in rig.cloud.of("hyperpod.InstanceGroup")}

    rig.cloud.faults.append(("InstanceGroup:update", "failed"))
    rig.commit({"more": group_yaml("more", 2)})
    house.settle()
    expect(stage(person, "Instance groups").get_by_text("Failed")).to_be_visible()
    give(person, "Try again: Instance groups", why="Once more.")
    house.settle()
    expect(stage(person, "Instance groups").get_by_text("Ready")).to_be_visible()

    rig.cloud.boots[NODE] = 1
    rig.cloud.faults.append(("Reboot:run", "lost"))
    rig.commit({"reboot": reboot_yaml("a", NODE)})
    unknown = page.get_by_text(f"Operation/a#{NODE}: nobody knows what became of it")
    house.until(lambda: rig.status().reason == "OutcomeUnknown")
    expect(unknown).to_be_visible()
    person.check("cluster-unknown")
    page.get_by_role("button", name=f"Say what became of it: Operation/a#{NODE}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="It did not happen").check()
    dialog.get_by_label("Why").fill("It has been up for nine days.")
    person.check("cluster-resolve")
    dialog.get_by_role("button", name="Say what became of it").click()
    expect(dialog).to_be_hidden()
    house.settle()
    expect(unknown).to_be_hidden()
    expect(page.get_by_text("The order is given.", exact=False)).to_be_hidden()
    assert rig.cloud.boots[NODE] == 1
    page.get_by_role("tab", name="Timeline").click()
    page.get_by_role("button", name="Holds and orders").click()
    told = page.get_by_role("list").filter(has_text="orders: resolve")
    expect(told.get_by_text("orders: retry compute")).to_be_visible()
    person.check("cluster-orders")


def test_what_a_guard_holds_is_released(person: Person) -> None:
    """A folder that vanished deletes nothing by itself; who knows that it was meant says so, once for all of it."""
    page, house, rig = person.page, person.house, person.house.box.rig
    house.clusters("prod")
    house.settle()
    rig.commit({"cluster": None, "system": None, "gpu": None})
    house.settle()
    things = len(rig.cloud.things)
    person.go("/clusters/prod", "prod")
    expect(page.get_by_role("heading", name="Waits for a person")).to_be_visible()
    person.check("cluster-vanished")
    page.get_by_role("button", name="What waits").click()
    page.get_by_role("button", name="Release: ec2.Vpc/prod").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("A guard stopped this, not a rule.", exact=False)).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert len(rig.cloud.things) == things
    give(person, "Release all", why="The cluster was moved to another account.")
    house.settle()
    assert rig.cloud.things == []
    expect(page.get_by_role("heading", name="Waits for a person")).to_be_hidden()
    person.check("cluster-gone")
