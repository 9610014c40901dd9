"""The base of all document models, and rules that span several fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

RULES_ERROR: Final = "rules"
API_VERSION: Final = "instantstart/v1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """A rule over several fields that does not hold. `fields`: paths inside the model, the one to point at first.

    `expected` and `found` complete "expected …, got …".
    """

    fields: tuple[tuple[str | int, ...], ...]
    expected: str
    found: str
    hint: str = ""


class Shape(BaseModel):
    """Strict, frozen, camelCase in files."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=False,
        validate_default=False,
        hide_input_in_errors=True,
    )

    # Other spellings people try: shown as "did you mean".
    also_known: ClassVar[dict[str, str]] = {}


class Ruled(Shape):
    """A shape with rules that span its fields."""

    def rules(self) -> Iterator[Broken]:
        """Every rule that does not hold."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        if broken := tuple(self.rules()):
            text = "; ".join(f"expected {rule.expected}, got {rule.found}" for rule in broken)
            raise PydanticCustomError(RULES_ERROR, "{text}", {"text": text, "broken": broken})
        return self


class Metadata(Shape):
    """What names a document."""

    name: str = Field(description="The document's name, unique per kind within the cluster.", min_length=1)
