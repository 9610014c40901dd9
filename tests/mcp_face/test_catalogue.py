"""Tools as agents see them: named, described, typed, small."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

from instantstart_mcp import catalogue, portable
from instantstart_mcp.toolkit import ToolValue, made
from tests.mcp_face.snapshot import FILE, snapshot, wire

MOST = 40_000  # bytes of the list as JSON
EACH = pytest.mark.parametrize("value", catalogue.TOOLS, ids=lambda value: value.name)


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all that are in it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from schemas(inner)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from schemas(schema[name])


def test_the_committed_snapshot_is_what_the_tools_are() -> None:
    """Stale: python tests/mcp_face/snapshot.py"""
    assert FILE.read_text() == snapshot()


def test_the_list_leaves_room_in_a_models_window() -> None:
    size = len(json.dumps([wire(value) for value in catalogue.TOOLS], separators=(",", ":")).encode())
    assert 10_000 < size < MOST


def test_names_are_unique_and_sorted_by_what_they_are_about() -> None:
    names = [value.name for value in catalogue.TOOLS]
    assert len(names) == len(set(names))
    assert all(len(name) <= 40 and name.replace("_", "").isalnum() and name.islower() for name in names)


@EACH
def test_schemas_are_such_as_every_client_takes(value: ToolValue) -> None:
    """D11: one union or reference in one tool stops some clients altogether."""
    tool = made(value)
    assert tool.output_schema is not None
    for whole in (tool.parameters, tool.output_schema, portable.whole_output(made_answer(value))):
        assert whole["type"] == "object"
        for schema in schemas(whole):
            assert isinstance(schema.get("type"), str), schema
            assert not set(schema) & set(portable.FORBIDDEN), schema
            assert set(schema.get("required", ())) <= set(schema["properties"]) if "required" in schema else True


@EACH
def test_what_a_tool_may_do_is_said(value: ToolValue) -> None:
    tool = made(value)
    assert 20 <= len(tool.description) <= 600
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is (value.needs == "read")
    if value.needs != "read":
        assert tool.annotations.destructive_hint is not None and tool.annotations.idempotent_hint is not None


@EACH
def test_arguments_that_are_not_named_are_refused(value: ToolValue) -> None:
    """`instanceCount` for `count` must not pass in silence."""
    assert made(value).parameters["additionalProperties"] is False


@EACH
def test_a_misspelt_argument_is_told_without_its_value(value: ToolValue) -> None:
    metadata = made(value).fn_metadata
    with pytest.raises(ValueError, match="not_an_argument"):
        metadata.validate_arguments({"not_an_argument": 1})


def made_answer(value: ToolValue) -> Any:
    return get_type_hints(value.function)["return"]
