"""The control plane's signing key, for lines of changes and for orders: 256 random bits in the state directory, for
us alone.

Losing it voids approvals that are not used up, and what was proposed before can no longer be vouched for; nothing
else. Several processes on one machine share it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from pathlib import Path
from typing import Final

from reconciler.plan import approvals
from schemas.errors import Unavailable
from schemas.values import JsonObject

_SIZE: Final = 32


class Signing:
    """Signs lines of changes and says which are signed. Makes its key at the first signature."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "access" / "signing.key"
        self._lock = threading.Lock()
        self._key: bytes | None = None

    def sign(self, change: str, line: JsonObject) -> JsonObject:
        """The line with its signature."""
        key = self._read() or self._make()
        return {**line, "sig": approvals.signature(key, change, line)}

    def is_signed(self, change: str, line: JsonObject) -> bool:
        """False where there is no key: then nothing is."""
        key = self._read()
        return key is not None and approvals.is_signed(key, change, line)

    def sign_order(self, order: str, body: JsonObject) -> JsonObject:
        """The order with its signature, which holds under this id alone."""
        return self.sign(f"order {order}", body)

    def is_signed_order(self, order: str, body: JsonObject) -> bool:
        return self.is_signed(f"order {order}", body)

    def _read(self) -> bytes | None:
        with self._lock:
            if self._key is None and self._path.exists():
                key = self._path.read_bytes()
                if len(key) != _SIZE:
                    text = f"{self._path} is no key of {_SIZE} bytes; take it away, and open approvals are void"
                    raise Unavailable(text, reason="SigningKeyBroken")
                if self._path.stat().st_mode & 0o077:
                    self._path.chmod(0o600)
                self._key = key
            return self._key

    def _make(self) -> bytes:
        """Whole or not at all, and whoever comes second takes the first one's."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self._path.with_name(f".signing.{secrets.token_hex(4)}")
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_SIZE))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(new, self._path)
        finally:
            new.unlink(missing_ok=True)
        found = self._read()
        assert found is not None
        return found
