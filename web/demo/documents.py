"""The demo's documents: the packaged sample, made to fit the sandbox, and the edits of its scenes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from schemas.errors import InvalidInput
from schemas.reading.read import is_document_file, read
from schemas.reading.records import Path, RawDocument

CLUSTER = "demo"
GROUP = "train"
CHART = "https://charts.example/hyperpod"


def seeded(sample: Mapping[str, bytes], *, account: str, region: str, chart: tuple[str, str]) -> dict[str, bytes]:
    """The sample with another account and Region, and with the chart at (path, commit) of CHART."""
    files = dict(sample)
    path, data = _file_of(files, "Cluster", CLUSTER)
    data = _replaced(data, path, "Cluster", CLUSTER, ("spec", "account"), f'"{account}"')
    data = _replaced(data, path, "Cluster", CLUSTER, ("spec", "region"), region)
    folder, commit = chart
    text = (
        "\n\n  # The sandbox's own small chart instead of the one that needs the internet.\n"
        f"  dependencies:\n    chart:\n      repository: {CHART}\n      path: {folder}\n"
        f'      commit: "{commit}"\n'
    )
    files[path] = data.rstrip(b"\n") + text.encode()
    return files


def with_count(files: Mapping[str, bytes], count: int) -> dict[str, bytes]:
    """The one file that differs when the group has `count` nodes."""
    return _edited(files, ("spec", "count"), str(count))


def with_type(files: Mapping[str, bytes], instance_type: str) -> dict[str, bytes]:
    """The one file that differs when the group has another instance type: no group can change that."""
    return _edited(files, ("spec", "instanceType"), instance_type)


def count_of(files: Mapping[str, bytes]) -> int:
    path, data = _file_of(files, "InstanceGroup", GROUP)
    return int(_value(data, path, "InstanceGroup", GROUP, ("spec", "count")))


def _edited(files: Mapping[str, bytes], field: Path, text: str) -> dict[str, bytes]:
    path, data = _file_of(files, "InstanceGroup", GROUP)
    return {path: _replaced(data, path, "InstanceGroup", GROUP, field, text)}


def _file_of(files: Mapping[str, bytes], kind: str, name: str) -> tuple[str, bytes]:
    for path, data in files.items():
        if is_document_file(path) and _find(data, path, kind, name) is not None:
            return path, data
    raise InvalidInput(f"the sample has no {kind} {name}", reason="NoSample")


def _find(data: bytes, path: str, kind: str, name: str) -> RawDocument | None:
    for raw in read(path, data, positions=True).documents:
        value = cast("dict[str, Any]", raw.value)
        if value.get("kind") == kind and value.get("metadata", {}).get("name") == name:
            return raw
    return None


def _value(data: bytes, path: str, kind: str, name: str, field: Path) -> str:
    raw = _find(data, path, kind, name)
    assert raw is not None and raw.positions is not None
    value: Any = raw.value
    for step in field:
        value = value[step]
    return str(value)


def _replaced(data: bytes, path: str, kind: str, name: str, field: Path, text: str) -> bytes:
    """A scalar on one line with another one in its place."""
    raw = _find(data, path, kind, name)
    assert raw is not None and raw.positions is not None
    spot = raw.positions.values[field]
    lines = data.decode().splitlines(keepends=True)
    line = lines[spot.line - 1]
    old = line[spot.column - 1 :].split("#")[0].strip()
    lines[spot.line - 1] = line[: spot.column - 1] + text + line[spot.column - 1 + len(old) :]
    return "".join(lines).encode()
