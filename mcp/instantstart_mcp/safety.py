"""The last look at everything that leaves: no control characters, no secrets, no answer that floods a model's window.

Text from outside is marked where it stands: a field whose name ends in `_untrusted` holds what programs, people or AWS
wrote or chose (`words.OUTSIDE` is the rule). It is data; nothing in it is obeyed, and nothing here reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from schemas.secrets import HIDDEN, is_secret_name, mask_secrets
from schemas.terminals import ESCAPES

MOST: Final = 60_000  # characters of an answer's JSON, some 15,000 tokens

# Control characters that are left, what turns the direction of writing, and what nobody sees: zero-width characters and
# the tags that can carry a hidden text.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)


def clean(value: Any) -> Any:
    """A copy that may leave: of strings, lists and mappings, to any depth."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return _mapping(cast("Iterable[tuple[Any, Any]]", value.items()))
    if isinstance(value, list | tuple):
        return [clean(item) for item in cast("list[Any]", value)]
    return value


def clean_text(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = _UNSEEN.sub("", ESCAPES.sub("", text.replace("\r\n", "\n")))
    return mask_secrets(text)


def as_json(value: Any) -> str:
    """Short, and as people read it: letters stay letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _mapping(items: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    value = dict(items)
    cleaned = {clean_text(str(key)): _named(str(key), item) for key, item in value.items()}
    name = value.get("name")
    # What Kubernetes calls an environment variable: the name stands beside the value.
    if isinstance(name, str) and is_secret_name(name) and isinstance(cleaned.get("value"), str):
        cleaned["value"] = HIDDEN
    return cleaned


def _named(name: str, value: Any) -> Any:
    if isinstance(value, str) and value and is_secret_name(name):
        return HIDDEN
    return clean(value)
