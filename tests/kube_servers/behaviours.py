"""The table of behaviours, made from the marks of tests: what the two Kubernetes APIs have in common, and what not.

`pytest --collect-only --behaviours=FILE` writes it. A test says with `behaviour("…")` what it is about (on its module,
class or function), with `simulated("why")` that it is not for the real server, with `real("why")` that it is for that
alone. A row counts tests, each case of a table by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

HEAD = """# What the simulated Kubernetes API has in common with the real one

Made by `make behaviours` from the marks of the tests; a test fails when it is stale. Numbers are tests that run on
that server, each case of a table by itself: where both columns have the same number, the same tests pass on both.

| behaviour | simulated | real |
|---|---|---|
"""


@dataclass
class Row:
    simulated: int = 0
    real: int = 0
    why_not_real: list[str] = field(default_factory=list[str])
    why_not_simulated: list[str] = field(default_factory=list[str])

    def cells(self) -> tuple[str, str]:
        return _cell(self.simulated, self.why_not_simulated), _cell(self.real, self.why_not_real)


def table(items: Iterable[pytest.Item]) -> str:
    """Rows in the order of their names; tests without the mark have none."""
    rows: dict[str, Row] = {}
    for item in items:
        mark = item.get_closest_marker("behaviour")
        if mark is None:
            continue
        row = rows.setdefault(str(mark.args[0]), Row())
        only_simulated, only_real = item.get_closest_marker("simulated"), item.get_closest_marker("real")
        if only_real is None:
            row.simulated += 1
        else:
            row.why_not_simulated.append(str(only_real.args[0]))
        if only_simulated is None:
            row.real += 1
        else:
            row.why_not_real.append(str(only_simulated.args[0]))
    lines = ["| " + " | ".join((name, *rows[name].cells())) + " |" for name in sorted(rows, key=str.casefold)]
    return HEAD + "\n".join(lines) + "\n"


def _cell(count: int, reasons: list[str]) -> str:
    told = "; ".join(dict.fromkeys(reasons))
    if not count:
        return f"– {told}"
    return f"{count} (not {len(reasons)}: {told})" if reasons else str(count)
