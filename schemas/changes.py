"""What is asked for when something is to change: edits, and the words around them. The same for REST and MCP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from schemas.reviews import Digest

MOST_EDITS = 500
_DEEPEST = 100  # levels; a document has fewer, and says so better
_CONTROL = frozenset(chr(code) for code in (*range(32), 127, *range(0x80, 0xA0), 0x2028, 0x2029))


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half a character (a lone surrogate)") from None
    if "\0" in text:
        raise ValueError("a NUL character")
    return text


def _one_line(text: str) -> str:
    if not text.strip() or _CONTROL.intersection(text):
        raise ValueError("expected one line of text without control characters")
    return _encodable(text).strip()


def _json(value: Any) -> Any:
    """What can be written down again: not deeper than any document, and all of it text. Without recursion, which is
    what would fail."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _members(one)]
        if not level:
            return value
    raise ValueError(f"at most {_DEEPEST} levels are expected")


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        for key in held:
            _encodable(key)
        return held.values()
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


Text = Annotated[str, AfterValidator(_encodable)]
Title = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_one_line)]
Words = Annotated[str, Field(max_length=10_000), AfterValidator(_encodable)]
ClusterName = Annotated[str, Field(pattern=r"^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$")]
Kind = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[A-Z][A-Za-z0-9]*$")]
Name = Annotated[str, Field(min_length=1, max_length=253), AfterValidator(_one_line)]
Path = Annotated[str, Field(min_length=1, max_length=1024, description="From the root: clusters/prod/groups.yaml")]
Revision = Annotated[str, Field(min_length=1, max_length=200)]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PatchDocument(_Asked):
    """An RFC 6902 patch on one document as it is written (without defaults): only the lines that it means change."""

    edit: Literal["patch"]
    cluster: ClusterName
    kind: Kind
    name: Name
    patch: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=1000), AfterValidator(_json)]


class PutDocument(_Asked):
    """A whole document. One that is there is changed where it differs, and keeps its comments; a new one goes into
    `path` if that is told, else into a file of its own."""

    edit: Literal["put"]
    cluster: ClusterName
    document: Annotated[dict[str, Any], Field(description="apiVersion, kind, metadata, spec"), AfterValidator(_json)]
    path: Path | None = None


class RemoveDocument(_Asked):
    """One document goes; the file too, if nothing else is in it."""

    edit: Literal["remove"]
    cluster: ClusterName
    kind: Kind
    name: Name


class PutFile(_Asked):
    """A whole file as text, such as a lifecycle script or the policy; null removes it."""

    edit: Literal["file"]
    path: Path
    text: Annotated[Text | None, Field(max_length=1 << 20)]


class RemoveCluster(_Asked):
    """The whole folder goes. The cluster is deleted only if deletionProtection was false before."""

    edit: Literal["removeCluster"]
    cluster: ClusterName


Edit: TypeAlias = Annotated[
    PatchDocument | PutDocument | RemoveDocument | PutFile | RemoveCluster, Field(discriminator="edit")
]


class NewChange(_Asked):
    """`base`: the revision that the edits were made on, the branch's head if not told. `direct`: commit it at once,
    where the policy lets these files be committed without a review."""

    title: Title
    why: Words = ""
    base: Revision | None = None
    edits: Annotated[list[Edit], Field(min_length=1, max_length=MOST_EDITS)]
    direct: bool = False


class ChangeUpdate(_Asked):
    """New words, or further edits on top of the change's head."""

    title: Title | None = None
    why: Words | None = None
    edits: Annotated[list[Edit], Field(max_length=MOST_EDITS)] = []


class NewComment(_Asked):
    text: Annotated[Words, Field(min_length=1)]


class Closing(_Asked):
    """Why it is not wanted any more."""

    text: Words = ""


class NewReview(_Asked):
    """`approve` names the digest of the plan that was seen; `withdraw` takes one's own review back."""

    verdict: Literal["approve", "request-changes", "withdraw"]
    text: Words = ""
    plan: Digest | None = None


class NewRevert(_Asked):
    """What to take back: a change that was merged, or one commit of the branch."""

    change: Annotated[str | None, Field(pattern=r"^[0-9a-hjkmnp-tv-z]{26}$")] = None
    commit: Sha | None = None
    title: Title | None = None
    why: Words = ""


class NewOrder(_Asked):
    """A person's word to the engine. `approve` and `release` take a key or an action digest that is held; `retry` an
    op, a key or a stage; `resolve` an unknown op, with what became of it."""

    cluster: ClusterName
    do: Literal["approve", "release", "retry", "resolve"]
    subject: Annotated[str, Field(min_length=1, max_length=160), AfterValidator(_one_line)]
    outcome: Literal["happened", "not-happened"] | None = None
    why: Annotated[Words, Field(min_length=1)]
