"""Kubernetes quantities: 12000m, 12 and "12" are one amount; 1G and 1Gi are not."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_FORM = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d{1,3})|(m|u|n|k|[MGTPE]i?|Ki))?")
_FACTOR: dict[str, Decimal] = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
    "P": Decimal("1e15"),
    "E": Decimal("1e18"),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}

# Maps from a resource's name to an amount, and fields that are an amount by themselves.
_MAPS: frozenset[str] = frozenset(
    (
        "limits",
        "requests",
        "capacity",
        "allocatable",
        "hard",
        "used",
        "overhead",
        "podFixed",
        "default",
        "defaultRequest",
        "max",
        "min",
        "maxLimitRequestRatio",
        "minResources",
        "quotas",
    )
)
_FIELDS: frozenset[str] = frozenset(
    (
        "cpu",
        "memory",
        "storage",
        "ephemeral-storage",
        "nominalQuota",
        "borrowingLimit",
        "lendingLimit",
        "sizeLimit",
        "divisor",
        "averageValue",
        "shmSize",
    )
)


def parse_quantity(value: Any) -> Decimal | None:
    """The amount, or None if it is no quantity."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return Decimal(str(value))
    if not isinstance(value, str):
        return None
    found = _FORM.fullmatch(value.strip())
    if found is None:
        return None
    number, exponent, suffix = found.groups()
    amount = Decimal(number + (exponent or ""))
    return amount * _FACTOR[suffix] if suffix else amount


def equal_quantities(one: Any, other: Any) -> bool:
    """Whether both are quantities of the same amount."""
    first, second = parse_quantity(one), parse_quantity(other)
    return first is not None and first == second


def holds_quantities(parent: str, key: str) -> bool:
    """Whether the value at `key` inside `parent` is an amount wherever Kubernetes and its operators use these names."""
    return parent in _MAPS or key in _FIELDS
