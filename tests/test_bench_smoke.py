"""Every bench runs and answers rows, with sizes that take seconds: the numbers say nothing here."""

from __future__ import annotations

import json

import pytest

from tests.bench.kube_objects import kubectl_path
from tests.bench.rows import Goal, Row, Size
from tests.bench.run import BENCHES, bench, show
from tests.kube_servers.assets import Missing, find
from tests.ui.chromium import CHROMIUM
from web.ui_files import BUILT

SLOW = frozenset({"path", "tick"})  # a whole sandbox each, which the engine's own tests drive already


@pytest.mark.parametrize("name", [name for name in BENCHES if name not in SLOW])
def test_a_bench_answers_rows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in ("apply", "diff", "real"):
        try:
            kubectl_path()
        except RuntimeError as missing:
            pytest.skip(str(missing))
    if name == "real":
        try:
            find()
        except Missing as missing:
            pytest.skip(str(missing))
    if name in ("lists", "pages") and (CHROMIUM is None or not (BUILT / "index.html").is_file()):
        pytest.skip("there is no chromium, or the pages are not built")
    rows = bench(name)(Size.TINY)
    assert rows
    json.dumps([row.as_json() for row in rows])
    show(rows)
    shown = capsys.readouterr().out
    assert all(row.bench in shown for row in rows)
    assert all(row.measured > 0 for row in rows)


@pytest.mark.parametrize("name", sorted(SLOW))
def test_a_slow_bench_is_there(name: str) -> None:
    assert callable(bench(name))


@pytest.mark.parametrize(
    ("goal", "measured", "reference", "limit", "met"),
    [
        (Goal.FASTER, 1.0, 10.0, 10.0, True),
        (Goal.FASTER, 1.0, 9.9, 10.0, False),
        (Goal.SHARE, 0.6, 1.0, 0.6, True),
        (Goal.SHARE, 0.7, 1.0, 0.6, False),
        (Goal.AT_MOST, 15.0, None, 15.0, True),
        (Goal.AT_MOST, 15.1, None, 15.0, False),
        (Goal.SAME, 50.0, 50.0, 0.0, True),
        (Goal.SAME, 51.0, 50.0, 0.0, False),
        (Goal.NONE, 1.0, 2.0, 0.0, None),
    ],
)
def test_whether_a_goal_is_met(
    goal: Goal, measured: float, reference: float | None, limit: float, met: bool | None
) -> None:
    assert Row(bench="x", measured=measured, unit="s", reference=reference, goal=goal, limit=limit).met is met
