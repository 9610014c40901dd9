"""What a browser loads for the first page."""

from __future__ import annotations

import json
from pathlib import Path


def first_page(built: Path) -> list[Path]:
    """The files of JavaScript for the fleet: the entry, and the page's own chunk, with all that they import."""
    manifest = json.loads((built / "manifest.json").read_text())
    wanted = ["index.html", "src/pages/fleet/page.tsx"]
    files: dict[str, Path] = {}
    while wanted:
        entry = manifest[wanted.pop()]
        if entry["file"] not in files:
            files[entry["file"]] = built / entry["file"]
            wanted += entry.get("imports", [])
    return list(files.values())
