"""Whose approval an action or a file needs, and what of that is still missing. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schemas.globs import any_matches
from schemas.plan import Action, Cost
from schemas.principals import normal


@dataclass(frozen=True, kw_only=True)
class Rule:
    """`count` different people of `approvers` (patterns; none: everybody). `costs` empty: it is about files."""

    paths: tuple[str, ...] = ()
    costs: frozenset[Cost] = field(default_factory=frozenset[Cost])
    approvers: tuple[str, ...] = ()
    count: int = 1

    def counts(self, names: Iterable[str]) -> int:
        """How many of these people count."""
        people = {normal(name) for name in names}
        patterns = [normal(text) for text in self.approvers]
        return sum(1 for who in people if not patterns or any(fnmatch.fnmatchcase(who, p) for p in patterns))

    @property
    def wants(self) -> str:
        who = f" by {' or '.join(self.approvers)}" if self.approvers else ""
        return (f"{self.count} approvals" if self.count > 1 else "an approval") + who


ANYBODY = Rule()


def of_action(action: Action, cluster: str, approval_for: frozenset[Cost], rules: Sequence[Rule]) -> list[Rule]:
    """What must be met before this action may go."""
    fit = [rule for rule in rules if action.cost in rule.costs and _is_in(rule, action.source.path, cluster)]
    return [ANYBODY, *fit] if action.cost in approval_for and not fit else fit


def of_file(path: str, rules: Sequence[Rule]) -> list[Rule]:
    """What must be met before a change of this file may be merged."""
    return [rule for rule in rules if not rule.costs and _fits(rule, path)]


def missing(rules: Iterable[Rule], approvers: Iterable[str]) -> list[Rule]:
    """Those that are not met by these approvers."""
    names = list(approvers)
    return [rule for rule in rules if rule.counts(names) < rule.count]


def _is_in(rule: Rule, path: str, cluster: str) -> bool:
    if path:
        return not rule.paths or _fits(rule, path)
    # Nobody knows which file asked for it (it may be gone): a rule about any file of the cluster counts.
    folder = f"clusters/{cluster}/"
    fixed = [pattern[: _first_wildcard(pattern)] for pattern in rule.paths]
    return not rule.paths or any(folder.startswith(text) or text.startswith(folder) for text in fixed)


def _first_wildcard(pattern: str) -> int:
    return min((at for at in (pattern.find(mark) for mark in "*?") if at >= 0), default=len(pattern))


def _fits(rule: Rule, path: str) -> bool:
    return any_matches(rule.paths, path)
