"""One file to its documents, whatever its format."""

from __future__ import annotations

from typing import Final

from schemas.reading import json_text, raw_text, yaml_text
from schemas.reading.records import Reading

YAML_SUFFIXES: Final = (".yaml", ".yml")
JSON_SUFFIXES: Final = (".json",)
_SUFFIXES: Final = (*YAML_SUFFIXES, *JSON_SUFFIXES)


def is_document_file(path: str) -> bool:
    """Whether a path is one that holds documents; anything else beside them is left as it is."""
    return path.lower().endswith(_SUFFIXES)


def read(path: str, data: bytes, *, positions: bool = False, max_bytes: int = raw_text.MAX_BYTES) -> Reading:
    """Read one YAML or JSON file. Never raises: what cannot be read is a fault, and so is every irregularity.

    Positions are kept where asked for, and always where something is wrong, so that the error can name places.
    """
    data = raw_text.without_bom(data)
    if fault := raw_text.refuse(data, max_bytes=max_bytes):
        return Reading(faults=(fault,))
    parse = json_text.read if path.lower().endswith(JSON_SUFFIXES) else yaml_text.read
    reading = parse(data, positions=positions)
    if reading.faults and not positions:
        return parse(data, positions=True)
    return reading
