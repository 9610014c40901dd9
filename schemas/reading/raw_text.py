"""The bytes of a file before any syntax: encoding, size, forbidden characters, merge conflicts."""

from __future__ import annotations

import re
from typing import Final

from schemas.reading.records import Fault, Spot

MAX_BYTES: Final = 1024 * 1024

_BOM: Final = b"\xef\xbb\xbf"
_UTF16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROL_BYTES: Final = bytes(byte for byte in (*range(32), 127) if byte not in b"\t\n\r")
# Besides control characters: what YAML 1.1 takes for a line end and YAML 1.2 and editors do not.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_CONFLICT = re.compile(rb"^[ \t]*(?:<{7}|>{7}|\|{7}|={7})(?:[ \t\r]|$)", re.MULTILINE)


def without_bom(data: bytes) -> bytes:
    """A byte order mark says only that this is UTF-8, which it has to be anyway."""
    return data[3:] if data.startswith(_BOM) else data


def refuse(data: bytes, *, max_bytes: int = MAX_BYTES) -> Fault | None:
    """The first reason why `data` (without its mark) is no text that we read, if there is one."""
    if len(data) > max_bytes:
        return Fault(
            spot=Spot(1, 1),
            expected=f"at most {max_bytes} bytes in one file",
            found=f"{len(data)} bytes",
            hint="split it, or keep data out of documents",
        )
    if (b"<<<<<<<" in data or b">>>>>>>" in data) and (conflict := _conflict(data)):
        return conflict
    if data.isascii():
        # Deleting them and comparing lengths is several times faster than searching for one.
        return None if len(data.translate(None, _CONTROL_BYTES)) == len(data) else _control(data)
    return _not_utf8(data) or _control(data)


def _conflict(data: bytes) -> Fault | None:
    """Committed conflict markers; inside a block of text YAML itself would take them for content."""
    lines = [data.count(b"\n", 0, match.start()) + 1 for match in _CONFLICT.finditer(data)]
    starts = [match.group().strip() for match in _CONFLICT.finditer(data)]
    if not any(mark in (b"<" * 7, b">" * 7) for mark in starts):
        return None
    return Fault(
        spot=Spot(lines[0], 1),
        expected="a merged file",
        found=f"merge conflict markers, lines {', '.join(map(str, lines))}",
        hint="resolve the conflict and commit again",
    )


def _not_utf8(data: bytes) -> Fault | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        hint = "save the file as UTF-8"
        if data.startswith(_UTF16_BOMS):
            hint += " (it looks like UTF-16)"
        return Fault(
            spot=Spot(line, len(data[start : error.start].decode("utf-8")) + 1),
            expected="UTF-8",
            found=f"byte 0x{data[error.start]:02x} at offset {error.start}",
            hint=hint,
        )
    return None


def _control(data: bytes) -> Fault | None:
    text = data.decode("utf-8")
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    start = text.rfind("\n", 0, match.start()) + 1
    character = ord(match.group())
    return Fault(
        spot=Spot(text.count("\n", 0, match.start()) + 1, match.start() - start + 1),
        expected="text",
        found="a NUL character" if character == 0 else f"the invisible character U+{character:04X}",
        hint="remove it, or write it as an escape inside double quotes",
    )
