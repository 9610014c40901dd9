"""`box`: cluster prod is up, with groups workers (2) and spare (1). `bare`: the same documents, never applied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.changes.changebox import ChangeBox, make
from tests.engine.fakes import cluster_yaml, group_yaml


@pytest.fixture
def box(tmp_path: Path) -> Iterator[ChangeBox]:
    made = make(tmp_path).settled()
    yield made
    made.rig.close()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[ChangeBox]:
    made = make(tmp_path)
    groups = group_yaml("workers", 2) + "---\n" + group_yaml("spare", 1)
    made.rig.commit({"cluster": cluster_yaml(), "groups": groups})
    yield made
    made.rig.close()
