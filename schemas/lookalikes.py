"""Names that look like other names: letters of another script in the place of Latin ones. Pure.

Not all of Unicode's confusables, only what matters for names of persons and agents, which are mostly addresses: the
Cyrillic, Greek and Armenian letters that fonts draw as they draw Latin ones, and the phonetic ones. Digits that look
like letters (1 and l) are plain to nobody and stay allowed.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_AS_LATIN: Final = {
    "аеорсухіјѕһԁԛԝѵӏгкв": "aeopcyxijshdqwvlrkb",  # Cyrillic
    "αορνικυτεχ": "aopvikutex",  # Greek
    "օսոհցքզ": "ounhgqq",  # Armenian  # noqa: RUF001
    "ɑɡɩʟʀɴʏʙʜ": "agilrnybh",  # phonetic
}
_LATIN: Final = str.maketrans("".join(_AS_LATIN), "".join(_AS_LATIN.values()))
_PARTS: Final = re.compile(r"[^\W\d_]+")  # runs of letters: an address may have a part in each script


def lookalike(name: str) -> str | None:
    """The name that this one would be taken for, or None. A part of it is all of letters that look like Latin ones, or
    mixes Latin letters with those of another script."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    for part in _PARTS.findall(folded):
        plain = part.translate(_LATIN)
        if not part.isascii() and (plain.isascii() or (_scripts(part) > {"LATIN"})):
            return folded.translate(_LATIN)
    return None


def _scripts(part: str) -> set[str]:
    return {unicodedata.name(char, "?").split(" ")[0] for char in part if char.isalpha()}
