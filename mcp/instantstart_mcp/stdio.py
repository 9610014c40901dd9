"""The server on stdin and stdout, for an agent's own machine: a URL and a token are all that it needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import anyio
import httpx2

from instantstart_mcp.calling import Door
from instantstart_mcp.server import make_server
from schemas.errors import InvalidInput

URL: Final = "INSTANTSTART_URL"
TOKEN: Final = "INSTANTSTART_TOKEN"
DEFAULT_URL: Final = "http://127.0.0.1:3099"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, kw_only=True)
class Where:
    """The service, and who asks. `token` is never shown."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Where(url={self.url!r})"

    @property
    def is_here(self) -> bool:
        return urlsplit(self.url).hostname in _LOOPBACK


def from_env(env: Mapping[str, str] = os.environ) -> Where:
    """Raises InvalidInput naming the variable."""
    url = checked_url(env.get(URL) or DEFAULT_URL)
    token = env.get(TOKEN, "").strip()
    if not token or not token.isascii() or not token.isprintable():
        way = "instantstart token create --kind agent makes one"
        raise InvalidInput(f"{TOKEN}: expected a token of the service at {url}; {way}")
    return Where(url=url, token=token)


def checked_url(text: str) -> str:
    """Without a slash at its end. Raises InvalidInput."""
    url = text.strip().rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise InvalidInput(f"{URL}: expected http://host:port or https://host, nothing behind it")
    return url


def door(where: Where) -> Door:
    """Nothing is followed: a redirect would carry the token elsewhere. Proxies are for what is not on this machine."""
    client = httpx2.AsyncClient(base_url=where.url, follow_redirects=False, trust_env=not where.is_here)
    return Door(client=client, token=where.token, base=where.url)


async def serve(where: Where) -> None:
    """Until stdin ends."""
    made = door(where)
    async with made.client:
        await make_server(made).run_stdio_async()


def main(env: Mapping[str, str] = os.environ) -> None:
    anyio.run(serve, from_env(env))
