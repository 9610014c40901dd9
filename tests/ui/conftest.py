"""Fixtures of the browser's tests: `house` is a whole service with its events, `person` a browser that is logged in.

They need the built pages (`make setup`) and Debian's chromium (INSTANTSTART_CHROMIUM names another one).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, expect, sync_playwright

from tests.api import livebox
from tests.api.apibox import ApiBox, make
from tests.api.livebox import KubeHost, LiveBox
from tests.live.aws_server import FakeAws
from tests.ui.chromium import CHROMIUM, FLAGS
from tests.ui.house import UiHouse
from tests.ui.person import PATIENCE, Person, Screen
from web.ui_files import BUILT

expect.set_options(timeout=PATIENCE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Whoever is still at a screen when a test has failed leaves a picture of it, beside the others."""
    report = yield
    if report.when == "call" and report.failed:
        for number, person in enumerate(Person.here):
            # A browser that is gone leaves none; an error in this place would end the whole run.
            with contextlib.suppress(Error):
                person.shot(f"failed-{re.sub('[^a-zA-Z0-9]+', '-', item.name)}-{number}")
        Person.here.clear()
    return report


@pytest.fixture(scope="module")  # while it is up, nothing else in its thread can run an event loop
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium: apt-get install chromium, or INSTANTSTART_CHROMIUM")
    if not (BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: make setup")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS), timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiBox]:
    box = make(tmp_path)
    yield box
    box.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[UiHouse]:
    made = UiHouse(make(tmp_path))
    yield made
    made.close()


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveBox]:
    """A service with a Kubernetes API of its own and a scripted AWS; a module that uses it makes its `house` of it."""
    aws, host = FakeAws(), KubeHost()
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTTESTTESTTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests-only")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    box = livebox.make(tmp_path, aws, host.new())
    yield box
    box.close()
    host.servers.close()
    aws.close()


@pytest.fixture
def person(browser: Browser, house: UiHouse) -> Iterator[Person]:
    """Somebody with all scopes, at a screen of 1280 pixels. Fails if a page told an error to the console."""
    came = Person.come(browser, house, Screen.DESK)
    yield came
    came.leave()
