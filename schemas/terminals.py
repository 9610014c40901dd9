"""Control sequences of terminals, which have no place in what we show. Pure.

They go before anything is looked for in a text: what is left of one could hide a secret from its detector.
"""

from __future__ import annotations

import re
from typing import Final

# CSI, OSC (ended by BEL or ST), other string sequences, two-character ones; C1 forms.
ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)


def without_escapes(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return ESCAPES.sub("", text)
