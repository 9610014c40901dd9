"""JSON Schemas of the documents, for editors and other programs: `python -m schemas.export DIRECTORY`.

One file per kind, and `document.json` for a file that may hold any of them. What a change costs stands beside each
field under `x-instantstart`. Rules that span fields cannot be said in JSON Schema; the loader checks them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from schemas.documents.kinds import KINDS
from schemas.values import JsonObject

COMMITTED: Final = Path(__file__).with_name("jsonschema")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """File name → text of every schema."""
    texts: dict[str, JsonObject] = {f"{_file_name(kind)}.json": _schema(kind) for kind in KINDS}
    texts["document.json"] = {
        "$schema": _DIALECT,
        "title": "InstantStart document",
        "oneOf": [{"$ref": f"{_file_name(kind)}.json"} for kind in KINDS],
    }
    return {name: json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in texts.items()}


def write(directory: Path) -> list[Path]:
    """Write all schemas into a directory, which is made if need be."""
    directory.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, text in schemas().items():
        (directory / name).write_text(text, encoding="utf-8")
        written.append(directory / name)
    return written


def _schema(kind: str) -> JsonObject:
    generated = KINDS[kind].model_json_schema(by_alias=True)
    return {"$schema": _DIALECT, **_tidied(generated), "title": kind}


def _tidied(schema: Any, *, names: bool = False) -> Any:
    """Without made-up titles, and without null: an optional field is left out, not set to nothing.

    `names`: the keys of this mapping are names of fields, not keywords.
    """
    if isinstance(schema, Mapping):
        mapping = cast("Mapping[str, Any]", schema)
        if not names:
            mapping = _without_null(mapping)
        return {
            key: _tidied(value, names=not names and key in ("properties", "$defs", "patternProperties"))
            for key, value in mapping.items()
            if names or key != "title"
        }
    if isinstance(schema, list):
        return [_tidied(item) for item in cast("Sequence[Any]", schema)]
    return schema


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**options[0], **rest}


def _file_name(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: python -m schemas.export [DIRECTORY]")
    for path in write(Path(sys.argv[1]) if len(sys.argv) == 2 else COMMITTED):
        sys.stdout.write(f"{path}\n")
