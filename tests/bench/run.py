"""All benches, one table: `python tests/bench/run.py [--only NAME] [--full] [--json]`.

Every reference is measured in the same run on the same machine. A goal that is not met is shown as not met.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from tests.bench.measuring import machine  # noqa: E402  # run as a script, by its path
from tests.bench.rows import Row, Size  # noqa: E402

BENCHES = tuple(sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")))


def main() -> int:
    asked = _arguments()
    size = Size.FULL if asked.full else Size.TINY if asked.tiny else Size.NORMAL
    about, rows, broken = machine(), list[Row](), list[str]()
    for name in asked.only or BENCHES:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            rows += bench(name)(size)
        except Exception:  # one bench that fails must not hide the others
            traceback.print_exc()
            broken.append(name)
    if asked.json:
        shown = {"machine": about, "size": size.name.lower(), "rows": [r.as_json() for r in rows], "broken": broken}
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        show(rows, about)
    for name in broken:
        print(f"bench {name} did not run", file=sys.stderr)
    return 1 if broken else 0


def bench(name: str) -> Callable[[Size], list[Row]]:
    found: Callable[[Size], list[Row]] = importlib.import_module(f"tests.bench.bench_{name}").main
    return found


def show(rows: Sequence[Row], about: str = "") -> None:
    """The table, and notes below it."""
    if about:
        print(about)
    titles = ("bench", "measured", "reference", "ratio", "goal", "met")
    cells = [titles, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(titles))]
    for number, line in enumerate(cells):
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
    for row in rows:
        if row.note or row.against:
            print(f"- {row.bench}: {'; '.join(filter(None, [row.against and f'against {row.against}', row.note]))}")


def _cells(row: Row) -> tuple[str, ...]:
    reference = "" if row.reference is None else _number(row.reference, row.unit)
    ratio = "" if row.ratio is None else f"{row.ratio:.3g} ×"
    met = {True: "yes", False: "no", None: ""}[row.met]
    return row.bench, _number(row.measured, row.unit), reference, ratio, row.goal_text, met


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 1000 or value == int(value) else f"{value:.3g} {unit}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=BENCHES, metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--full", action="store_true", help="the large sizes too; many minutes")
    parser.add_argument(
        "--tiny", action="store_true", help="only to see that all benches work; the numbers say nothing"
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
