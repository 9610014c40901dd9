"""A life in which nothing goes wrong: the list of changing calls that the campaigns go through."""

from __future__ import annotations

from collections.abc import Callable

from tests.engine_support import Site
from tests.faults.campaign import kept, kinds, mutating, recorded
from tests.faults.life import nothing_left


def test_the_campaigns_know_every_kind_of_changing_call(make: Callable[[], Site]) -> None:
    """A new kind stands in the list from here on, and so meets every fault."""
    site = make()
    found = kinds(mutating(recorded(site)))
    assert nothing_left(site) == []
    kept("calls", "".join(f"{kind}\n" for kind in sorted(found)))
