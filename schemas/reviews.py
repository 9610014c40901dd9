"""Lines about a change: what was proposed, said, approved and done, one JSON object each, in order of `seq`.

They lie in the notes of the change, which others can write to as well. So every line of ours is signed, and what
counts is told apart: an approval counts only if its signature fits; who proposed something is known only if the
signature of that line fits; what else is said counts in any case, for all of it can only hold something back.
A line with a field that is not known here is no line of ours.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from schemas.journal import Sha, Time, moment
from schemas.principals import Kind

VERSION = 1
MAX_LINE = 1 << 20  # bytes; an approval names every action that it lets pass
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
MaybeTime = Annotated[str, AfterValidator(lambda text: moment(text) if text else text)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Line(BaseModel):
    """`by`: who, as they were known when they did it. `sig`: HMAC-SHA256 by the control plane's key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    v: int = VERSION
    seq: int = Field(ge=1)
    at: Time
    by: Name
    kind: Kind = "person"
    sig: str = ""


class OpenLine(_Line):
    """`key`: digest of who asked and their idempotency key; `body`: digest of what they asked for. `reverts`: the
    commit that it takes back."""

    t: Literal["open"] = "open"
    title: str
    why: str = ""
    behalf: str = ""
    base: Sha
    head: Sha
    key: Digest | None = None
    body: Digest | None = None
    reverts: Sha | None = None


class UpdateLine(_Line):
    """A new head (`how`: edit, rebase), or new words only, where the head stays."""

    t: Literal["update"] = "update"
    how: Literal["edit", "rebase", "words"]
    base: Sha
    head: Sha
    title: str | None = None
    why: str | None = None
    behalf: str = ""


class CommentLine(_Line):
    t: Literal["comment"] = "comment"
    text: str
    behalf: str = ""


class ReviewLine(_Line):
    """`head`: what was reviewed. Of an approval: `plan` the digest of the plan that was seen, `actions` the digests
    it lets pass, by cluster; `files` the digest of the files as proposed; `authors` who could not give it."""

    t: Literal["review"] = "review"
    verdict: Literal["approve", "request-changes", "withdraw"]
    head: Sha
    text: str = ""
    plan: Digest | None = None
    actions: dict[str, tuple[Digest, ...]] = Field(default_factory=dict)
    files: Digest | None = None
    authors: tuple[str, ...] = ()
    expires: MaybeTime = ""


class MergeLine(_Line):
    """`commit`: the merge on the branch. `approvals`: seqs of the reviews that it rests on; `plan`: what was planned
    then, as numbers."""

    t: Literal["merge"] = "merge"
    commit: Sha
    head: Sha
    approvals: tuple[int, ...] = ()
    plan: dict[str, Any] = Field(default_factory=dict)


class CloseLine(_Line):
    t: Literal["close"] = "close"
    text: str = ""


AnyLine = OpenLine | UpdateLine | CommentLine | ReviewLine | MergeLine | CloseLine
Line = Annotated[AnyLine, Field(discriminator="t")]
LINE: TypeAdapter[AnyLine] = TypeAdapter(Line)
