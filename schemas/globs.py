"""Patterns of paths, as in .gitignore and CODEOWNERS: `*` and `?` stay within a folder, `**` goes through any number
of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_ANY_FOLDERS: Final = "**"
_MARKS: Final = {"*": "[^/]*", "?": "[^/]"}


def matches(pattern: str, path: str) -> bool:
    """Whether the whole path fits. `clusters/prod/**` is everything below the folder and not the folder itself."""
    return _compiled(pattern).fullmatch(path) is not None


def any_matches(patterns: Iterable[str], path: str) -> bool:
    return any(matches(pattern, path) for pattern in patterns)


@lru_cache(maxsize=1000)
def _compiled(pattern: str) -> re.Pattern[str]:
    *folders, last = pattern.split("/")
    found = "".join("(?:[^/]+/)*" if folder == _ANY_FOLDERS else f"{_segment(folder)}/" for folder in folders)
    return re.compile(found + ("(?:[^/]+/)*[^/]+" if last == _ANY_FOLDERS else _segment(last)))


def _segment(text: str) -> str:
    return "".join(_MARKS.get(char) or re.escape(char) for char in text)
