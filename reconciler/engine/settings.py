"""What one process of the engine is told: by `INSTANTSTART_*` variables, by flags, by tests."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schemas.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Seconds are simulated seconds: the clock's rate applies to them as to everything else.

    repository   a folder or a URL (INSTANTSTART_REPOSITORY)
    branch       the branch that is truth (INSTANTSTART_BRANCH, main)
    state_dir    mirror, caches (INSTANTSTART_STATE_DIR, ~/.local/state/instantstart); losing it loses nothing
    poll         between two looks at a cluster where nothing moves (INSTANTSTART_POLL_INTERVAL, 60)
    rate         simulated seconds per real second (INSTANTSTART_CLOCK_RATE, 1)
    credential   `user:password` for an https repository, or `@file` that holds it (INSTANTSTART_CREDENTIAL)
    origin       real epoch seconds at which simulated and real time agree (INSTANTSTART_CLOCK_ORIGIN): processes
                 with a rate share it, or their clocks differ
    role         assumed in each account, `{account}` filled in (INSTANTSTART_ROLE)
    writer       names this process in the journal (INSTANTSTART_WRITER, the host's name)
    """

    repository: str
    branch: str = "main"
    state_dir: Path = field(default_factory=lambda: Path.home() / ".local" / "state" / "instantstart")
    poll: float = 60.0
    rate: float = 1.0
    origin: float | None = None
    role: str | None = None
    profile: str | None = None
    writer: str = "instantstart"
    credential: str | None = field(default=None, repr=False)
    threads: int = 16


def from_env(env: Mapping[str, str] = os.environ, *, repository: str | None = None) -> Settings:
    """Settings from the environment. Raises InvalidInput naming the variable."""
    where = repository or env.get("INSTANTSTART_REPOSITORY") or "."
    state = env.get("INSTANTSTART_STATE_DIR")
    host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower())[:40].strip("-")
    return Settings(
        repository=where,
        branch=env.get("INSTANTSTART_BRANCH", "main"),
        state_dir=Path(state) if state else Path.home() / ".local" / "state" / "instantstart",
        poll=_number(env, "INSTANTSTART_POLL_INTERVAL", 60.0, least=1.0),
        rate=_number(env, "INSTANTSTART_CLOCK_RATE", 1.0, least=0.001),
        origin=_number(env, "INSTANTSTART_CLOCK_ORIGIN", 0.0, least=0.0) or None,
        role=env.get("INSTANTSTART_ROLE") or None,
        profile=env.get("INSTANTSTART_PROFILE") or None,
        writer=env.get("INSTANTSTART_WRITER") or host or "instantstart",
        credential=env.get("INSTANTSTART_CREDENTIAL") or None,
    )


def _number(env: Mapping[str, str], name: str, default: float, *, least: float) -> float:
    text = env.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise InvalidInput(f"{name}: expected a number, got {text!r}") from None
    if value < least:
        raise InvalidInput(f"{name}: expected at least {least:g}, got {text}")
    return value
