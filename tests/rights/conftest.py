"""A cluster on which the reconciler is no administrator: it has the roles that it ships, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine_support import Sandbox, chart, engine_cloud, make_site
from tests.rights.lowered import Lowered

__all__ = ["chart", "engine_cloud"]


@pytest.fixture(scope="module")
def lowered(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lowered]:
    """Lowered as soon as the API is there, so that the chart and everything after it are made with these rights."""
    with pytest.MonkeyPatch.context() as patch:
        made = Lowered(make_site(engine_cloud, chart, tmp_path_factory.mktemp("lowered"), patch))
        yield made
        made.close()
