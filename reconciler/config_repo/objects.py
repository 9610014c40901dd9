"""Git objects as bytes. Pure: encode, name, parse, and bundle into a pack so that one process stores them all."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from reconciler.config_repo.records import CommitInfo

Kind = Literal["commit", "tree", "blob"]

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
TREE, FILE, EXECUTABLE, LINK, SUBMODULE = "40000", "100644", "100755", "120000", "160000"
_MODES = {mode.encode(): mode for mode in (TREE, FILE, EXECUTABLE, LINK, SUBMODULE)}
_TREE_ENTRY = re.compile(rb"([0-7]+) ([^\0]*)\0(.{20})", re.DOTALL)
_PACK_KIND: dict[Kind, int] = {"commit": 1, "tree": 2, "blob": 3}


class TreeEntry(NamedTuple):
    mode: str
    name: bytes
    id: str


@dataclass(frozen=True, slots=True)
class NewObject:
    kind: Kind
    data: bytes
    id: str


def new_object(kind: Kind, data: bytes) -> NewObject:
    digest = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    digest.update(data)
    return NewObject(kind, data, digest.hexdigest())


def blob_id(data: bytes) -> str:
    """The id under which this content will be found."""
    return new_object("blob", data).id


def new_tree(entries: Iterable[TreeEntry]) -> NewObject:
    # Git sorts a folder as if its name ended in a slash.
    ordered = sorted(entries, key=lambda e: e.name + b"/" if e.mode == TREE else e.name)
    return new_object("tree", b"".join(b"%s %s\0" % (e.mode.encode(), e.name) + bytes.fromhex(e.id) for e in ordered))


def new_commit(
    *, tree: str, parents: Sequence[str], author: tuple[str, str], committer: tuple[str, str], at: float, message: str
) -> NewObject:
    """`at`: seconds since the epoch. The message is stored as given, with one newline at its end."""
    when = f"{int(at)} +0000"
    lines = [f"tree {tree}", *(f"parent {p}" for p in parents)]
    lines += [
        f"author {_ident(author)} {when}",
        f"committer {_ident(committer)} {when}",
        "",
        message.strip("\n") + "\n",
    ]
    return new_object("commit", "\n".join(lines).replace("\0", "").encode("utf-8", "replace"))


def pack(objects: Sequence[NewObject]) -> bytes:
    """A version 2 pack of whole objects."""
    parts = [b"PACK", (2).to_bytes(4, "big"), len(objects).to_bytes(4, "big")]
    for item in objects:
        parts.append(_pack_header(_PACK_KIND[item.kind], len(item.data)))
        parts.append(zlib.compress(item.data, 1))
    body = b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def parse_tree(data: bytes) -> tuple[TreeEntry, ...]:
    """Raises ValueError if the bytes are no tree: a part that cannot be read must not pass for absent."""
    found: list[tuple[bytes, bytes, bytes]] = _TREE_ENTRY.findall(data)
    if sum(len(mode) + len(name) for mode, name, _ in found) + 22 * len(found) != len(data):
        raise ValueError("malformed tree")
    # One text for each mode: thousands of entries are kept. Old tools wrote 040000.
    return tuple([TreeEntry(_MODES.get(mode) or _mode(mode), name, sha.hex()) for mode, name, sha in found])


def _mode(raw: bytes) -> str:
    return raw.decode("ascii").lstrip("0")


def parse_commit(sha: str, data: bytes) -> CommitInfo:
    head, _, message = data.partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "replace").split("\n"):
        key, _, value = line.partition(" ")
        if key:  # a continued line (a signature) starts with a space
            fields.setdefault(key, []).append(value)
    name, email, _ = _parse_ident(fields.get("author", [""])[0])
    subject, _, body = message.decode("utf-8", "replace").strip("\n").partition("\n")
    return CommitInfo(
        sha=sha,
        parents=tuple(fields.get("parent", [])),
        author_name=name,
        author_email=email,
        at=_parse_ident(fields.get("committer", [""])[0])[2],
        subject=subject,
        body=body.strip("\n"),
        tree=fields.get("tree", [EMPTY_TREE])[0],
    )


def _ident(person: tuple[str, str]) -> str:
    name, email = ("".join(c for c in text if c.isprintable() and c not in "<>").strip() for text in person)
    return f"{name or 'unknown'} <{email.replace(' ', '')}>"


def _parse_ident(text: str) -> tuple[str, str, str]:
    left, _, right = text.rpartition(">")
    name, _, email = left.partition("<")
    seconds = right.split()[0] if right.split() else "0"
    try:
        at = datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):  # anybody can write any date into a commit
        at = "1970-01-01T00:00:00Z"
    return name.strip(), email.strip(), at


def _pack_header(kind: int, size: int) -> bytes:
    # Three bits of kind, then the size in groups of 4, 7, 7 … bits, low first.
    out = bytearray()
    byte, size = (kind << 4) | (size & 0x0F), size >> 4
    while size:
        out.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    out.append(byte)
    return bytes(out)
