"""Quantities, instance types, Regions: small tables of facts."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import instance_types, quantities
from schemas.documents import regions

SAME = [("0.5", "500m"), (1, "1000m"), ("1", 1), ("3072Mi", "3Gi"), ("1000M", "1G"), ("12000m", "12"), ("1e3", "1k")]
DIFFERENT = [("1000M", "1000Mi"), ("1000M", "1Gi"), ("1G", "1Gi"), ("1", "1m"), ("64", "64Gi")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_by_meaning(one: str | int, other: str | int) -> None:
    """B01, R07: other spellings of one amount are no drift."""
    assert quantities.same(one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str) -> None:
    assert not quantities.same(one, other)


@pytest.mark.parametrize("text", ["", "Gi", "1 Gi", "1GB", "1e3Gi", "1,5", "--1", "\uff11", "1e9999"])
def test_no_quantity(text: str) -> None:
    with pytest.raises(quantities.NotAQuantity):
        quantities.parse(text)


@settings(deadline=None)
@given(st.integers(0, 10**15), st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi"]))
def test_exact(number: int, unit: str) -> None:
    assert quantities.parse(f"{number}{unit}") == number * quantities.parse(f"1{unit}")
    assert quantities.parse("1Gi") == Decimal(1024) ** 3


@pytest.mark.parametrize(
    ("name", "efa", "accelerators"),
    [
        ("ml.p5.48xlarge", 32, 8),
        ("ml.p5en.48xlarge", 16, 8),
        ("ml.g5.2xlarge", 0, 1),
        ("ml.g5.8xlarge", 1, 1),
        ("ml.g6e.48xlarge", 4, 8),
        ("ml.trn1.32xlarge", 8, 16),
        ("ml.m5.2xlarge", 0, 0),
        ("ml.c5n.18xlarge", 1, 0),
        ("ml.g7.48xlarge", None, None),
        ("ml.p6e-gb200.36xlarge", None, 4),
    ],
)
def test_what_types_have(name: str, efa: int | None, accelerators: int | None) -> None:
    assert instance_types.exists(name)
    assert (instance_types.efa_interfaces(name), instance_types.accelerators(name)) == (efa, accelerators)


def test_every_type_of_the_model_is_told_by_family() -> None:
    accelerated = {name.split(".")[1] for name in instance_types.NAMES if instance_types.is_accelerated(name)}
    assert {"p5", "p4de", "p6-b200", "p6e-gb200", "g4dn", "g5", "g6e", "g7", "g7e", "gr6", "trn2"} <= accelerated
    assert not accelerated & {"c6g", "m7g", "m6g", "c5", "t3", "i3en", "r5d", "c8g"}


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-west-2", "usw2"),
        ("us-east-1", "use1"),
        ("eu-central-1", "euc1"),
        ("ap-northeast-1", "apne1"),
        ("ap-southeast-2", "apse2"),
        ("ap-south-1", "aps1"),
        ("us-gov-west-1", "usgw1"),
    ],
)
def test_zone_ids(region: str, prefix: str) -> None:
    assert regions.zone_id_prefix(region) == prefix
    assert regions.holds(region, f"{prefix}-az1")
    assert regions.holds(region, f"{region}a")
    assert not regions.holds(region, "xx-other-1a")
