"""Who asks: a person or an agent, with what they may do.

Scopes: `read` sees everything but secrets; `propose` opens and edits changes; `approve` lets held actions and changes
pass; `operate` gives orders to the engine and makes tokens. An agent reads and proposes, nothing else, whatever it
was given.
"""

from __future__ import annotations

import unicodedata
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schemas.reach import EVERYTHING, Reach

Scope: TypeAlias = Literal["read", "propose", "approve", "operate"]
Kind: TypeAlias = Literal["person", "agent"]
Via: TypeAlias = Literal["token", "session", "cli"]

ALL_SCOPES: Final[frozenset[Scope]] = frozenset({"read", "propose", "approve", "operate"})
AGENT_SCOPES: Final[frozenset[Scope]] = frozenset({"read", "propose"})
INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # categories of Unicode: nobody sees these
ORDER: Final[tuple[Scope, ...]] = ("read", "propose", "approve", "operate")


class Principal(BaseModel):
    """`name` stands in trailers and journal lines; for people mostly an email address. `on_behalf_of`: the person an
    agent works for, if it says so; it gives no rights. `id`: of the token or session, never the secret itself. `reach`:
    what its changes may touch."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=200)
    kind: Kind
    scopes: frozenset[Scope]
    via: Via
    on_behalf_of: str = ""
    id: str = ""
    reach: Reach = EVERYTHING

    @model_validator(mode="after")
    def _agents_decide_nothing(self) -> Principal:
        if self.kind == "agent" and (more := self.scopes - AGENT_SCOPES):
            raise ValueError(f"an agent may not hold {', '.join(in_order(more))}")
        return self

    @property
    def is_agent(self) -> bool:
        return self.kind == "agent"

    def is_same(self, name: str) -> bool:
        """Whether somebody's name in a trailer or line is this one's."""
        return same(self.name, name)


def normal(name: str) -> str:
    """A name as it is compared: `Ops@Example.com ` is `ops@example.com`, and so is what only looks otherwise to a
    program: full width, composed or not, with characters that nobody sees."""
    if name.isascii():
        return name.strip().casefold()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in folded if unicodedata.category(char) not in INVISIBLE).strip()


def same(one: str, other: str) -> bool:
    return normal(one) == normal(other)


def in_order(scopes: frozenset[Scope]) -> list[Scope]:
    """From the least to the most."""
    return [scope for scope in ORDER if scope in scopes]
