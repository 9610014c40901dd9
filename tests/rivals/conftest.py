"""Fixtures of the rivals' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine_support import chart, engine_cloud, site
from tests.rivals.rivalry import Rival, copy_of

__all__ = ["chart", "engine_cloud", "site"]


@pytest.fixture
def rig(beginning: Rival, tmp_path: Path) -> Iterator[Rival]:
    """A copy of the world that a file begins with."""
    made = copy_of(beginning, tmp_path)
    yield made
    made.close()
