"""What the policy wants before a change is merged, and what of that is still missing.

The gate that the engine asks before it acts is asked here too, about the actions that the change brings; beside it
stand the rules about files. What is judged by is the policy in force, never the change's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from reconciler.changes.foresight import Foresight
from reconciler.journal.changes import Change
from reconciler.plan import needed
from reconciler.plan.gates import Fleet, Held, Limits
from reconciler.plan.needed import ANYBODY, Rule
from schemas.documents.policy import POLICY_PATH
from schemas.reviews import ReviewLine

# What an approval lets pass. The others (a suspended cluster, a doubtful journal) hold the engine, not a merge.
APPROVABLE: Final = frozenset({"NeedsApproval", "PruneGuard", "BlastRadius", "RunningPods"})


@dataclass(frozen=True, kw_only=True)
class Vote:
    """An approval and what it is worth: `void` says why it does not count for the files of the change."""

    line: ReviewLine
    void: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`held`: by cluster, the actions of the change that may not go, by digest. `files`: those whose rules are not
    met. `objections`: requests for changes."""

    votes: tuple[Vote, ...] = ()
    held: dict[str, dict[str, Held]] = field(default_factory=dict[str, dict[str, Held]])
    files: dict[str, tuple[Rule, ...]] = field(default_factory=dict[str, tuple[Rule, ...]])
    objections: tuple[ReviewLine, ...] = ()

    @property
    def passes(self) -> bool:
        return not self.held and not self.files and not self.objections

    @property
    def counting(self) -> tuple[ReviewLine, ...]:
        return tuple(vote.line for vote in self.votes if not vote.void)

    def missing(self) -> list[str]:
        """Sentences: what it waits for."""
        told = [f"{line.by} asks for changes{': ' + line.text if line.text else ''}" for line in self.objections]
        for path, rules in self.files.items():
            told.append(f"{path} needs {' and '.join(rule.wants for rule in rules)}")
        told += [held.message for found in self.held.values() for held in found.values()]
        return list(dict.fromkeys(told))


def judge(change: Change, seen: Foresight, limits: Limits, now: datetime) -> Verdict:
    """`seen`: with its scopes gated by what is approved now."""
    votes = tuple(Vote(line=line, void=_void(line, seen, now)) for line in change.approvals)
    people = [vote.line.by for vote in votes if not vote.void]
    files: dict[str, tuple[Rule, ...]] = {}
    for path in seen.files:
        rules = needed.of_file(path, limits.rules)
        if path == POLICY_PATH and not rules:
            rules = [ANYBODY]  # who may loosen the policy alone needs no policy
        if unmet := needed.missing(rules, people):
            files[path] = tuple(unmet)
    held = {cluster: _held(seen, cluster) for cluster in seen.scopes}
    return Verdict(
        votes=votes,
        held={cluster: found for cluster, found in held.items() if found},
        files=files,
        objections=change.objections,
    )


def fleet_of(seen: Foresight) -> Fleet:
    return next((scope.fleet for scope in seen.scopes.values()), Fleet())


def _held(seen: Foresight, cluster: str) -> dict[str, Held]:
    held = seen.scopes[cluster].held
    mine = seen.introduced[cluster]
    return {digest: why for digest, why in held.items() if digest in mine and why.reason in APPROVABLE}


def _void(line: ReviewLine, seen: Foresight, now: datetime) -> str:
    if datetime.fromisoformat(line.expires) <= now:
        return f"it expired at {line.expires}"
    if line.files != seen.files_digest:  # also under the same head: its base may be another
        return "the files are not those that were approved"
    return ""
