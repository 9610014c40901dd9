"""Resource quantities, written the way the real server writes them back: 12000m is 12, 0.5 is 500m, 1024Mi is 1Gi."""

import re
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache

_TEXT = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$")
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO = Decimal("1e-9")
_WIDE = Context(prec=80)
_NAMES = {power: name for name, power in _DECIMAL.items()}


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The canonical form. ValueError if it is no quantity."""
    number, suffix = _split(text)
    if suffix in _BINARY:
        return _binary(number * 2 ** _BINARY[suffix])
    exponent = int(suffix[1:]) if suffix[:1] in ("e", "E") and len(suffix) > 1 else None
    value = _rounded(number * Decimal(10) ** (_DECIMAL[suffix] if exponent is None else exponent))
    return _decimal(value, exponential=exponent is not None)


@lru_cache(maxsize=4096)
def value(text: str) -> Decimal:
    """The amount in base units. ValueError if it is no quantity."""
    number, suffix = _split(text)
    if suffix in _BINARY:
        return number * Decimal(2 ** _BINARY[suffix])
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(_DECIMAL[suffix])


def _split(text: str) -> tuple[Decimal, str]:
    match = _TEXT.match(text)
    if match is None:
        raise ValueError(f"quantities must match the regular expression {_TEXT.pattern!r}: {text!r}")
    return Decimal(match[1]), match[2] or ""


def _rounded(number: Decimal) -> Decimal:
    """Nothing is finer than a nano; the rest is rounded away from zero."""
    return number.quantize(_NANO, rounding=ROUND_UP, context=_WIDE)


def _binary(number: Decimal) -> str:
    if number == 0:
        return "0"
    if number != number.to_integral_value() or abs(number) < 1024:
        # the real server falls back to decimal form for what binary cannot say
        return _decimal(_rounded(number), exponential=False)
    whole, power = int(number), 0
    while whole % 1024 == 0 and power < 6:
        whole //= 1024
        power += 1
    return f"{whole}{['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][power]}"


def _decimal(number: Decimal, *, exponential: bool) -> str:
    if number == 0:
        return "0"
    for power in range(18, -10, -3):
        scaled = number.scaleb(-power)
        if scaled == scaled.to_integral_value():
            suffix = (f"e{power}" if power else "") if exponential else _NAMES[power]
            return f"{int(scaled)}{suffix}"
    raise AssertionError(f"{number} is finer than a nano")
