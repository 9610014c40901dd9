"""Approvals as signed lines: made, checked, and turned into who lets which action pass. Pure.

The signature is an HMAC over the canonical JSON of the whole line and the id of its change: an approval that was
copied to another change, or of which a digest, the approver or the expiry was edited, is none.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from schemas.principals import normal
from schemas.values import JsonObject, canonical


@dataclass(frozen=True, kw_only=True)
class Approval:
    """What one person lets pass. `source`: what people find it by (`change 01j… #7`, `order 01J…`). `actions`:
    digests by cluster. `expires`: None is never. `ordered`: an order to the engine about what it holds, no review."""

    source: str
    by: str
    expires: datetime | None
    actions: Mapping[str, frozenset[str]]
    ordered: bool = False


@dataclass(frozen=True, kw_only=True)
class Passing:
    """What lets the actions of one cluster pass now: for each digest the approvals that name it."""

    by_digest: Mapping[str, tuple[Approval, ...]] = field(default_factory=dict[str, tuple[Approval, ...]])

    def approvers(self) -> dict[str, frozenset[str]]:
        """Digest → names in normal form. One person is one approver, however often they said it."""
        return {digest: frozenset(normal(one.by) for one in told) for digest, told in self.by_digest.items()}

    def ordered(self) -> frozenset[str]:
        """What orders let pass."""
        return frozenset(digest for digest, told in self.by_digest.items() if any(one.ordered for one in told))

    def sources(self, digest: str) -> tuple[str, ...]:
        """For the journal: by which words an action passed."""
        return tuple(f"{one.by} ({one.source})" for one in self.by_digest.get(digest, ()))


def signature(key: bytes, change: str, line: JsonObject) -> str:
    """`line` with or without its own signature."""
    body = {name: value for name, value in line.items() if name != "sig"}
    text = canonical({"change": change, "line": body})
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def is_signed(key: bytes, change: str, line: JsonObject) -> bool:
    told = line.get("sig")
    return isinstance(told, str) and told.isascii() and hmac.compare_digest(signature(key, change, line), told)


def passing(approvals: Iterable[Approval], cluster: str, now: datetime) -> Passing:
    """Those of these approvals that have not expired, by what they let pass in one cluster."""
    found: dict[str, tuple[Approval, ...]] = {}
    for approval in approvals:
        if approval.expires is not None and approval.expires <= now:
            continue
        for digest in approval.actions.get(cluster, ()):
            found[digest] = (*found.get(digest, ()), approval)
    return Passing(by_digest=found)
