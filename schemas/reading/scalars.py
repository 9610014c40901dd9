"""Plain scalars of YAML 1.2's core schema: what is a number, a truth value, nothing, or simply text.

`yes`, `no`, `on`, `off`, dates and `0777` are not special: text, text, and the number 777.
"""

from __future__ import annotations

import math
import re
from typing import Final

WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBER_STARTS: Final = frozenset("0123456789+-.")

_DECIMAL = re.compile(r"[-+]?[0-9]+\Z", re.ASCII)
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_INT64: Final = 2**63


class NumberRefused(ValueError):
    """A number that no other program would read back as the same value."""


def number(text: str) -> int | float | str:
    """The number that `text` is, or `text` itself. Raises NumberRefused for what JSON cannot carry."""
    if _DECIMAL.match(text):
        return _bounded(text, 10)
    if _OCTAL_OR_HEX.match(text):
        return _bounded(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.match(text):
        value = float(text)
        if not math.isfinite(value):
            raise NumberRefused(text)
        return value
    if _NOT_FINITE.match(text):
        raise NumberRefused(text)
    return text


def _bounded(digits: str, base: int) -> int:
    if len(digits) > 24:  # far outside 64 bits, and int() would refuse thousands of digits in its own words
        raise NumberRefused(digits)
    value = int(digits, base)
    if not -_INT64 <= value < _INT64:
        raise NumberRefused(digits)
    return value
