"""Every page of pages.ts, whoever adds one, and its tabs: light and dark, at a desk and on a phone, by axe-core."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.api import livebox
from tests.api.livebox import KubeHost, LiveBox, machine, node, pod
from tests.changes.changebox import scale
from tests.live.aws_server import FakeAws
from tests.ui.house import UiHouse
from tests.ui.person import ROOT, Person, Screen

NODE, POD = "i-0a1b2c3d4e5f60001", "train-0"
KNOWN = {"/login", "/", "/clusters/new", "/clusters/:cluster", "/changes", "/changes/:change", "/tokens"}


def routes() -> list[str]:
    """The paths in pages.ts, in its order; the page for what is no page has none."""
    text = (ROOT / "web" / "ui" / "src" / "pages.ts").read_text()
    found = re.findall(r'\bpath: "([^"]+)", load:', text)
    assert len(found) == text.count("load: () => import("), "a page is written in another way than this test reads"
    return [path for path in found if path != "*"]


def test_all_of_them_are_read() -> None:
    assert set(routes()) >= KNOWN


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveBox]:
    aws, host = FakeAws(), KubeHost()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", aws.url)
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTTESTTESTTEST")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests-only")
        for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
            patch.setenv(name, "/nonexistent")
        for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        box = livebox.make(tmp_path_factory.mktemp("routes"), aws, host.new())
        yield box
        box.close()
        host.servers.close()
        aws.close()


@pytest.fixture(scope="module")
def house(live: LiveBox) -> UiHouse:
    """A cluster that is Ready, with a node and a pod on it, an open change and a token."""
    live.ready()
    live.machines(machine(NODE), machine("i-0a1b2c3d4e5f60002"))
    live.apply(node(NODE), pod(POD, on=NODE, gpus=3))
    live.server.log("default", POD, "step 1", "step 2")
    live.api.token("read", "propose", name="training-assistant", kind="agent")
    return UiHouse(live.api)


@pytest.fixture(scope="module")
def things(house: UiHouse) -> dict[str, str]:
    """What the variables of an address stand for. A new one is named here, once, for all pages."""
    body = {"title": "Two more machines", "why": "The queue is long.", "edits": [scale(4, group="gpu")]}
    change = house.box.client().post("/changes", json=body).json()["id"]
    return {
        "cluster": "prod",
        "change": change,
        "group": "gpu",
        "node": NODE,
        "namespace": "default",
        "pod": POD,
        "storage": "shared",
    }


@pytest.fixture(scope="module", params=list(Screen), ids=lambda screen: screen.name.lower())
def person(request: pytest.FixtureRequest, browser: Browser, house: UiHouse) -> Iterator[Person]:
    came = Person.come(browser, house, request.param)
    yield came
    # What this house's AWS does not tell, and that somebody who is logged in opens the page to log in, is no mistake.
    for expected in ("status of 400", "status of 404", "status of 422", "status of 501", "status of 503"):
        came.forgive(expected)
    came.leave()


@pytest.mark.parametrize("route", routes())
def test_everybody_can_use_it(route: str, person: Person, things: dict[str, str]) -> None:
    path = re.sub(r":(\w+)\??", lambda found: things[found[1]], route)
    page = person.page
    page.goto(f"{person.house.url}{path}")
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_text("Reading …").filter(visible=True)).to_have_count(0)
    expect(page.get_by_text("This page broke")).to_have_count(0)
    name = f"route{route.replace('/', '-').replace(':', '')}"
    person.check(name)
    tabs = [tab for tab in page.get_by_role("tab").all_inner_texts() if tab]
    for tab in tabs[1:]:
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.get_by_role("tabpanel").filter(visible=True)).not_to_be_empty()
        expect(page.get_by_text("Reading …").filter(visible=True)).to_have_count(0)
        person.check(f"{name}-{re.sub('[^a-z]+', '-', tab.lower()).strip('-')}")
