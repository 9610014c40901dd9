"""Fixtures of the browser's tests: `house` is a whole service with its events, `person` a browser that is logged in.

They need the built pages (`make setup`) and Debian's chromium (INSTANTSTART_CHROMIUM names another one).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.api.apibox import ApiBox, make
from tests.ui.house import UiHouse
from tests.ui.person import Person, Screen
from web.ui_files import BUILT

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
CHROMIUM = os.environ.get("INSTANTSTART_CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="module")  # while it is up, nothing else in its thread can run an event loop
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium: apt-get install chromium, or INSTANTSTART_CHROMIUM")
    if not (BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: make setup")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
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
def person(browser: Browser, house: UiHouse) -> Iterator[Person]:
    """Somebody with all scopes, at a screen of 1280 pixels. Fails if a page told an error to the console."""
    came = Person.come(browser, house, Screen.DESK)
    yield came
    came.leave()
