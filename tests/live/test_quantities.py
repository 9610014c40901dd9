"""Amounts: equal by value, whatever the form."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.live.kube.quantities import equal_quantities, parse_quantity

PAIRS: list[tuple[Any, Any, bool]] = [
    ("0.5", "500m", True),
    (1, "1000m", True),
    ("1", 1, True),
    ("3072Mi", "3Gi", True),
    ("1000M", "1G", True),
    ("12000m", "12", True),
    ("30000m", 30, True),
    ("1e3", "1k", True),
    ("1E3", "1k", True),
    ("1E", "1e18", True),
    ("1000M", "1000Mi", False),
    ("1000Mi", "1Gi", False),
    ("1G", "1Gi", False),
    ("1", "1m", False),
    ("abc", "abc", False),
    ("", "", False),
    (True, 1, False),
    (None, None, False),
    ("1KB", "1k", False),
]


@pytest.mark.parametrize(("one", "other", "equal"), PAIRS)
def test_pairs(one: Any, other: Any, equal: bool) -> None:
    """B01, R07."""
    assert equal_quantities(one, other) is equal


@given(st.integers(-(10**9), 10**9))
def test_milli_is_a_thousandth(amount: int) -> None:
    assert parse_quantity(f"{amount}m") == Decimal(amount) / 1000
    assert equal_quantities(f"{amount * 1000}m", amount)


@given(st.text(max_size=12))
def test_any_text_is_an_amount_or_none(text: str) -> None:
    assert parse_quantity(text) is None or isinstance(parse_quantity(text), Decimal)
