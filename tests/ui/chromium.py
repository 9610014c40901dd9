"""The browser: Debian's chromium, or the one that INSTANTSTART_CHROMIUM names."""

from __future__ import annotations

import os
import shutil

CHROMIUM = os.environ.get("INSTANTSTART_CHROMIUM") or shutil.which("chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
