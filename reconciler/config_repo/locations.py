"""Where a repository is: a folder on this machine, or a remote of which we keep a bare mirror."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reconciler.config_repo.errors import NotARepository

_SCP = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[A-Za-z0-9_.~/][A-Za-z0-9_.~/+-]*")
_URL = re.compile(r"[A-Za-z0-9_.~/:@%+\[\]-]+")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """`url` None: the folder `path` is the repository itself; else `path` is our mirror of it."""

    path: Path
    url: str | None


def locate(text: str, state_dir: Path) -> Location:
    """`file://`, `ssh://`, `https://` and `user@host:path` are remotes (http on loopback too), all else is a folder."""
    if "://" in text:
        _check_url(text)
    elif not _SCP.fullmatch(text) or Path(text).exists():
        if text.startswith("-") or "::" in text:
            raise NotARepository(f"{text!r} is no location of a repository")
        return Location(path=Path(text).expanduser().absolute(), url=None)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Location(path=state_dir / "mirrors" / f"{digest}.git", url=text)


def _check_url(text: str) -> None:
    try:
        parts = urlsplit(text)
        host, password = parts.hostname or "", parts.password
    except ValueError as error:
        raise NotARepository("the address of the repository cannot be read") from error
    if password is not None or (parts.username and parts.scheme in ("http", "https")):
        raise NotARepository("an address must not carry a credential; give it apart from the address")
    if parts.scheme not in ("file", "ssh", "https") and not (parts.scheme == "http" and host in _LOOPBACK):
        raise NotARepository(f"{parts.scheme}:// is not accepted; use https://, ssh://, file:// or a folder")
    # A host that starts with a dash would be a flag to ssh.
    if not _URL.fullmatch(text) or host.startswith("-") or (parts.username or "").startswith("-"):
        raise NotARepository("the address of the repository holds characters that are not accepted")
    if parts.scheme != "file" and not host:
        raise NotARepository("the address of the repository names no host")
