"""fold(lines of a change) -> what the change is. Pure, and the only reader of what its lines mean.

A line that is none of ours, or an approval whose signature does not fit, counts for nothing and is told as a finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from schemas.errors import InvalidInput
from schemas.principals import normal
from schemas.reviews import (
    LINE,
    MAX_LINE,
    VERSION,
    AnyLine,
    CloseLine,
    CommentLine,
    MergeLine,
    OpenLine,
    ReviewLine,
    UpdateLine,
)
from schemas.values import JsonObject


@dataclass(frozen=True, kw_only=True)
class Told:
    """A line, and whether the control plane itself wrote it."""

    line: AnyLine
    signed: bool


@dataclass(frozen=True, kw_only=True)
class NoApproval:
    """A line that would be an approval and counts for nothing."""

    seq: int
    by: str
    clusters: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"line {self.seq}, an approval by {self.by}, counts for nothing: {self.why}"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change as its lines tell it. `authors`: normal forms of everyone who proposed something of it, and for whom;
    `vouched`: all of that was written by the control plane, so it is known. `reviews`: the newest of each reviewer,
    by normal form. `merge`: a line says so; whether the branch holds it is the repository's word."""

    id: str
    seq: int
    opened: OpenLine
    title: str
    why: str
    base: str
    head: str
    updated_at: str
    authors: frozenset[str]
    vouched: bool
    told: tuple[Told, ...]
    head_seq: int  # of the line that brought this head
    reviews: Mapping[str, ReviewLine] = field(default_factory=dict[str, ReviewLine])
    merge: MergeLine | None = None
    close: CloseLine | None = None
    rejected: tuple[NoApproval, ...] = ()
    findings: tuple[str, ...] = ()

    @property
    def approvals(self) -> tuple[ReviewLine, ...]:
        """Approvals that stand, whatever they are worth now: not withdrawn, signed, by somebody who may."""
        found = [line for line in self.reviews.values() if line.verdict == "approve"]
        return tuple(line for line in found if normal(line.by) not in self.authors)

    @property
    def objections(self) -> tuple[ReviewLine, ...]:
        """Requests for changes that block: not withdrawn, and no newer head since."""
        found = [line for line in self.reviews.values() if line.verdict == "request-changes"]
        return tuple(line for line in found if line.seq > self.head_seq)


def fold(change: str, notes: Mapping[str, bytes], signed: Callable[[str, JsonObject], bool]) -> Change:
    """`notes`: annotated commit → note. `signed(change, line)`: whether the signature fits. Raises InvalidInput where
    no line opens it."""
    texts = (text for note in notes.values() for text in note.decode("utf-8", "replace").splitlines())
    return fold_lines(change, texts, signed)


def fold_lines(change: str, texts: Iterable[str], signed: Callable[[str, JsonObject], bool]) -> Change:
    """From lines in any order."""
    told, findings = _read(change, texts, signed)
    state: Change | None = None
    for one in told:
        if isinstance(one.line, OpenLine):
            if state is None:
                state = _opened(change, one, one.line)
            else:
                findings.append(f"line {one.line.seq} opens the change a second time: it counts for nothing")
        elif state is None:
            findings.append(f"line {one.line.seq} stands before the one that opens the change: it counts for nothing")
        else:
            state = _take(state, one, findings)
    if state is None:
        raise InvalidInput(
            f"no line opens change {change}: {'; '.join(findings) or 'there are none'}", reason="NoChange"
        )
    last = max(one.line.seq for one in told)
    return replace(state, seq=last, told=tuple(told), findings=tuple(findings))


def _read(change: str, texts: Iterable[str], signed: Callable[[str, JsonObject], bool]) -> tuple[list[Told], list[str]]:
    """Lines in order; of two with one number the signed one, else the first."""
    findings: list[str] = []
    found: dict[int, Told] = {}
    for text in texts:
        if not text.strip():
            continue
        line, body, why = _parsed(text)
        if line is None:
            findings.append(f"a line that is none of ours counts for nothing: {why}")
            continue
        one = Told(line=line, signed=signed(change, body))
        before = found.get(line.seq)
        if before is None or before.line == line:
            found[line.seq] = one
            continue
        findings.append(f"there are two different lines with number {line.seq}: one of them counts for nothing")
        if one.signed and not before.signed:
            found[line.seq] = one
    return [found[seq] for seq in sorted(found)], findings


def _parsed(text: str) -> tuple[AnyLine | None, JsonObject, str]:
    if len(text) > MAX_LINE:
        return None, {}, "it is too long"
    try:
        body: Any = json.loads(text)
        line = LINE.validate_python(body)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        return None, {}, f"{place}: {first['msg']}"
    except (ValueError, RecursionError):
        return None, {}, "it is no JSON"
    if line.v > VERSION:
        return None, {}, f"it is of version {line.v}, newer than {VERSION}"
    return line, body, ""


def _opened(change: str, one: Told, line: OpenLine) -> Change:
    return Change(
        id=change,
        seq=line.seq,
        opened=line,
        title=line.title,
        why=line.why,
        base=line.base,
        head=line.head,
        updated_at=line.at,
        authors=_people(line.by, line.behalf),
        vouched=one.signed,
        told=(one,),
        head_seq=line.seq,
    )


def _take(state: Change, one: Told, findings: list[str]) -> Change:
    line = one.line
    if isinstance(line, CommentLine):
        return replace(state, updated_at=line.at)
    if state.close is not None or state.merge is not None:
        # Reviews count until then and no longer; of two ends the first counts, but what was merged is merged.
        if isinstance(line, MergeLine) and state.merge is None:
            return replace(state, merge=line, updated_at=line.at)
        if not isinstance(line, ReviewLine):
            findings.append(f"line {line.seq} comes after the end of the change: it counts for nothing")
            return state
    if isinstance(line, UpdateLine):
        # Who edits voids what was approved; a rebase proposes the same, and is held against it at the merge.
        stands = line.head == state.head or (line.how == "rebase" and one.signed)
        return replace(
            state,
            reviews={who: said for who, said in state.reviews.items() if stands or said.verdict != "approve"},
            title=line.title if line.title is not None else state.title,
            why=line.why if line.why is not None else state.why,
            base=line.base,
            head=line.head,
            updated_at=line.at,
            head_seq=line.seq if line.head != state.head else state.head_seq,
            authors=state.authors | (_people(line.by, line.behalf) if line.how != "words" else frozenset()),
            vouched=state.vouched and one.signed,
        )
    if isinstance(line, ReviewLine):
        return _review(state, one, line, findings)
    if isinstance(line, MergeLine):
        return replace(state, merge=line, updated_at=line.at)
    return replace(state, close=line, updated_at=line.at) if isinstance(line, CloseLine) else state


def _review(state: Change, one: Told, line: ReviewLine, findings: list[str]) -> Change:
    name = normal(line.by)
    if line.verdict == "approve":
        why = _no_approval(state, one, line)
        if why is not None:
            told = NoApproval(seq=line.seq, by=line.by, clusters=tuple(line.actions), why=why)
            findings.append(str(told))
            return replace(state, rejected=(*state.rejected, told))
    if line.verdict == "withdraw" and not one.signed:
        findings.append(f"line {line.seq}, which takes a review back, counts for nothing: its signature does not fit")
        return state
    if line.verdict == "withdraw":
        return replace(state, reviews={who: said for who, said in state.reviews.items() if who != name})
    return replace(state, reviews={**state.reviews, name: line}, updated_at=line.at)


def _no_approval(state: Change, one: Told, line: ReviewLine) -> str | None:
    if not one.signed:
        return "its signature does not fit this change and this control plane's key"
    if line.kind != "person":
        return "an agent never approves"
    if normal(line.by) in state.authors or normal(line.by) in {normal(name) for name in line.authors}:
        return "its author proposed the change"
    if not line.expires or line.plan is None:
        return "it says neither what was seen nor when it expires"
    return None


def _people(by: str, behalf: str) -> frozenset[str]:
    return frozenset(normal(name) for name in (by, behalf) if name.strip())
