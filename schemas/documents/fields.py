"""What every field of a document must say of itself: meaning, cost of a change, what its removal means.

The plan, error texts, the web form and the reference read this from the field, so it stands nowhere else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, cast

from pydantic import BaseModel, Field
from pydantic_core import PydanticUndefined

from schemas.plan import Cost
from schemas.values import JsonValue

_Shape = TypeVar("_Shape", bound=BaseModel)

METADATA: Final = "x-instantstart"

WhenRemoved = Literal["default", "remove", "required"]
"""What deleting the line means: back to the default, the thing itself goes, or the document is refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldCost:
    """What a change of one field does to what runs. `way_out` is there where the cost is REFUSED or REPLACE.

    `unique_by`, of lists whose order means nothing: the fields that together name an item, none where each item is its
    own name. Of other lists, None: the list is one value.
    """

    cost: Cost
    when_removed: WhenRemoved
    default: JsonValue = None
    way_out: str = ""
    description: str = ""
    unique_by: tuple[str, ...] | None = None


def documented(
    description: str,
    *,
    cost: Cost,
    way_out: str = "",
    default: Any = PydanticUndefined,
    default_factory: Callable[[], Any] | None = None,
    unique_by: tuple[str, ...] | None = None,
    **rules: Any,
) -> Any:
    """A pydantic field that declares its cost.

    Without a default the field is required; default None means that removing it removes the thing. Other
    arguments are pydantic's (ge, le, min_length, …). Lists are given as lists and kept as tuples.
    """
    removed: WhenRemoved = "default"
    shown = default_factory() if default_factory else default
    if default_factory is None and default is PydanticUndefined:
        removed, shown = "required", None
    elif shown is None:
        removed = "remove"
    said: dict[str, Any] = {"cost": cost.value, "whenRemoved": removed, "wayOut": way_out}
    if removed == "default":
        said["default"] = plain(shown)
    if unique_by is not None:
        said["uniqueBy"] = list(unique_by)
    extra = {METADATA: {name: value for name, value in said.items() if value != ""}}
    given = {"default_factory": default_factory} if default_factory else {"default": default}
    return Field(description=description, json_schema_extra=cast("Any", extra), **given, **rules)


def listed(description: str, *, cost: Cost, **rest: Any) -> Any:
    """As `documented`, for a tuple that is written as a list."""
    return documented(description, cost=cost, strict=False, **rest)


def shared(value: _Shape) -> Callable[[], _Shape]:
    """A default that is one frozen object for all documents, instead of being built for each."""
    return lambda: value


def said_of(extra: object) -> FieldCost | None:
    """The declaration inside a field's `json_schema_extra`, if it has one."""
    if not isinstance(extra, dict):
        return None
    said = cast("dict[str, Any]", extra).get(METADATA)
    if said is None:
        return None
    return FieldCost(
        cost=Cost(said["cost"]),
        when_removed=said["whenRemoved"],
        default=copy.deepcopy(said.get("default")),
        way_out=said.get("wayOut", ""),
        unique_by=tuple(said["uniqueBy"]) if "uniqueBy" in said else None,
    )


def plain(value: Any) -> JsonValue:
    """A default as JSON shows it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, tuple):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    return value
