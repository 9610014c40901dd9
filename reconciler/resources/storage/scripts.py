"""Lifecycle scripts: the packaged one, where the bytes of a file come from, and what is wrong with a script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import PurePosixPath

from schemas.errors import InvalidInput

PACKAGED = "package:"  # a path that begins so names a file that comes with this package
LARGEST = 1024 * 1024

_OTHER_SCRIPT = re.compile(r"(?<![\w./-])(?:\./|\$\{?\w+\}?/)?([\w-]+\.(?:sh|py))\b")
_FETCH = re.compile(r"\b(?:curl|wget|git clone|pip3? install|apt(?:-get)? install|yum install|dnf install)\b")


def content(path: str, file: Callable[[str], bytes]) -> bytes:
    """The bytes behind a path: a packaged file, or one of the cluster's folder."""
    if not path.startswith(PACKAGED):
        return file(path)
    name = path.removeprefix(PACKAGED)
    source = resources.files(__package__ or "").joinpath("lifecycle", name)
    if "/" in name or not source.is_file():
        raise InvalidInput(f"no lifecycle script {name!r} comes with this version")
    return source.read_bytes()


def faults(name: str, text: bytes) -> Iterator[str]:
    """Why a node could not run this script."""
    if not name.endswith(".sh"):
        return
    if not text.startswith(b"#!"):
        yield f"{name}: the first line is no shebang (#!/bin/bash)"
    if b"\r" in text:
        yield f"{name}: line ends are CRLF, nodes want LF"
    if len(text) > LARGEST:
        yield f"{name}: {len(text)} bytes are too much for a lifecycle script"


def warnings(files: Mapping[str, bytes]) -> Iterator[str]:
    """What may go wrong on a node: scripts that are called but not in the set, and fetches from the network."""
    there = {PurePosixPath(name).name for name in files}
    for name in sorted(files):
        if not name.endswith(".sh"):
            continue
        lines = files[name].decode("utf-8", "replace").splitlines()
        code = "\n".join(line for line in lines if not line.lstrip().startswith(("#", "echo ")))
        for other in sorted({*_OTHER_SCRIPT.findall(code)} - there):
            yield f"{name} names {other}, which is not uploaded with it"
        fetch = _FETCH.search(code)
        if fetch:
            yield f"{name} fetches from the network ({fetch.group()}): a node fails when that does"
