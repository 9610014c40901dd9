"""How sure a part of an answer is. What cannot be seen is told as such, with its reason: an empty list is a list that
was read and was empty."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from reconciler.live.redaction import presentable
from schemas.errors import InstantStartError


class View(BaseModel):
    model_config = ConfigDict(frozen=True)


class PartView(View):
    """One source that an answer is made from. `observed_at`: when it was last seen, null: never. `unknown_since`:
    since when it cannot be seen; what is shown is then what was seen last. `reason`, `message`: why not."""

    name: str
    observed_at: str | None = None
    unknown_since: str | None = None
    reason: str = ""
    message: str = ""

    @property
    def known(self) -> bool:
        return self.unknown_since is None and self.observed_at is not None


def seen(name: str, at: str) -> PartView:
    return PartView(name=name, observed_at=at)


def unseen(name: str, error: InstantStartError, *, since: str, last: str | None = None) -> PartView:
    """`last`: when it was seen before."""
    return PartView(name=name, observed_at=last, unknown_since=since, reason=error.reason, message=error.message)


def told(text: str, limit: int = 500) -> str:
    """Text from outside in one line, secrets and control sequences taken out."""
    return presentable(text, limit) if text else ""
