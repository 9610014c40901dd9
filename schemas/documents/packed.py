"""Documents that were read and found right, as one short text to keep: JSON, and nothing that could run.

What comes back is checked by the same models as what people write. That text was YAML once, its places and its search
for secrets are not made again: a packed text counts only for the program that packed it (`program`).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import orjson
import pydantic
import yaml
from pydantic import ValidationError

from schemas.documents.kinds import KINDS
from schemas.documents.records import Document, ParsedFile
from schemas.documents.shapes import API_VERSION

_READERS: Final = (".py", ".json")


class NotPacked(ValueError):
    """The text is not what `pack` makes."""


@functools.cache
def program() -> str:
    """A digest of everything that decides what a file means: this floor's code and data, and the libraries under it."""
    found = hashlib.sha256(f"{pydantic.VERSION} {yaml.__version__} {orjson.__version__}".encode())
    root = Path(__file__).parents[1]
    for path in sorted(path for path in root.rglob("*") if path.suffix in _READERS):
        data = path.read_bytes()
        found.update(f"\0{path.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    return found.hexdigest()


def pack(files: Iterable[tuple[str, ParsedFile]]) -> bytes:
    """Files with their blob ids. Those with problems are left out: they are read again, with their places.

    A file that holds no documents is packed as a name only; its content is not kept."""
    kept = {file.path: [blob, _packed(file)] for blob, file in files if not file.problems and not file.refused}
    return bytes(memoryview(orjson.dumps(kept)))  # a copy: the original keeps the room it was written in, ten times it


def listed(packed: bytes) -> dict[str, tuple[str, Any]]:
    """Path → (blob id, what `documents` takes). Raises NotPacked."""
    try:
        found: Any = orjson.loads(packed)
        return {str(path): (str(blob), held) for path, (blob, held) in found.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise NotPacked("no packed documents") from error


def documents(path: str, held: Any) -> tuple[Document, ...]:
    """The documents of one file. Raises NotPacked."""
    try:
        return tuple([_document(path, *one) for one in held])
    except (ValidationError, TypeError, KeyError) as error:
        raise NotPacked(f"{path}: no packed documents") from error


def _packed(file: ParsedFile) -> list[Any]:
    return [[doc.kind, doc.name, doc.line, doc.authored] for doc in file.documents]


def _document(path: str, kind: str, name: str, line: int, authored: Mapping[str, Any]) -> Document:
    envelope = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": authored}
    model = KINDS[kind].model_validate(envelope)
    return Document(
        kind=kind, name=name, model=model, authored=cast("dict[str, Any]", authored), path=path, line=int(line)
    )
