"""A sandbox of its own for the campaigns: faults know no accounts, so nobody else may be in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconciler.live.aws.sessions import Patience
from tests.engine_support import Sandbox, Site, chart, engine_cloud, make_site

__all__ = ["chart", "engine_cloud"]

HURRIED = Patience(connect=20, read=60, mutate=60, attempts=1)


def _no_pause(_seconds: float) -> None:
    """Tries of a read follow at once."""


@pytest.fixture(scope="module")
def make(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Site]]:
    """Sites in accounts of their own, whose reads fail at the first failure."""
    made: list[Site] = []
    with pytest.MonkeyPatch.context() as patch:

        def site() -> Site:
            where: Path = tmp_path_factory.mktemp("site")
            found = make_site(engine_cloud, chart, where, patch)
            found.patience, found.pause = HURRIED, _no_pause
            made.append(found)
            return found

        yield site
        for one in made:
            one.close()
        engine_cloud.delete("/faults")
