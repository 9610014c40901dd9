"""The pages in chromium: how long frames take while one scrolls through many nodes, how many lines of them are made,
and how much the first page weighs. The nodes are answered here; everything else is the service."""

from __future__ import annotations

import gzip
import statistics
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, Route, sync_playwright

from tests.api.apibox import make
from tests.bench.rows import Goal, Row, Size
from tests.ui.chromium import CHROMIUM, FLAGS
from tests.ui.first_page import first_page
from tests.ui.house import UiHouse
from web.ui_files import BUILT

_FRAME: Final = 50.0  # milliseconds: a longer one is seen as a halt
_EMPTY: Final = 5.0  # percent: rows are made between frames, so a long frame is traded for a late line
_LINES: Final = 80
_FIRST: Final = 400.0  # kB
# Frames with the wheel turning, from the top to the bottom and back; and as many of a page that rests. `empty`: in how
# many of them there was no line yet in the middle of the screen.
_SCROLL: Final = """
async ([frames, step]) => {
  const times = [];
  let most = 0;
  let empty = 0;
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < frames; frame += 1) {
    scrollBy(0, frame < frames / 2 ? step : -step);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
    const seen = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    if (seen?.closest(".windowed") != null && seen.closest("tr") == null) empty += 1;
    if (frame % 10 === 0) most = Math.max(most, document.querySelectorAll("tbody > tr").length);
  }
  return { times, most, empty };
}
"""


def main(size: Size = Size.NORMAL) -> list[Row]:
    counts = [100] if size is Size.TINY else [500, 5000]
    frames = 40 if size is Size.TINY else 400
    if CHROMIUM is None or not (BUILT / "index.html").is_file():
        raise RuntimeError("chromium and the built pages are needed: make setup, apt-get install chromium")
    rows = [_weight()]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        house = UiHouse(make(Path(folder)))
        house.clusters("prod")
        house.settle()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            for count in counts:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.set_default_timeout(120_000)
                page.goto(house.link())
                page.get_by_role("heading", level=1, name="Clusters", exact=True).wait_for()
                rows += _scrolled(page, house, count, frames)
                page.close()
        finally:
            browser.close()
            house.close()
    return rows


def _scrolled(page: Page, house: UiHouse, count: int, frames: int) -> list[Row]:
    def answer(route: Route) -> None:
        route.fulfill(json={"items": [_node(number) for number in range(count)], "next": None, "parts": []})

    page.route("**/api/v1/clusters/prod/nodes*", answer)
    page.goto(f"{house.url}/clusters/prod?tab=nodes")
    page.get_by_role("heading", name=f"Nodes ({count})").wait_for()
    resting: Any = page.evaluate(_SCROLL, [frames, 0])
    found: Any = page.evaluate(_SCROLL, [frames, 240])
    worst = statistics.quantiles(found["times"], n=20)[-1]
    late = sum(time > _FRAME for time in found["times"])
    return [
        Row(
            bench=f"scroll through {count} nodes: a frame, the 95th of a hundred",
            measured=worst,
            unit="ms",
            reference=statistics.quantiles(resting["times"], n=20)[-1],
            against="frames of the same page while it rests",
            goal=Goal.AT_MOST,
            limit=_FRAME,
            note=f"median {statistics.median(found['times']):.1f} ms, longest {max(found['times']):.0f} ms,"
            f" {late} of {frames} above {_FRAME:.0f} ms, 240 pixels a frame",
        ),
        Row(
            bench=f"scroll through {count} nodes: frames with no line yet in the middle",
            measured=100 * found["empty"] / frames,
            unit="%",
            goal=Goal.AT_MOST,
            limit=_EMPTY,
            note="240 pixels a frame: faster than a hand turns a wheel",
        ),
        Row(
            bench=f"scroll through {count} nodes: lines that are made, at most",
            measured=found["most"],
            unit="lines",
            goal=Goal.AT_MOST,
            limit=_LINES,
        ),
    ]


def _weight() -> Row:
    files = first_page(BUILT)
    return Row(
        bench="first page: JavaScript as gzip",
        measured=sum(len(gzip.compress(path.read_bytes(), 9)) for path in files) / 1000,
        unit="kB",
        goal=Goal.AT_MOST,
        limit=_FIRST,
        note=f"{len(files)} files",
    )


def _node(number: int) -> dict[str, Any]:
    name = f"i-{number:017x}"
    ready = number % 17 != 0
    node: dict[str, Any] = {"name": name, "ready": ready, "takes_pods": True, "faults": [], "kubelet": "v1.33.1"}
    return {
        "id": name,
        "instance": name,
        "group": f"group-{number % 7}",
        "instance_type": "ml.p5.48xlarge",
        "zone_id": "usw2-az2",
        "gpus": 8,
        "gpus_used": number % 9,
        "pods": number % 5,
        "machine": {"status": "Running"},
        "node": node,
    }


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
