"""The limits that the services state about themselves, from the committed extract (`schemas.extract`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

_LIMITS: Final[dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("hyperpod_limits.json").read_text(encoding="utf-8")
)["limits"]


def enum(name: str) -> tuple[str, ...]:
    """The values of an enumeration, in the model's order."""
    return tuple(_LIMITS[name]["enum"])


def pattern(name: str) -> str:
    """The pattern for the whole value, usable in pydantic and in JSON Schema. Digits are ASCII digits."""
    written: str = _LIMITS[name]["pattern"]
    return f"^(?:{written.removeprefix('^')})$".replace("\\d", "[0-9]")


def smallest(name: str) -> int:
    """Smallest number, or shortest length."""
    return int(_LIMITS[name]["min"])


def largest(name: str) -> int:
    """Largest number, or greatest length."""
    return int(_LIMITS[name]["max"])
