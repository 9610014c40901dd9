"""The words of tools' arguments, each with its form, and what answers are made of."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

CLUSTER = r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$"

ClusterName: TypeAlias = Annotated[str, Field(pattern=CLUSTER, description="The cluster")]
ChangeId: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-hjkmnp-tv-z]{26}$", description="The change's id")]
GroupName: TypeAlias = Annotated[
    str, Field(pattern=r"^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$", description="The instance group")
]
ObjectName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$", max_length=253)]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=100)]
Cursor: TypeAlias = Annotated[str, Field(max_length=1000, description="next_cursor of the answer before")]
Why: TypeAlias = Annotated[str, Field(max_length=2000)]
Key: TypeAlias = Annotated[
    str,
    Field(
        max_length=150,
        pattern=r"^[A-Za-z0-9._:-]*$",
        description="Without one it follows from the content: a repeated call finds its change",
    ),
]


class Answer(BaseModel):
    """What a tool gives back. Read from the API's JSON: what is not named here is left out. A field that has nothing to
    tell does not appear in the answer."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Part(Answer):
    """A source that cannot be seen now, so that what comes from it is not known."""

    source: str = Field(validation_alias="name")
    unknown_since: str | None = None
    reason: str | None = None


def outside(name: str) -> Any:
    """A field of text from outside: its name ends in `_untrusted`, the API calls it `name`."""
    return Field(default="", validation_alias=name)


def unseen(found: Any) -> tuple[Part, ...]:
    """Of an answer's `parts` those that cannot be seen."""
    return tuple(Part.model_validate(part) for part in found or () if part.get("unknown_since"))
