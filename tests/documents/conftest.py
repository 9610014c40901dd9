"""What the tests of documents share: the smallest document of each kind, with changes."""

from __future__ import annotations

import json
from typing import Any, Protocol

import pytest

from schemas.documents.parse import parse_file
from schemas.documents.records import ParsedFile
from schemas.values import JsonObject

_SPECS: dict[str, JsonObject] = {
    "Cluster": {"account": "111122223333", "region": "us-west-2", "kubernetesVersion": "1.33"},
    "InstanceGroup": {"instanceType": "ml.g5.8xlarge", "count": 2},
    "Storage": {"s3": {}},
    "Operation": {"expires": "2026-09-01T18:00:00Z", "reboot": {"nodes": ["i-0123456789abcdef0"]}},
    "Policy": {},
}


class ParseSpec(Protocol):
    def __call__(self, kind: str, changes: JsonObject, *, without: str = "", name: str = "demo") -> ParsedFile: ...


@pytest.fixture
def parse_spec() -> ParseSpec:
    """Parses the smallest document of a kind, with changed fields or without one, by way of a JSON file."""

    def parse(kind: str, changes: JsonObject, *, without: str = "", name: str = "demo") -> ParsedFile:
        spec: dict[str, Any] = {key: value for key, value in _SPECS[kind].items() if key != without}
        document = {
            "apiVersion": "instantstart/v1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": {**spec, **changes},
        }
        return parse_file("clusters/demo/x.json", json.dumps(document, indent=1).encode())

    return parse
