"""Waiting for what happens by itself, with a patience that only a failure uses up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

PATIENCE = 120.0  # real seconds; a machine that is busy with much else may be ten times slower


def until(look: Callable[[], Seen], wanted: Callable[[Seen], object] = bool, *, pause: float = 0.02) -> Seen:
    """Look until it is as wanted, and return what was seen."""
    end = time.monotonic() + PATIENCE
    while not wanted(seen := look()):
        assert time.monotonic() < end, f"not as wanted in {PATIENCE:.0f} s: {seen}"
        time.sleep(pause)
    return seen
