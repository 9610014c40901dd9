"""What happened to a cluster: commits, the journal's lines, and what each did, with who asked and who let it pass.

The order is that of git and of the journal, not of clocks: the commit that asked stands before the lines about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import Field

from reconciler.config_repo.records import CommitInfo
from reconciler.reads.journals import LineView
from reconciler.reads.parts import View, told

MOST_COMMITS: Final = 1000
_TRAILER = re.compile(r"^(Change-Id|Proposed-by|Approved-by): *(.+)$", re.MULTILINE | re.IGNORECASE)
_SHOWN: Final = ("phase", "state", "stage", "key", "op", "call", "verb", "reason", "progress", "do", "subject", "ref")


class AskedView(View):
    """Who wanted it. From the commit and its trailers, which are for readers: approvals that count are those that the
    engine checked, in `approved`. `change`: the change that brought it."""

    by: str = ""
    email: str = ""
    change: str | None = None
    proposed_by: str | None = None


class EntryView(View):
    """One thing that happened. `kind`: commit, or the kind of the journal's line (rollout, op, stage, hold, order, run,
    end). `at` of a commit is git's time, of a line the engine's. `revision`: the commit it belongs to. `approved`: who
    let it pass, where somebody had to. `detail`: the line's own words (phase, state, key, call, reason, ref …)."""

    id: str
    kind: str
    at: str
    revision: str
    seq: int | None = None
    say: str
    asked: AskedView
    approved: tuple[str, ...] = ()
    detail: dict[str, Any] = Field(default_factory=dict)


def entries(commits: Sequence[CommitInfo], lines: Sequence[tuple[str, LineView]]) -> list[EntryView]:
    """Newest first. `commits`: those that changed the cluster, newest first; `lines`: each with its revision."""
    asked = {commit.sha: _asked(commit) for commit in commits}
    orders = _orders(line for _, line in lines)
    found = [(key, _commit(commit, asked[commit.sha])) for key, commit in _placed(commits, lines)]
    found += [((line.seq, 0, 0), _line(revision, line, asked, orders)) for revision, line in lines]
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0], reverse=True)]


def trailers(body: str) -> dict[str, list[str]]:
    """What a merge commit tells its readers, by lower-case name."""
    found: dict[str, list[str]] = {}
    for name, value in _TRAILER.findall(body):
        found.setdefault(name.lower(), []).append(told(value, 200))
    return found


_Place = tuple[float, int, int]


def _placed(
    commits: Sequence[CommitInfo], lines: Sequence[tuple[str, LineView]]
) -> Iterator[tuple[_Place, CommitInfo]]:
    """A commit stands before its first line; one without lines before the next newer commit that has some."""
    first: dict[str, int] = {}
    for revision, line in lines:
        first[revision] = min(line.seq, first.get(revision, line.seq))
    before = float("inf")
    for index, commit in enumerate(commits):
        before = first.get(commit.sha, before)
        yield (before - 1, 1, -index), commit


def _commit(commit: CommitInfo, asked: AskedView) -> EntryView:
    told_by = trailers(commit.body)
    return EntryView(
        id=commit.sha,
        kind="commit",
        at=commit.at,
        revision=commit.sha,
        say=told(commit.subject, 200),
        asked=asked,
        approved=tuple(told_by.get("approved-by", ())),
    )


def _asked(commit: CommitInfo) -> AskedView:
    told_by = trailers(commit.body)
    return AskedView(
        by=told(commit.author_name, 200),
        email=told(commit.author_email, 200),
        change=next(iter(told_by.get("change-id", ())), None),
        proposed_by=next(iter(told_by.get("proposed-by", ())), None),
    )


def _line(
    revision: str, line: LineView, asked: Mapping[str, AskedView], orders: Mapping[str, tuple[str, ...]]
) -> EntryView:
    raw = line.raw
    who = AskedView(by=told(str(raw.get("by") or ""), 200)) if line.t == "order" else asked.get(revision, AskedView())
    detail = {name: _plain(raw[name]) for name in _SHOWN if raw.get(name) not in (None, "", {}, [])}
    message = raw.get("msg") or raw.get("why") or raw.get("detail")
    if message:
        detail["message"] = told(str(message))
    return EntryView(
        id=str(line.seq),
        kind=line.t,
        at=line.at,
        revision=revision,
        seq=line.seq,
        say=told(line.say, 200),
        asked=who,
        approved=_approvers(raw, orders),
        detail=detail,
    )


def _orders(lines: Iterable[LineView]) -> dict[str, tuple[str, ...]]:
    """Who approved what, by the digest that their order names."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.t == "order" and line.raw.get("do") == "approve":
            subject = str(line.raw.get("subject") or "")
            found[subject] = (*found.get(subject, ()), told(str(line.raw.get("by") or ""), 200))
    return found


def _approvers(raw: Mapping[str, Any], orders: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Of an op: who approved its actions."""
    if raw.get("t") != "op":
        return ()
    words: Any = raw.get("approved")
    if isinstance(words, list):  # by which words it passed, as the engine wrote it
        return tuple(told(str(word), 200) for word in cast("Sequence[Any]", words))
    digests = [str(text) for text in raw.get("actions") or ()]
    by_order = [who for subject, names in orders.items() if _is_one_of(subject, digests) for who in names]
    return tuple(dict.fromkeys(by_order))


def _is_one_of(subject: str, digests: Iterable[str]) -> bool:
    """The digests in a line may be abbreviated."""
    return bool(subject) and any(text and subject.startswith(text) for text in digests)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return told(value)
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in cast("dict[str, Any]", value).items()}
    return [_plain(inner) for inner in cast("Sequence[Any]", value)] if isinstance(value, list) else value
