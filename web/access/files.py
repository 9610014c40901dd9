"""What is kept of access: small JSON files in the state directory, only for us to read.

Several processes share them (the service, and the command line beside it), so every change is made under a lock on
what stands there now, and whoever reads notices a file that was replaced.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from schemas.errors import Unavailable

Record = TypeVar("Record", bound=BaseModel)
FOLDER = "access"


def folder_of(state_dir: Path) -> Path:
    """`access/` below the state directory; both for us alone, also where they were there before."""
    folder = state_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for place in (state_dir, folder):
        if place.stat().st_mode & 0o077:
            place.chmod(0o700)
    return folder


class Records(Generic[Record]):
    """Records of one kind by id, in one file. Safe for threads and processes."""

    def __init__(self, path: Path, model: type[Record]) -> None:
        self._path = path
        self._model = model
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._records: dict[str, Record] = {}

    def all(self) -> dict[str, Record]:
        """What stands in the file now; not to be changed. Raises Unavailable if it cannot be understood: nobody is
        let in by a file that nobody can read."""
        with self._lock:
            self._refresh()
            return self._records

    @contextmanager
    def changing(self) -> Generator[dict[str, Record]]:
        """The records to change; written when the block ends well, not at all when it raises."""
        with self._lock, _locked(self._path.with_suffix(".lock")):
            self._refresh()
            records = dict(self._records)
            yield records
            if records != self._records:
                self._write(records)

    def _refresh(self) -> None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._seen, self._records = None, {}
            return
        seen = (found.st_ino, found.st_mtime_ns, found.st_size)
        if seen == self._seen:
            return
        try:
            told: Any = json.loads(self._path.read_bytes())
            records = {key: self._model.model_validate(value) for key, value in told["records"].items()}
        except (ValueError, KeyError, AttributeError, TypeError, ValidationError):
            text = f"{self._path} cannot be understood; take it away, and what it knew of is logged out"
            raise Unavailable(text, reason="AccessFileBroken") from None
        self._seen, self._records = seen, records

    def _write(self, records: dict[str, Record]) -> None:
        body = {"version": 1, "records": {key: record.model_dump(mode="json") for key, record in records.items()}}
        write_private(self._path, json.dumps(body, indent=1).encode())
        found = self._path.stat()
        self._seen, self._records = (found.st_ino, found.st_mtime_ns, found.st_size), records


def key_in(folder: Path, name: str) -> bytes:
    """A key of 256 random bits in a file of its own, made at the first use. Two processes get the same one."""
    path = folder / name
    with _locked(folder / f"{name}.lock"):
        if path.exists():
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
            key = path.read_bytes()
            if len(key) == 32:
                return key
        key = secrets.token_bytes(32)
        write_private(path, key)
        return key


def write_private(path: Path, data: bytes) -> None:
    """0600, whole or not at all, on disk."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def _locked(path: Path) -> Generator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
