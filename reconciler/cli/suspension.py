"""spec.suspend of a Cluster document set by the smallest edit of its text: one word, or one new line. Pure.

Everything else stays byte for byte. The result is read again before it is handed out; what cannot be done cleanly is
refused, saying where, so that a person does it.
"""

from __future__ import annotations

from typing import Any, cast

from schemas.errors import InvalidInput
from schemas.reading.raw_text import without_bom
from schemas.reading.read import JSON_SUFFIXES, read
from schemas.reading.records import Path, Positions, RawDocument, Spot

_FIELD: Path = ("spec", "suspend")


def set_suspend(path: str, data: bytes, cluster: str, wanted: bool) -> bytes | None:
    """The file with `spec.suspend: wanted` for this cluster; None if it says so already. Raises InvalidInput."""
    document, positions = _find(path, data, cluster)
    spec: Any = document.get("spec")
    if not isinstance(spec, dict):
        raise _by_hand(path, positions.value(("spec",)), "spec is no mapping")
    now: Any = cast("dict[str, Any]", spec).get("suspend")
    if now is wanted or (now is None and not wanted):
        return None
    bom = data[: len(data) - len(without_bom(data))]
    lines = without_bom(data).decode("utf-8").splitlines(keepends=True)
    if _FIELD in positions.values and now is not None:
        edited = _replaced(path, lines, positions.values[_FIELD], wanted)
    else:
        edited = _inserted(path, lines, positions, spec, wanted)
    result = bom + "".join(edited).encode("utf-8")
    _check(path, data, result, cluster, wanted)
    return result


def _find(path: str, data: bytes, cluster: str) -> tuple[dict[str, Any], Positions]:
    for raw in read(path, data, positions=True).documents:
        document = _cluster_in(raw, cluster)
        if document is not None and raw.positions is not None:
            return document, raw.positions
    raise InvalidInput(f"{path} holds no Cluster {cluster}", reason="NoCluster")


def _cluster_in(raw: RawDocument, cluster: str) -> dict[str, Any] | None:
    value: Any = raw.value
    if not isinstance(value, dict):
        return None
    document = cast("dict[str, Any]", value)
    metadata: Any = document.get("metadata")
    if document.get("kind") != "Cluster" or not isinstance(metadata, dict):
        return None
    return document if cast("dict[str, Any]", metadata).get("name") == cluster else None


def _replaced(path: str, lines: list[str], spot: Spot, wanted: bool) -> list[str]:
    line = lines[spot.line - 1]
    before, after = line[: spot.column - 1], line[spot.column - 1 :]
    word = next((word for word in ("true", "false", "True", "False", "TRUE", "FALSE") if after.startswith(word)), None)
    if word is None:
        raise _by_hand(path, spot, "the value of spec.suspend is not a plain true or false")
    edited = list(lines)
    edited[spot.line - 1] = before + _word(wanted) + after[len(word) :]
    return edited


def _inserted(path: str, lines: list[str], positions: Positions, spec: Any, wanted: bool) -> list[str]:
    """A new line right below `spec:`, indented like its first field."""
    key = positions.keys.get(("spec",))
    if key is None or path.lower().endswith(JSON_SUFFIXES):
        raise _by_hand(path, positions.value(("spec",)), "the document is JSON")
    rest = lines[key.line - 1][key.column - 1 + len("spec:") :].strip()
    first = next((positions.keys[("spec", name)] for name in spec if ("spec", name) in positions.keys), None)
    if (rest and not rest.startswith("#")) or first is None or first.line <= key.line:
        raise _by_hand(path, key, "spec is not written as a block of lines")
    above = lines[key.line - 1]
    ending = "\r\n" if above.endswith("\r\n") else "\n"
    new = " " * (first.column - 1) + f"suspend: {_word(wanted)}{ending}"
    return [*lines[: key.line], new, *lines[key.line :]]


def _check(path: str, before: bytes, after: bytes, cluster: str, wanted: bool) -> None:
    """The edit did what it should and nothing else."""
    spot = Spot(1, 1)
    old, new = read(path, before), read(path, after)
    if new.faults or len(old.documents) != len(new.documents):
        raise _by_hand(path, spot, "the edit would break the file")
    for was, now in zip(old.documents, new.documents, strict=True):
        document = _cluster_in(now, cluster)
        if document is None:
            same = was.value == now.value
        else:
            origin = _cluster_in(was, cluster) or {}
            same = document == {**origin, "spec": {**origin.get("spec", {}), "suspend": wanted}}
        if not same:
            raise _by_hand(path, now.spot, "the edit would change more than spec.suspend")


def _word(wanted: bool) -> str:
    return "true" if wanted else "false"


def _by_hand(path: str, spot: Spot, why: str) -> InvalidInput:
    return InvalidInput(
        f"{path}:{spot.line}:{spot.column}: {why}; set spec.suspend there by hand and commit", reason="NotCleanly"
    )
