"""Logs of pods over a Kubernetes API: found from the cluster and from a node, followed, searched, paused, kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.api.livebox import LiveBox, machine, node, pod
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen

START = 1772359200.0  # 2026-03-01T10:00:00Z
NODE = "i-0a1b2c3d4e5f60001"
TRAIN = "/clusters/prod/pods/training/train-0"
WORDS = (
    "Loaded 4 shards of the data set from /s3/data",
    "INFO step 100 loss 2.31 tokens/s 182340",
    "WARNING rank 3 is 4 s behind the others",
    'Traceback (most recent call last): File "/app/train.py", line 88, in step',
    "RuntimeError: NCCL communicator was aborted on rank 3. " + "Original reason for failure was: timeout. " * 9,
    "INFO step 101 loss 2.29 tokens/s 181002",
)


@pytest.fixture
def house(live: LiveBox) -> Iterator[UiHouse]:
    made = UiHouse(live.api)
    yield made
    made.close()


def running(live: LiveBox, *pods: str, lines: int = 300) -> None:
    """A node, and pods on it in the namespace training that have written something."""
    live.ready()
    live.machines(machine(NODE))
    live.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "training"}})
    live.apply(node(NODE))
    for name in pods or ("train-0",):
        live.apply(pod(name, namespace="training", on=NODE, gpus=1))
        for number in range(lines):
            text = f"{number:05} {WORDS[number % len(WORDS)]}"
            live.server.log("training", name, text, at=START + number)


def log(person: Person) -> Locator:
    return person.page.get_by_role("log")


def line(person: Person, text: str) -> Locator:
    return log(person).locator(".log-drawn .log-text").filter(has_text=text)


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_how_it_looks(browser: Browser, live: LiveBox, house: UiHouse, screen: Screen) -> None:
    running(live, "train-0", "train-1")
    live.apply(pod("web", namespace="default", phase="Pending"))
    person = Person.come(browser, house, screen)
    page = person.page
    person.go("/clusters/prod?tab=pods", "prod")
    expect(page.get_by_role("link", name="Logs of train-1")).to_be_visible()
    page.get_by_role("link", name="Logs of train-0").click()
    expect(person.heading("train-0")).to_be_visible()
    expect(line(person, "00299")).to_be_visible()
    page.get_by_placeholder("Find in the lines").fill("NCCL")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 50 lines").first).to_be_visible()
    person.check("logs-found")
    person.leave()


@pytest.fixture
def person(browser: Browser, house: UiHouse) -> Iterator[Person]:
    came = Person.come(browser, house, Screen.DESK)
    came.page.set_default_timeout(60_000)
    yield came
    came.leave()


def write(live: LiveBox, *lines: str) -> None:
    live.server.log("training", "train-0", *lines, at=START + 1000)


def test_from_a_node_to_a_log_that_grows(person: Person, live: LiveBox) -> None:
    running(live)
    page = person.page
    person.go("/clusters/prod?tab=nodes", "prod")
    page.get_by_role("row").filter(has_text=NODE).get_by_role("link", name="1", exact=True).click()
    expect(page.get_by_role("heading", name=f"Pods on hyperpod-{NODE} (1)")).to_be_visible()
    page.get_by_role("link", name="Logs of train-0").click()
    expect(line(person, "00299")).to_be_in_viewport()
    write(live, "what comes now")
    expect(line(person, "what comes now")).to_be_in_viewport()
    log(person).focus()
    page.keyboard.press("Home")
    expect(line(person, "00000")).to_be_in_viewport()
    write(live, "unseen")
    expect(page.get_by_role("button", name="1 new line below")).to_be_visible()
    expect(line(person, "00000")).to_be_in_viewport()
    page.get_by_role("button", name="1 new line below").click()
    expect(line(person, "unseen")).to_be_in_viewport()


def test_a_pause_keeps_the_place_and_loses_nothing(person: Person, live: LiveBox) -> None:
    running(live, lines=20)
    page = person.page
    person.go(TRAIN, "train-0")
    expect(line(person, "00019")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused. Nothing is lost").first).to_be_visible()
    write(live, *(f"while paused {number}" for number in range(3)))
    page.get_by_role("button", name="Go on").click()
    expect(line(person, "while paused 2")).to_be_visible()
    assert line(person, "while paused").count() == 3, "each line once"


def test_lines_are_found_by_keyboard_and_shown_alone(person: Person, live: LiveBox) -> None:
    running(live)
    page = person.page
    person.go(TRAIN, "train-0")
    search = page.get_by_label("Find in the lines")
    search.fill("aborted")
    expect(page.get_by_text("50 lines", exact=True).first).to_be_visible()
    for key, found in (("Enter", "1 of 50 lines"), ("Enter", "2 of 50 lines"), ("Shift+Enter", "1 of 50 lines")):
        search.press(key)
        expect(page.get_by_text(found, exact=True).first).to_be_visible()
    expect(page.locator("[aria-current=true]")).to_contain_text("00004")
    expect(page.locator("[aria-current=true]")).to_be_in_viewport()
    page.get_by_label("Only these").check(force=True)
    expect(line(person, "00000")).to_be_hidden()
    expect(line(person, "00004")).to_be_visible()
    write(live, "aborted again", "and something else")
    page.get_by_role("button", name="2 new lines below").click()
    expect(line(person, "aborted again")).to_be_in_viewport()
    expect(line(person, "something else")).to_be_hidden()
    search.fill("nowhere to be found")
    expect(page.get_by_text("No line matches.")).to_be_visible()


def test_what_a_program_writes_does_nothing_to_the_page(person: Person, live: LiveBox) -> None:
    running(live, lines=1)
    nasty = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m <img src=x onerror=document.title='owned'> \u202egnp.exe"
    write(live, nasty, "before\rafter", f"{'long' * 3000} end of it", "\u8a13\u7df4" * 200)
    person.go(f"{TRAIN}?from=all", "train-0")
    expect(line(person, "red <img src=x onerror=document.title='owned'>")).to_be_visible()
    expect(line(person, "beforeafter")).to_be_visible()
    expect(line(person, "end of it")).to_be_visible()
    assert person.page.title() == "train-0 · InstantStart"
    person.check("logs-long")
    rows = "[...document.querySelectorAll('.log-drawn > *')].map((row) => row.getBoundingClientRect())"
    touching = f"{rows}.every((box, index, all) => index === 0 || Math.abs(box.top - all[index - 1].bottom) < 0.5)"
    assert person.page.evaluate(touching), "no line lies over another"
    whole = "document.querySelector('.log-whole').offsetHeight - document.querySelector('.log-drawn').offsetHeight"
    assert person.page.evaluate(whole) == 0, "what is drawn is as high as was thought"
    person.page.get_by_role("button", name="How it is shown").click()
    person.page.get_by_role("menuitemcheckbox", name="Wrap long lines").click()
    expect(line(person, "beforeafter")).to_be_visible()
    assert person.page.evaluate("document.querySelector('[role=log]').scrollWidth") > 10_000


def test_a_container_is_chosen_and_the_life_before_is_read(person: Person, live: LiveBox) -> None:
    running(live, lines=1)
    two = pod("train-2", namespace="training", on=NODE, containers=("main", "agent"))
    two["status"]["containerStatuses"][1]["restartCount"] = 2
    live.apply(two)
    live.server.log("training", "train-2", "from main", at=START)
    live.server.log("training", "train-2", "from the agent", at=START, container="agent")
    page = person.page
    person.go("/clusters/prod/pods/training/train-2", "train-2")
    expect(line(person, "from main")).to_be_visible()
    page.get_by_role("button", name="Container main").click()
    page.get_by_role("option", name="agent").click()
    expect(line(person, "from the agent")).to_be_visible()
    expect(line(person, "from main")).to_be_hidden()
    assert "container=agent" in page.url
    page.get_by_role("button", name="The one before").click()
    expect(page.get_by_text("That was the life before this one.").first).to_be_visible()
    person.check("logs-before")


def test_the_end_of_a_log_is_told_and_it_can_be_read_again(person: Person, live: LiveBox) -> None:
    running(live, lines=3)
    page = person.page
    person.go(TRAIN, "train-0")
    expect(line(person, "00002")).to_be_visible()
    over = pod("train-0", namespace="training", on=NODE, phase="Failed")
    over["status"]["containerStatuses"][0]["state"] = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    live.status(over)
    live.api.rig.kube.close()  # type: ignore[attr-defined]  # the end of its life ends the connection
    expect(page.get_by_text("Nothing more comes: OOMKilled, exit code 137.").first).to_be_visible()
    person.check("logs-ended")
    page.get_by_role("button", name="Read again").click()
    expect(line(person, "00002")).to_be_visible()
    expect(line(person, "0000")).to_have_count(3)


def test_a_service_that_goes_away_is_waited_for(person: Person, live: LiveBox) -> None:
    running(live, lines=3)
    page = person.page
    person.go(TRAIN, "train-0")
    expect(line(person, "00002")).to_be_visible()
    with person.house.away():
        expect(
            page.get_by_text("It is tried again, and goes on behind the last line.", exact=False).first
        ).to_be_visible()
        person.check("logs-lost")
        write(live, "written meanwhile")
    expect(line(person, "written meanwhile")).to_be_visible()
    expect(page.get_by_text("Following", exact=True).first).to_be_visible()
    expect(line(person, "0000")).to_have_count(3)
    for forgiven in ("ERR_CONNECTION_REFUSED", "WebSocket", "503", "ERR_"):
        person.forgive(forgiven)


def test_a_pod_that_is_not_there_is_told(person: Person, live: LiveBox) -> None:
    running(live, lines=1)
    page = person.page
    person.go("/clusters/prod/pods/training/gone?container=main", "gone")
    expect(page.get_by_text("This pod is not there now", exact=False)).to_be_visible()
    expect(page.get_by_text("Nothing more comes: the pod is gone.").first).to_be_visible()
    person.check("logs-gone")


def test_what_is_kept_is_bounded_and_can_be_taken_along(person: Person, live: LiveBox, tmp_path: Path) -> None:
    """More than a page keeps: it says what it let go, keeps the newest, and gives them as a file."""
    running(live, lines=1)
    write(live, *(f"{number:06} {'x' * 40}" for number in range(55_000)))
    page = person.page
    person.go(f"{TRAIN}?from=all", "train-0")
    expect(line(person, "054999")).to_be_visible()
    expect(page.get_by_text("older lines let go", exact=False)).to_be_visible()
    assert log(person).locator(".log-line").count() < 400, "only what is in sight is in the document"
    with page.expect_download() as found:
        page.get_by_role("button", name="Download").click()
    kept = tmp_path / "log"
    found.value.save_as(kept)
    lines = kept.read_text().splitlines()
    assert found.value.suggested_filename == "train-0-main.log"
    assert 48_000 <= len(lines) <= 50_000 and "054999" in lines[-1] and lines[-1].startswith("2026-03-01T10:16:40")
    log(person).focus()
    page.keyboard.press("Home")
    expect(line(person, lines[0].split(" ")[1])).to_be_in_viewport()
