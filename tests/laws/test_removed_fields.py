"""Every field of every document, as its own metadata describes it: written, applied and removed again, it is back at
its default. A new field is covered by being there."""

from __future__ import annotations

import pytest

from schemas.plan import Cost
from tests.laws.field_samples import optional_fields, pair
from tests.laws.paper import Paper, differing, meaning

# Removing these leaves things as they are, because only the cloud knows what the default is now (B07).
KEPT = {"/spec/dependencies/addons/*/version"}


@pytest.mark.parametrize(("kind", "pointer"), optional_fields())
def test_a_field_that_is_removed_is_back_at_its_default(kind: str, pointer: str) -> None:
    """Also if a revision in between had no time, and whatever is written at the default is no difference (B04)."""
    written, plain, cost = pair(kind, pointer)
    fresh = Paper()
    fresh.converge(plain)
    for between in ((), (plain,)):
        paper = Paper()
        paper.converge(plain)
        first = paper.converge(written, plain)
        if first.refusals:
            assert cost.cost is Cost.REFUSED, f"{pointer} is refused: {first.refusals[0].message}"
            paper = Paper()
            assert not paper.converge(written).refusals
        before = meaning(paper)
        left = paper.converge(plain, written, *between)
        if left.refusals:
            assert cost.cost is Cost.REFUSED, f"{pointer} cannot be removed: {left.refusals[0].message}"
            assert all(refusal.way_out for refusal in left.refusals)
            assert paper.converge(written, written, *between, plain).empty, "putting it back heals"
        elif pointer in KEPT:
            assert meaning(paper) == before
        else:
            assert not list(differing(meaning(paper), meaning(fresh))), pointer
        assert not paper.plan(written if left.refusals else plain, written).actions
