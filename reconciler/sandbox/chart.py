"""A git repository with the sandbox's own HyperPod chart, the same commit id on every machine.

The one place of the sandbox that calls git: fixed arguments, fixed author, fixed dates, no configuration of the user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

CHART = "HyperPodHelmChart"
PATH_IN_REPOSITORY = f"helm_chart/{CHART}"

_SOURCE = Path(__file__).with_name("chart") / CHART
_BRANCH = "main"
_WHO = "Sandbox"
_MAIL = "sandbox@localhost"
_WHEN = "2026-01-01T00:00:00Z"
_PATIENCE = 30  # seconds a git call may take


def make_chart_repository(path: Path) -> tuple[str, str, str]:
    """Make the repository at `path` (absent or empty). Answers its URL, the chart's path in it, and the commit.

    Raises FileExistsError if something else is there.
    """
    if path.exists() and any(path.iterdir()):
        raise FileExistsError(f"{path} is not empty")
    path.mkdir(parents=True, exist_ok=True)
    target = path / PATH_IN_REPOSITORY
    shutil.copytree(_SOURCE, target, copy_function=shutil.copyfile)
    for file in target.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)  # modes are part of the commit id
    _git(path, "init", "--quiet", f"--initial-branch={_BRANCH}", "--object-format=sha1")
    _git(path, "add", "--all")
    _git(path, "commit", "--quiet", "--no-gpg-sign", "--message=HyperPod chart of the sandbox")
    return path.resolve().as_uri(), PATH_IN_REPOSITORY, _git(path, "rev-parse", "HEAD")


def _git(path: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": _WHO,
        "GIT_AUTHOR_EMAIL": _MAIL,
        "GIT_AUTHOR_DATE": _WHEN,
        "GIT_COMMITTER_NAME": _WHO,
        "GIT_COMMITTER_EMAIL": _MAIL,
        "GIT_COMMITTER_DATE": _WHEN,
        "TZ": "UTC",
    }
    command = ["git", "-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null", *arguments]
    done = subprocess.run(command, cwd=path, env=environment, capture_output=True, text=True, timeout=_PATIENCE)
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments[0]} failed: {done.stderr.strip()[:500]}")
    return done.stdout.strip()
