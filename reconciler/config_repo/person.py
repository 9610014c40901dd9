"""Who gives an order or makes a commit: the person that git knows here.

The one place that asks the user's own git configuration, which everything else here leaves aside.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from schemas.errors import InvalidInput


def person(repository: str) -> tuple[str, str]:
    """(name, email): git's own variables first, then its configuration. Raises InvalidInput if git knows nobody."""
    email = os.environ.get("GIT_AUTHOR_EMAIL") or _configured(repository, "user.email")
    name = os.environ.get("GIT_AUTHOR_NAME") or _configured(repository, "user.name")
    if not email:
        raise InvalidInput(
            "git does not know who you are, and the journal must; run: git config --global user.email you@example.com",
            reason="NobodyKnown",
        )
    return name or email.partition("@")[0], email


def _configured(repository: str, key: str) -> str:
    """A value of git's configuration, that of the repository first if it is a folder."""
    here = Path(repository)
    where = ["-C", str(here)] if "://" not in repository and here.is_dir() else []
    try:
        done = subprocess.run(
            ["git", *where, "config", "--get", key],
            capture_output=True,
            timeout=10,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
