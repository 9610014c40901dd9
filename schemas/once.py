"""What happens once for ever: an Operation document, with the resource keys that it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One Operation document: its identity `<kind>/<name>@<digest>`, the resource keys it asks for, its end."""

    name: str
    digest: str
    keys: tuple[str, ...]
    expires: datetime

    @property
    def identity(self) -> str:
        return f"Operation/{self.name}@{self.digest}"

    def done_id(self, key: str) -> str:
        """Under which a rollout remembers that this key had its turn; short, a line holds many."""
        return f"{key}@{self.digest[:16]}"
