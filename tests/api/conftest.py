"""Fixtures of the API's tests. `api` is a whole service; see `apibox.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.apibox import ApiBox, make


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiBox]:
    box = make(tmp_path)
    yield box
    box.close()
