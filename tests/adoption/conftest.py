"""Fixtures of the tests of adoption."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adoption.byhand import ByHand
from tests.engine_support import Sandbox, Site, chart, engine_cloud, make_site, site

__all__ = ["chart", "engine_cloud", "site"]


@pytest.fixture
def hand(site: Site) -> ByHand:
    """The account of the site, in which somebody works by hand."""
    return ByHand(site.sandbox)


@pytest.fixture(scope="module")
def finished(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Site, ByHand]]:
    """A site beside a whole cluster made by hand, for tests that only plan."""
    with pytest.MonkeyPatch.context() as patch:
        made = make_site(engine_cloud, chart, tmp_path_factory.mktemp("finished"), patch)
        hand = ByHand(made.sandbox)
        hand.all()
        hand.control_plane(name="other", addons=(), chart=False)
        hand.control_plane(name="closed", mode="CONFIG_MAP", addons=(), chart=False)
        yield made, hand
        made.close()
