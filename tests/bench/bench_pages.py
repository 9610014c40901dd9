"""Pages in a browser: how soon the first one can be used, how soon what the journal says is shown; and a log of 50,000
lines: how soon it is there, how even it scrolls, and what it holds when far more came.

A frame takes what the browser lets it take: the reference is a list of 200 plain lines that scrolls the same way in the
same browser, and all lines in one document, as a page without windowing would have them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.api.apibox import make
from tests.api.livebox import LiveBox, pod
from tests.bench.bench_reads import service
from tests.bench.rows import Goal, Row, Size
from tests.ui.chromium import CHROMIUM, FLAGS
from tests.ui.house import UiHouse
from web.ui_files import BUILT

START: Final = 1772359200.0
KEPT: Final = 50_000  # lines that a page keeps
STEP: Final = 240  # pixels a frame: as fast as a wheel turns
USABLE: Final = 1.5  # seconds
SHOWN: Final = 300.0  # milliseconds
WAIT: Final = 180_000  # milliseconds
LINE: Final = "{number:06} INFO rank 3 step {number} loss 2.31 tokens/s 182340 {more}"

# When the first thing on the page is another one, as milliseconds since 1970.
DRAWN: Final = """() => {
  delete document.body.dataset.drawn;
  new MutationObserver((_, observer) => {
    document.body.dataset.drawn = String(Date.now());
    observer.disconnect();
  }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
}"""

# How long each frame took while an element was scrolled, and in how many nothing was drawn in its middle.
SCROLL: Final = """async ([selector, row, step, count]) => {
  const box = document.querySelector(selector);
  box.scrollTop = 0;
  const frame = () => new Promise(requestAnimationFrame);
  for (let index = 0; index < 10; index += 1) await frame();
  const { left, top, width, height } = box.getBoundingClientRect();
  const took = [];
  let blank = 0;
  let before = await frame();
  for (let index = 0; index < count; index += 1) {
    box.scrollTop += step;
    const now = await frame();
    took.push(now - before);
    before = now;
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    if (seen?.closest(row) == null) blank += 1;
  }
  return { took, blank };
}"""


def main(size: Size = Size.NORMAL) -> list[Row]:
    """Raises RuntimeError where there is no browser, or the pages are not built."""
    if CHROMIUM is None or not (BUILT / "index.html").is_file():
        raise RuntimeError("a browser and the built pages are needed: apt-get install chromium; make setup")
    lines, frames = (2000, 30) if size is Size.TINY else (KEPT, 600)
    with (
        tempfile.TemporaryDirectory() as folder,
        service(Path(folder), 1) as (box, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            return [*_soon(Path(folder) / "soon", browser, size), *_measured(box, browser, lines, frames)]
        finally:
            browser.close()


def _soon(folder: Path, browser: Browser, size: Size) -> list[Row]:
    """Both clocks are this machine's. What is shown soon counts the tick that writes it, too."""
    folder.mkdir()
    house = UiHouse(make(folder))
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(WAIT)
    try:
        house.clusters("prod", "research")
        house.tick()
        usable = {"with the log-in": _usable(page, house.link()), "again": _usable(page, house.url)}
        times = 2 if size is Size.TINY else 6
        shown = [_shown(page, house) for _ in range(times)]
    finally:
        page.close()
        house.close()
    return [
        *(
            Row(bench=f"first page, {visit}: usable", measured=took, unit="s", goal=Goal.AT_MOST, limit=USABLE)
            for visit, took in usable.items()
        ),
        Row(
            bench="from a line in the journal to the open page, the longest",
            measured=max(shown) * 1000,
            unit="ms",
            goal=Goal.AT_MOST,
            limit=SHOWN,
            note=f"median {statistics.median(shown) * 1000:.0f} ms of {times}, the tick that writes it counted",
        ),
    ]


def _usable(page: Page, address: str) -> float:
    """Seconds from opening an address to a list that can be used."""
    began = time.perf_counter()
    page.goto(address)
    expect(page.get_by_role("link", name="research")).to_be_visible(timeout=WAIT)
    return time.perf_counter() - began


def _shown(page: Page, house: UiHouse) -> float:
    """Seconds from the begin of a tick that writes a line to the first difference on the page."""
    page.wait_for_timeout(500)  # what came before is drawn
    page.evaluate(DRAWN)
    rig = house.box.rig
    before, began = len(rig.lines()), 0.0
    for _ in range(50):
        began = time.time()
        rig.tick(30)
        if len(rig.lines()) > before:
            break
    else:
        raise RuntimeError("the engine had nothing more to write before enough was measured")
    house.box.house.watch.ring()
    drawn = page.locator("body[data-drawn]")
    expect(drawn).to_have_count(1, timeout=WAIT)
    return int(drawn.get_attribute("data-drawn") or 0) / 1000 - began


def _measured(box: LiveBox, browser: Browser, lines: int, frames: int) -> list[Row]:
    box.apply(pod("bench", gpus=1))
    write(box, 0, lines)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(WAIT)
    page.goto(UiHouse(box.api).link())
    expect(page.get_by_role("heading", level=1, name="Clusters")).to_be_visible(timeout=WAIT)
    heap: Any = page.context.new_cdp_session(page)
    heap.send("Performance.enable")
    empty = held(heap)
    began = time.perf_counter()
    page.goto(f"{box.api.url}/clusters/prod/pods/default/bench?from=all")
    seen(page, lines - 1)
    opened = time.perf_counter() - began
    full = held(heap)
    scrolled = page.evaluate(SCROLL, ["[role=log]", ".log-line", STEP, frames])
    page.get_by_role("log").press("End")
    write(box, lines, 3 * lines)
    seen(page, 3 * lines - 1)
    bounded = held(heap)
    page.close()
    few, all_of_them = plain(browser, 200, frames), plain(browser, lines, frames)
    return [
        Row(bench=f"a log of {lines:,} lines: opened until the last is shown", measured=opened, unit="s"),
        Row(
            bench=f"a log of {lines:,} lines: scrolled, p95 of a frame",
            measured=p95(scrolled["took"]),
            unit="ms",
            reference=p95(few["took"]),
            against="200 plain lines in the same browser",
            goal=Goal.SHARE,
            limit=1.5,
            note=f"{in_words(scrolled)}; 200 plain lines: {in_words(few)}; "
            f"all in the document: {in_words(all_of_them)}, p95 {p95(all_of_them['took']):.1f} ms",
        ),
        Row(
            bench=f"a log of {lines:,} lines: memory of the page",
            measured=max(0.1, full - empty),
            unit="MB",
            goal=Goal.AT_MOST,
            limit=60,
            note=f"{empty:.1f} MB before it was opened",
        ),
        Row(
            bench=f"a log of {3 * lines:,} lines, of which the newest {min(KEPT, 3 * lines):,} are kept: memory",
            measured=bounded,
            unit="MB",
            reference=full,
            against=f"{lines:,} lines",
            goal=Goal.SHARE,
            limit=1.25 if lines == KEPT else 3.0,
        ),
    ]


def write(box: LiveBox, first: int, end: int) -> None:
    """Every tenth line takes several rows."""
    texts = (LINE.format(number=number, more="x" * (400 if number % 10 == 0 else 20)) for number in range(first, end))
    box.server.log("default", "bench", *texts, at=START)


def seen(page: Page, number: int) -> None:
    """Until the line of that number is drawn."""
    last = page.locator(".log-drawn .log-text").filter(has_text=f"{number:06} INFO")
    expect(last).to_be_visible(timeout=WAIT)


def held(heap: Any) -> float:
    """MB of JavaScript that nothing can let go of."""
    heap.send("HeapProfiler.collectGarbage")
    told: list[dict[str, Any]] = heap.send("Performance.getMetrics")["metrics"]
    metrics = {one["name"]: one["value"] for one in told}
    return float(metrics["JSHeapUsedSize"]) / 1024**2


def plain(browser: Browser, lines: int, frames: int) -> Any:
    """Lines that are all in the document, nothing else beside them."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(WAIT)
    rows = "".join(f"<div class=row>{LINE.format(number=number, more='x' * 20)}</div>" for number in range(lines))
    page.set_content(f"<div id=box style='height:400px;overflow:auto;font:12px monospace'>{rows}</div>")
    step = STEP if lines > 1000 else 4  # so that it does not come to its end
    found = page.evaluate(SCROLL, ["#box", ".row", step, frames])
    page.close()
    return found


def p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def in_words(found: Any) -> str:
    took = found["took"]
    late = sum(1 for one in took if one > 1.5 * statistics.median(took))
    return (
        f"{len(took)} frames, median {statistics.median(took):.1f} ms, {late} late, "
        f"longest {max(took):.0f} ms, {found['blank']} empty"
    )
