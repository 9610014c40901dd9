"""Packed documents on disk, one small file for each cluster: a restart reads what was checked before.

Losing it loses nothing. A file counts only if it is ours alone (owner, mode, no link), whole (its digest), and written
by this very program; anything else is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from schemas.documents import packed

MAX_FILE: Final = 8 << 20
MAX_FILES: Final = 20_000
MAX_TOTAL: Final = 256 << 20
LEFT_OVER: Final = 3600.0  # a file half written by a process that died
_OURS: Final = "instantstart-documents-1"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """Packed documents of a cluster. `tree`: the input tree that they are all of; None: some files had problems."""

    tree: str | None
    packed: bytes


class Shelf:
    """Thread-safe. Never raises: a disk that fails only makes the next start slower."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._usable = _is_private(folder)

    def read(self, cluster: str) -> Kept | None:
        data = self._read(cluster) if self._usable else None
        if data is None:
            return None
        head, _, body = data.partition(b"\n")
        ours, program, tree, digest, *rest = [*head.decode("ascii", "replace").split(" "), "", "", "", ""]
        if any(rest) or ours != _OURS or program != packed.program() or digest != _digest(cluster, tree, body):
            return None
        return Kept(tree=tree if tree != "-" else None, packed=body)

    def write(self, cluster: str, kept: Kept) -> None:
        if not self._usable or len(kept.packed) > MAX_FILE:
            return
        tree = kept.tree or "-"
        head = f"{_OURS} {packed.program()} {tree} {_digest(cluster, tree, kept.packed)}\n"
        half = self._folder / f".{cluster}.{os.getpid()}.{threading.get_ident()}"
        try:
            with open(half, "xb", opener=_private) as stream:
                stream.write(head.encode() + kept.packed)
            half.replace(self._folder / cluster)
        except OSError as error:
            log.warning("documents cannot be kept in %s: %s", self._folder, error.strerror)
            with contextlib.suppress(OSError):
                half.unlink()

    def prune(self, clusters: Iterable[str]) -> None:
        """Keep within bounds: what is half written goes, then the oldest; clusters that are there go last."""
        if not self._usable:
            return
        wanted, now = set(clusters), time.time()
        found: list[tuple[bool, float, int, Path]] = []
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if entry.name.startswith(".") and now - info.st_mtime > LEFT_OVER:
                    Path(entry.path).unlink()
                elif not entry.name.startswith("."):
                    found.append((entry.name in wanted, info.st_mtime, info.st_size, Path(entry.path)))
        found.sort(reverse=True)
        total = 0
        for number, (_, _, size, path) in enumerate(found):
            total += size
            if number >= MAX_FILES or total > MAX_TOTAL:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _read(self, cluster: str) -> bytes | None:
        try:
            handle = os.open(self._folder / cluster, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None
        with contextlib.suppress(OSError), os.fdopen(handle, "rb", buffering=0) as stream:
            info = os.fstat(handle)
            if stat.S_ISREG(info.st_mode) and _is_ours(info, 0o077) and info.st_size <= MAX_FILE + 1024:
                return stream.readall()
        return None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _is_private(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        info = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and _is_ours(info, 0o022)


def _is_ours(info: os.stat_result, forbidden: int) -> bool:
    return info.st_uid == os.geteuid() and not info.st_mode & forbidden


def _digest(cluster: str, tree: str, body: bytes) -> str:
    return hashlib.sha256(f"{cluster} {tree}\n".encode() + body).hexdigest()
