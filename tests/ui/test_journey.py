"""One person's day with the real service over the sandbox: a first start, a cluster, changes to it, and one back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.cli.clibox import ALICE
from tests.ui.person import PATIENCE, Person, Screen
from tests.ui.town import Town, town

pytestmark = pytest.mark.sandbox
LONG = 5 * PATIENCE  # a whole cluster comes up meanwhile
CLUSTER = "research"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Town]:
    with town(tmp_path) as made:
        yield made


def tab(person: Person, name: str) -> None:
    person.page.get_by_role("tab", name=name).click()


def condition(person: Person, word: str) -> Locator:
    """The word below the cluster's name."""
    return person.page.get_by_role("main").get_by_text(word, exact=True).first


def is_ready(person: Person) -> None:
    """Without a reload, however long it takes."""
    expect(person.page.get_by_role("progressbar")).to_have_count(0, timeout=LONG)
    expect(condition(person, "Working on it")).to_be_hidden(timeout=LONG)
    expect(condition(person, "Ready")).to_be_visible(timeout=LONG)


def merge(person: Person, cluster: str = CLUSTER) -> None:
    """Merge the open change, and go where it is done."""
    page = person.page
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    page.get_by_role("button", name=f"Watch {cluster}").click()
    expect(person.heading(cluster)).to_be_visible()


def create(person: Person, town: Town) -> None:
    """What the account has is offered: its id, Regions' zones, types with their GPUs, and what the quota leaves."""
    page = person.page
    page.get_by_role("link", name="Create the first cluster").click()
    step = page.get_by_role("button", name="Next")
    page.get_by_label("Name", exact=True).fill(CLUSTER)
    expect(page.get_by_label("AWS account")).to_have_value(town.world.account)
    expect(page.get_by_label("Region")).to_have_value("us-west-2")
    step.click()
    kind = page.get_by_label("Instance type")
    kind.fill("ml.g5.8x")
    page.get_by_role("option", name="ml.g5.8xlarge").click()
    expect(page.get_by_text("1 NVIDIA A10G a node")).to_be_visible()
    nodes = page.get_by_role("spinbutton", name="Nodes")
    nodes.fill("6000")
    expect(page.get_by_text("The account may have only", exact=False)).to_be_visible()
    nodes.fill("2")
    expect(page.get_by_text("more may be had", exact=False)).to_be_visible()
    page.get_by_role("button", name="Zone").click()
    page.get_by_role("option", name="usw2-az2").click()
    person.shot("journey-machines")
    step.click()
    step.click()
    page.get_by_label("Why").fill("The evaluation needs GPUs.")
    page.get_by_role("button", name="Open the change").click()
    expect(person.heading(f"Create cluster {CLUSTER}")).to_be_visible()
    expect(page.get_by_text("Plan: Fine")).to_be_visible()
    person.shot("journey-change")
    merge(person)
    expect(condition(person, "Working on it")).to_be_visible()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    person.shot("journey-progress")
    is_ready(person)
    person.shot("journey-ready")


def scale(person: Person, before: int, after: int) -> None:
    page = person.page
    tab(person, "Instance groups")
    page.get_by_role("button", name="Change workers").click()
    page.get_by_role("menuitem", name="Scale").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(f"{before} now")).to_be_visible()
    dialog.get_by_label("Nodes").fill(str(after))
    dialog.get_by_role("button", name="Propose change").click()
    expect(person.heading(f"Scale workers from {before} to {after}")).to_be_visible()
    merge(person)
    tab(person, "Nodes")
    expect(page.get_by_role("heading", name=f"Nodes ({after})")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("row").get_by_text("Ready", exact=True)).to_have_count(after, timeout=LONG)
    person.shot("journey-nodes")
    tab(person, "Overview")
    is_ready(person)


def refuse(person: Person, town: Town) -> None:
    """An agent asks for what cannot be; it is told why, is asked for something else, and the change is closed."""
    page = person.page
    patch = [{"op": "replace", "path": "/spec/instanceType", "value": "ml.g5.12xlarge"}]
    edit = {"edit": "patch", "cluster": CLUSTER, "kind": "InstanceGroup", "name": "workers", "patch": patch}
    agent = {"Authorization": f"Bearer {town.agent('training-assistant')}"}
    body = {"title": "Larger machines", "why": "The model does not fit.", "edits": [edit]}
    answer = httpx.post(f"{town.url}/api/v1/changes", json=body, headers=agent, timeout=60, trust_env=False)
    assert answer.status_code == 201, answer.text
    page.get_by_role("link", name="Changes").first.click()
    page.get_by_role("link", name="Larger machines").click()
    expect(page.get_by_text("Plan: Not as it is")).to_be_visible()
    expect(page.get_by_text("training-assistant (agent)")).to_be_visible()
    expect(page.get_by_text("Refused as it is")).to_be_visible()
    expect(page.get_by_role("button", name="Merge")).to_be_disabled()
    person.check("journey-refused")
    for deed, words, said in (
        ("Request changes", "Add a group beside it.", "Your objection stands."),
        ("Withdraw my review", "", "Your review is taken back."),
        ("Close", "It cannot be done this way.", "Closed."),
    ):
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name=deed).click()
        dialog = page.get_by_role("dialog")
        if words:
            dialog.get_by_role("textbox").fill(words)
        dialog.get_by_role("button", name=deed, exact=True).last.click()
        expect(dialog).to_be_hidden()
        expect(page.get_by_text(said, exact=True).first).to_be_visible()


def let_go(person: Person, town: Town) -> None:
    """Somebody deletes the storage by a push; that waits, and goes by a word with a reason."""
    page = person.page
    files = town.documents(CLUSTER)
    path = next(path for path, text in files.items() if "kind: Storage" in text)
    left = "---\n".join(part for part in files[path].split("---\n") if "kind: Storage" not in part)
    town.push({path: left or None}, "The storage is not needed")
    person.go(f"/clusters/{CLUSTER}", CLUSTER)
    expect(page.get_by_role("heading", name="Waits for a person")).to_be_visible(timeout=LONG)
    person.shot("journey-held")
    page.get_by_role("button", name=f"Approve: Storage/{CLUSTER}/s3").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why").fill("Nothing lies in it.")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("heading", name="Waits for a person")).to_be_hidden(timeout=LONG)
    is_ready(person)


def revert(person: Person) -> None:
    page = person.page
    page.get_by_role("link", name="Changes").first.click()
    page.get_by_role("button", name="Merged").click()
    page.get_by_role("link", name="Scale workers from 2 to 3").click()
    page.get_by_role("button", name="Revert").click()
    page.get_by_role("dialog").get_by_role("button", name="Revert").click()
    expect(person.heading("Revert: Scale workers from 2 to 3")).to_be_visible()
    expect(page.get_by_text("Update workers").first).to_be_visible()
    person.shot("journey-revert")
    merge(person)
    is_ready(person)
    tab(person, "Nodes")
    expect(page.get_by_role("heading", name="Nodes (2)")).to_be_visible(timeout=LONG)


def test_from_the_first_start_to_a_revert(browser: Browser, place: Town) -> None:
    person = Person.come(browser, place, Screen.DESK, login=False)
    person.page.goto(place.first_link)
    expect(person.heading("Clusters")).to_be_visible()
    expect(person.page.get_by_role("button", name=ALICE[1])).to_be_visible()
    expect(person.page.get_by_text("No clusters yet")).to_be_visible()
    create(person, place)
    scale(person, 2, 3)
    refuse(person, place)
    let_go(person, place)
    revert(person)
    for expected in ("status of 409", "status of 422", "status of 503"):
        person.forgive(expected)
    person.leave()
