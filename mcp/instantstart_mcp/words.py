"""The words of tools' arguments, each with its form, and what answers are made of."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin

from pydantic import AfterValidator, AliasGenerator, BaseModel, ConfigDict, Field

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


MARK: Final = "_untrusted"

# The rule of what is outside text: under these names the API gives what programs, AWS and people beside us wrote or
# were free to choose. Texts and titles; files and where in them; who somebody says to be; names, labels and taints of
# what others made in Kubernetes; commands and subjects that hold such names; whole bodies. Beside the names, whatever
# can hold anything is outside text. Not in it: what our schemas have checked (clusters, groups, storages, keys of
# resources), what AWS gives out (ids, zones, types), and single words (`Word`).
OUTSIDE: Final = frozenset(
    {
        *("detail", "faults", "lines", "losses", "message", "missing", "msg", "say", "says"),
        *("text", "title", "unplanned", "why"),
        *("field", "fields", "file", "files", "path", "prefix", "where"),
        *("approved_by", "by", "email", "proposed_by", "who"),
        *("about", "command", "container", "namespace", "node", "owner", "pod", "subject"),
        *("reservations", "training_plans"),
        *("annotations", "document", "labels", "spec", "tags", "taints"),
    }
)
_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:+-]{0,99}")


def _word(text: str) -> str:
    return text if not text or _WORD.fullmatch(text) else "Other"


# A status or a reason: one word. What is more than one is not repeated: it would be a text from outside.
Word: TypeAlias = Annotated[str, AfterValidator(_word)]


class Answer(BaseModel):
    """What a tool gives back. Read from the API's JSON: what is not named here is left out. A field that has nothing to
    tell does not appear in the answer. A field of outside text has the API's name with `_untrusted` behind it; to
    leave that out is a TypeError when the class is made."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=lambda name: name.removesuffix(MARK)),
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **_more: Any) -> None:
        for name, field in cls.model_fields.items():
            if not name.endswith(MARK) and is_outside(name, field.annotation):
                raise TypeError(f"{cls.__name__}.{name} holds text from outside: call it {name}{MARK}")


def is_outside(name: str, annotation: Any) -> bool:
    """Whether what the API calls so is text from outside; `annotation`: its type."""
    return _holds(annotation, Any) or (name in OUTSIDE and _holds(annotation, str))


def _holds(annotation: Any, what: Any) -> bool:
    """Whether a type is this one, or has it inside of it; keys and fixed words apart."""
    if get_origin(annotation) is Literal:
        return False
    parts = get_args(annotation)[-1:] if get_origin(annotation) is dict else get_args(annotation)
    return annotation is what or any(_holds(inner, what) for inner in parts)


class Part(Answer):
    """A source that cannot be seen now, so that what comes from it is not known."""

    source_untrusted: str = Field(validation_alias="name")  # it may name a pod
    unknown_since: str | None = None
    reason: Word | None = None


def unseen(found: Any) -> tuple[Part, ...]:
    """Of an answer's `parts` those that cannot be seen."""
    return tuple(Part.model_validate(part) for part in found or () if part.get("unknown_since"))
