"""What a bench answers: one row per number, with its goal and with the reference measured in the same run."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class Size(enum.IntEnum):
    """How much is measured: TINY only shows that the bench works, FULL may take many minutes."""

    TINY = 0
    NORMAL = 1
    FULL = 2


class Goal(enum.Enum):
    FASTER = "≥ {limit:g} × the reference"  # reference / measured
    SHARE = "≤ {limit:g} × the reference"  # measured / reference
    AT_MOST = "≤ {limit:g} {unit}"  # measured
    SAME = "= the reference"
    NONE = "–"  # only shown


@dataclass(frozen=True, kw_only=True)
class Row:
    """`measured` and `reference` are in `unit`. `reference` None: the goal is a number by itself."""

    bench: str
    measured: float
    unit: str
    reference: float | None = None
    against: str = ""
    goal: Goal = Goal.NONE
    limit: float = 0.0
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """As the goal counts: the share of the reference, else how often the measured fits into it."""
        if self.reference is None or not self.measured or not self.reference:
            return None
        return self.measured / self.reference if self.goal is Goal.SHARE else self.reference / self.measured

    @property
    def goal_text(self) -> str:
        return self.goal.value.format(limit=self.limit, unit=self.unit)

    @property
    def met(self) -> bool | None:
        match self.goal:
            case Goal.FASTER:
                return self.reference is not None and self.reference >= self.limit * self.measured
            case Goal.SHARE:
                return self.reference is not None and self.measured <= self.limit * self.reference
            case Goal.AT_MOST:
                return self.measured <= self.limit
            case Goal.SAME:
                return self.measured == self.reference
            case Goal.NONE:
                return None

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": self.bench,
            "measured": self.measured,
            "unit": self.unit,
            "reference": self.reference,
            "against": self.against,
            "ratio": self.ratio,
            "goal": self.goal_text,
            "met": self.met,
            "note": self.note,
        }
