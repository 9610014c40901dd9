"""What the suite found, against what is expected of it. Pure.

A check is named `scenario:check`, a scenario of which nothing was examined `scenario`. Every one that is not well must
be expected, by its name or a pattern of names, with a reason; what is expected and does not happen is wrong as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

_WELL: Final = ("SUCCESS", "INFO", "SKIPPED")
_RUN: Final = re.compile(r"^(?:server-)?(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")
Checks = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`passed`, `expected`: how many checks. `wrong`: sentences; none: it is as it should be."""

    scenarios: int
    passed: int
    expected: int
    wrong: tuple[str, ...]


def scenario_of(folder: str) -> str:
    """The scenario whose results are in a folder of this name. Raises ValueError."""
    found = _RUN.match(folder)
    if found is None:
        raise ValueError(f"{folder!r} is no folder of results")
    return found["scenario"]


def judged(scenarios: Mapping[str, Checks], expected: Mapping[str, str], listed: Sequence[str]) -> Verdict:
    """`expected`: reasons by name or pattern; `listed`: the scenarios that should have been run."""
    passed, bad = 0, dict[str, str]()
    for scenario, checks in scenarios.items():
        well = sum(1 for check in checks if check["status"] == "SUCCESS")
        passed += well
        for check in checks:
            if check["status"] not in _WELL:
                said = check.get("errorMessage") or check.get("description") or "no word"
                bad[f"{scenario}:{check['id']}"] = f"{check['status']}: {said}"
        if not well and not any(name.startswith(f"{scenario}:") for name in bad):
            bad[scenario] = "nothing of it was examined"
    wrong = [f"{name}: not run" for name in listed if name not in scenarios]
    wrong += [f"{name}: {said}" for name, said in bad.items() if not any(fnmatchcase(name, one) for one in expected)]
    wrong += [
        f"{one}: expected not to pass, and does: take it out of expected.yaml"
        for one in expected
        if not any(fnmatchcase(name, one) for name in bad)
    ]
    return Verdict(scenarios=len(scenarios), passed=passed, expected=len(bad), wrong=tuple(wrong))
