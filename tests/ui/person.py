"""A person at a browser: what they open and press, what they see, and whether everybody could."""

from __future__ import annotations

import enum
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

from tests.ui.house import NAME, UiHouse

ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / "web" / "ui" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
SHOTS = Path(os.environ.get("INSTANTSTART_SHOTS") or ROOT / "build" / "screenshots")
PATIENCE = 60_000  # milliseconds until what should be on a page is: a machine may be busy
HIGHEST = 4000  # pixels of a picture
Mode = Literal["light", "dark"]


class Screen(enum.Enum):
    DESK = (1280, 800)
    PHONE = (390, 844)


class Place(Protocol):
    """Where a service is, and how somebody gets in."""

    @property
    def url(self) -> str: ...

    def link(self, name: str = NAME) -> str: ...


@dataclass(kw_only=True)
class Person:
    page: Page
    place: Place
    screen: Screen
    context: BrowserContext
    _errors: list[str] = field(default_factory=list[str])

    here: ClassVar[list[Person]] = []  # who has not left

    @classmethod
    def come(
        cls,
        browser: Browser,
        place: Place,
        screen: Screen,
        *,
        name: str = NAME,
        mode: Mode = "light",
        login: bool = True,
    ) -> Person:
        """A new browser of somebody, logged in by a one-time link unless told otherwise."""
        width, height = screen.value
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=mode,
            reduced_motion="reduce",
            is_mobile=screen is Screen.PHONE,
            has_touch=screen is Screen.PHONE,
            locale="en-US",
            timezone_id="UTC",
        )
        context.set_default_timeout(PATIENCE)
        came = cls(page=context.new_page(), place=place, screen=screen, context=context)
        cls.here.append(came)
        came.page.on("console", came._hear)
        came.page.on("pageerror", lambda error: came._errors.append(str(error)))
        if login:
            came.page.goto(place.link(name))
            expect(came.heading("Clusters")).to_be_visible()
        return came

    @property
    def house(self) -> UiHouse:
        assert isinstance(self.place, UiHouse)
        return self.place

    def go(self, path: str, title: str) -> None:
        self.page.goto(f"{self.place.url}{path}")
        expect(self.heading(title)).to_be_visible()

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", level=1, name=name, exact=True)

    def look(self, mode: Mode) -> None:
        """As somebody whose system is set to light or dark."""
        self.page.emulate_media(color_scheme=mode)

    def shot(self, name: str) -> Path:
        """A picture of the whole page, in build/screenshots: as on a screen that is high enough."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}-{self.screen.name.lower()}.png"
        width, height = self.screen.value
        whole = min(max(height, self.page.evaluate("document.documentElement.scrollHeight")), HIGHEST)
        self.page.set_viewport_size({"width": width, "height": whole})
        self.page.screenshot(path=path, animations="disabled")
        self.page.set_viewport_size({"width": width, "height": height})
        return path

    def check(self, name: str) -> None:
        """Everybody can use what is shown, in light and dark, and nothing is wider than the screen. In the dark only
        what colours decide is looked at again: the rest of the page is the same."""
        rules: dict[Mode, dict[str, Any]] = {
            "light": {"type": "tag", "values": RULES},
            "dark": {"type": "rule", "values": COLOUR_RULES},
        }
        for mode, only in rules.items():
            self.look(mode)
            self.shot(f"{name}-{mode}")
            found = self.violations(only)
            assert found == [], f"{name}, {mode}:\n" + "\n".join(found)
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= self.screen.value[0], f"{name} is {wide} pixels wide"
        self.look("light")

    def violations(self, only: dict[str, Any]) -> list[str]:
        """What axe-core finds, one line each. `only`: its `runOnly`."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())  # past the page's own policy, which lets no inline script in
        options = {"runOnly": only, "resultTypes": ["violations"]}  # what is well is looked at, and not written down
        found: dict[str, Any] = self.page.evaluate(f"axe.run(document, {json.dumps(options)})")
        return [
            f"{one['id']}: {one['help']}: {node['html'][:300]} {node.get('failureSummary', '')}"
            for one in found["violations"]
            for node in one["nodes"]
        ]

    def leave(self) -> None:
        self.here[:] = [other for other in self.here if other is not self]
        self.context.close()
        assert self._errors == [], "the page told errors"

    def forgive(self, text: str) -> None:
        """An error that belongs to what is tested; the browser writes one for each answer above 399."""
        self._errors[:] = [error for error in self._errors if text not in error]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._errors.append(message.text)
