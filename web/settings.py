"""What the service is told beside the engine's settings: where it listens, and under which names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from schemas.errors import InvalidInput

PORT = 3099
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, kw_only=True)
class WebSettings:
    """
    bind    the address to listen on (INSTANTSTART_BIND, 127.0.0.1)
    port    the port (INSTANTSTART_PORT, 3099); 0: any free one
    hosts   names that browsers may call us by, beside those of loopback, on any port (INSTANTSTART_HOSTS, commas)
    """

    bind: str = "127.0.0.1"
    port: int = PORT
    hosts: tuple[str, ...] = ()


def from_env(env: Mapping[str, str] = os.environ) -> WebSettings:
    """Raises InvalidInput naming the variable."""
    text = env.get("INSTANTSTART_PORT") or str(PORT)
    if not (text.isascii() and text.isdecimal() and int(text) <= 65535):
        raise InvalidInput(f"INSTANTSTART_PORT: expected a number from 0 to 65535, got {text!r}")
    hosts = tuple(name.strip().lower() for name in env.get("INSTANTSTART_HOSTS", "").split(",") if name.strip())
    for name in hosts:
        if not _HOST.fullmatch(name):
            raise InvalidInput(f"INSTANTSTART_HOSTS: expected names without ports, with commas between, got {name!r}")
    return WebSettings(bind=env.get("INSTANTSTART_BIND") or "127.0.0.1", port=int(text), hosts=hosts)
