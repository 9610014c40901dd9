"""Events of a cluster, of Kubernetes and of a scripted HyperPod: newest first, chosen by what they are about, fresh."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.api.livebox import LiveBox, machine
from tests.live.aws_server import Answer
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen

NODE = "i-0a1b2c3d4e5f60001"
OTHER = "i-0a1b2c3d4e5f60002"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def house(live: LiveBox) -> Iterator[UiHouse]:
    made = UiHouse(live.api)
    yield made
    made.close()


def event(number: int, message: str, *, kind: str = "Pod", name: str = "train-0", **more: Any) -> dict[str, Any]:
    """`number`: minutes after noon."""
    at = (NOON + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"event-{number}", "namespace": "default"},
        "involvedObject": {"kind": kind, "name": name, "namespace": "default"},
        "reason": "FailedScheduling",
        "message": message,
        "type": "Warning",
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
        **more,
    }


def busy(live: LiveBox) -> None:
    live.machines(machine(NODE), machine(OTHER, group="system"))
    live.apply(
        event(1, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", count=14),
        event(2, "Pulled image in 41 s", type="Normal", reason="Pulled", source={"host": f"hyperpod-{NODE}"}),
        event(3, "Node is not ready", kind="Node", name=f"hyperpod-{OTHER}", reason="NodeNotReady"),
    )
    failed = {
        "EventId": "1",
        "ClusterName": "prod",
        "ResourceType": "Instance",
        "InstanceId": NODE,
        "InstanceGroupName": "gpu",
        "EventTime": "2026-03-01T12:10:00Z",
        "Description": "The GPU fell off the bus; the instance is replaced.",
        "EventLevel": "Error",
    }
    live.says["ListClusterEvents"] = lambda _: Answer(json={"Events": [failed]})
    live.ready()


def shown(person: Person) -> Locator:
    return person.page.get_by_role("list", name="Events").get_by_role("listitem")


@pytest.mark.parametrize("screen", list(Screen), ids=lambda screen: screen.name.lower())
def test_events_newest_first_and_chosen(browser: Browser, live: LiveBox, house: UiHouse, screen: Screen) -> None:
    busy(live)
    person = Person.come(browser, house, screen)
    page = person.page
    person.go("/clusters/prod?tab=events", "prod")
    expect(shown(person)).to_have_count(4)
    expect(shown(person).first).to_contain_text("The GPU fell off the bus")
    expect(shown(person).nth(1)).to_contain_text("Node is not ready")
    expect(shown(person).last).to_contain_text("14 times since")
    person.check("cluster-events")
    node = page.get_by_label("Node", exact=True)
    node.fill(f"hyperpod-{NODE}")
    expect(shown(person)).to_have_count(2)
    expect(shown(person).first).to_contain_text("The GPU fell off the bus")
    node.fill("i-12")
    node.blur()
    expect(page.get_by_text("An instance id is wanted", exact=False)).to_be_visible()
    node.fill("")
    page.get_by_role("button", name="Instance group", exact=False).click()
    page.get_by_role("option", name="system").click()
    expect(shown(person)).to_have_count(1)
    expect(shown(person)).to_contain_text("Node is not ready")
    page.get_by_role("button", name="Source", exact=False).click()
    page.get_by_role("option", name="HyperPod").click()
    expect(page.get_by_text("No event is like this.")).to_be_visible()
    assert "group=system" in page.url and "source=hyperpod" in page.url, "the address can be sent to somebody"
    person.check("cluster-events-none")
    page.get_by_role("button", name="Clear the filter").click()
    expect(shown(person)).to_have_count(4)
    person.go("/clusters/prod?tab=events&level=error", "prod")
    expect(shown(person)).to_have_count(1)
    person.leave()


def test_events_come_by_themselves_and_page_by_page(browser: Browser, live: LiveBox, house: UiHouse) -> None:
    live.apply(*(event(number, f"number {number}") for number in range(60)))
    live.ready()
    person = Person.come(browser, house, Screen.DESK)
    page = person.page
    person.go("/clusters/prod?tab=events", "prod")
    expect(shown(person)).to_have_count(50)
    page.get_by_role("button", name="Show earlier").click()
    expect(shown(person)).to_have_count(60)
    expect(shown(person).last).to_contain_text("number 0")
    expect(page.get_by_role("button", name="Show earlier")).to_be_hidden()
    live.apply(event(99, "the newest of all"))
    deadline_passes(house, shown(person).first, "the newest of all")
    page.get_by_role("link", name="Logs").first.click()
    expect(person.heading("train-0")).to_be_visible()
    person.leave()


def deadline_passes(house: UiHouse, where: Locator, text: str) -> None:
    """Each look of the engine makes the page read again; what the API tells may be some seconds old."""
    for _ in range(30):
        house.tick()
        try:
            expect(where).to_contain_text(text, timeout=2000)
        except AssertionError:
            continue
        return
    expect(where).to_contain_text(text)


def test_a_source_that_cannot_be_seen_is_told(browser: Browser, live: LiveBox, house: UiHouse) -> None:
    live.apply(event(1, "from Kubernetes"))
    denied = Answer(status=400, code="AccessDeniedException", message="not authorized: sagemaker:ListClusterEvents")
    live.says["ListClusterEvents"] = lambda _: denied
    live.ready()
    person = Person.come(browser, house, Screen.DESK)
    person.go("/clusters/prod?tab=events", "prod")
    expect(shown(person)).to_contain_text(["from Kubernetes"])
    expect(person.page.get_by_text("HyperPod's events", exact=False)).to_be_visible()
    person.check("cluster-events-partly")
    person.leave()
