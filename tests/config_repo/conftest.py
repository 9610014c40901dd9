from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config_repo.answering import Answering
from tests.config_repo.gitbox import GitBox


@pytest.fixture
def box(tmp_path: Path) -> Iterator[GitBox]:
    made = GitBox(tmp_path)
    yield made
    made.close()


@pytest.fixture
def answering() -> Iterator[Answering]:
    made = Answering()
    yield made
    made.close()
