"""Golden files: what is made today is what stands in the file.

`UPDATE_GOLDEN=1` writes them anew; read the diff.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path


def check(text: str, file: Path) -> None:
    """Compare with the file, or write it when asked to."""
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert file.exists(), f"{file.name} is missing: run with UPDATE_GOLDEN=1"
    known = file.read_text()
    changes = "".join(difflib.unified_diff(known.splitlines(True), text.splitlines(True), "known", "now", n=0))
    assert text == known, f"{file.name} differs; if that is meant, run with UPDATE_GOLDEN=1\n{changes}"
