"""Kubernetes quantities: `500m`, `12`, `64Gi`. One type for all of them, compared by what they mean.

0.5 is 500m and 12000m is 12, but 1000M is neither 1000Mi nor 1Gi.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

PATTERN: Final = r"^[+-]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]{1,3})?$"
BYTES_PATTERN: Final = r"^[1-9][0-9]*(\.[0-9]+)?(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)$"

_FORM = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?(?:[eE]([+-]?[0-9]{1,3}))?"
)
_FACTORS: Final[dict[str, Decimal]] = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)},
}


class NotAQuantity(ValueError):
    """The text is none; its message says what was given."""


def parse(text: str | int | float) -> Decimal:
    """The number a quantity stands for, exactly. Raises NotAQuantity."""
    match = _FORM.fullmatch(str(text))
    if match is None or (match[2] and match[3]):
        raise NotAQuantity(f"{text!r} is no quantity such as 500m, 2 or 64Gi")
    value = Decimal(match[1]) * _FACTORS[match[2] or ""]
    return value.scaleb(int(match[3])) if match[3] else value


def same(one: str | int | float, other: str | int | float) -> bool:
    """Whether two spellings mean one amount."""
    return parse(one) == parse(other)
