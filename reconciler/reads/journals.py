"""The journal to read: lines with the commits they belong to, and lines as they come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from reconciler.config_repo.errors import ObjectMissing, UnknownRevision
from reconciler.config_repo.records import CommitInfo
from reconciler.config_repo.repo import ConfigRepo
from reconciler.journal.fold import revisions


class LineView(BaseModel):
    """One journal line. `raw` is all of it."""

    model_config = ConfigDict(frozen=True)

    seq: int
    at: str
    t: str
    say: str
    raw: dict[str, Any]


class RevisionView(BaseModel):
    """A revision, its commit as far as it is still here, and what became of it, in the order of the journal."""

    model_config = ConfigDict(frozen=True)

    cluster: str
    revision: str
    author: str = ""
    email: str = ""
    committed: str = ""
    subject: str = ""
    condition: str
    reason: str = ""
    lines: tuple[LineView, ...]


def history(repo: ConfigRepo, cluster: str, *, limit: int = 10) -> list[RevisionView]:
    """The newest `limit` revisions that the journal knows, oldest first."""
    notes = repo.notes(cluster).entries
    told = revisions(notes)
    found = [(lines_of(note), revision) for revision, note in notes.items()]
    found.sort(key=lambda pair: pair[0][0].seq if pair[0] else 0)
    views: list[RevisionView] = []
    for lines, revision in found[-limit:]:
        commit = _commit(repo, revision)
        views.append(
            RevisionView(
                cluster=cluster,
                revision=revision,
                author=commit.author_name if commit else "",
                email=commit.author_email if commit else "",
                committed=commit.at if commit else "",
                subject=commit.subject if commit else "(this commit is no longer here)",
                condition=told[revision].condition.value,
                reason=told[revision].reason,
                lines=lines,
            )
        )
    return views


class Tail:
    """Gives each journal line once, as it is found. Costs nothing while a journal's tip does not move."""

    def __init__(self, repo: ConfigRepo, *, only: str | None = None, from_start: bool = False) -> None:
        self._repo = repo
        self._only = only
        self._tips: dict[str, str | None] = {}
        self._seen: dict[str, tuple[int, str]] = {}
        if not from_start:
            self.new()

    def new(self) -> list[tuple[str, LineView]]:
        """(cluster, line), by cluster and seq."""
        found: list[tuple[str, LineView]] = []
        there = self._repo.journal_tips()
        for cluster in self._seen.keys() - set(there):
            del self._seen[cluster], self._tips[cluster]
        for cluster, tip in there.items():
            if self._only not in (None, cluster) or self._tips.get(cluster, "") == tip:
                continue
            try:
                view = self._repo.notes(cluster)
            except ObjectMissing:  # the ref holds something else: the engine says so
                continue
            if self._tips.get(cluster, "") == view.tip:
                continue
            self._tips[cluster] = view.tip
            lines = all_lines(view.entries)
            last, at = self._seen.get(cluster, (0, ""))
            if lines and lines[-1].seq < last:  # it went back, or is another one: what is new is what came since
                fresh = [line for line in lines if line.at > at]
            else:
                fresh = [line for line in lines if line.seq > last]
            found.extend((cluster, line) for line in fresh)
            if lines:
                self._seen[cluster] = lines[-1].seq, max(at, lines[-1].at)
        return found


def all_lines(notes: Mapping[str, bytes]) -> list[LineView]:
    """Lines of a whole journal by seq; what cannot be read is left to the fold, which reports it."""
    return sorted((line for note in notes.values() for line in lines_of(note)), key=lambda line: line.seq)


def lines_of(note: bytes) -> tuple[LineView, ...]:
    return tuple(_readable(note.decode("ascii", "replace").splitlines()))


def _readable(texts: Iterable[str]) -> Iterable[LineView]:
    for text in texts:
        try:
            raw: Any = json.loads(text)
        except ValueError:
            continue
        if not isinstance(raw, dict):
            continue
        line = cast("dict[str, Any]", raw)
        if isinstance(line.get("seq"), int):
            yield LineView(
                seq=line["seq"],
                at=str(line.get("at", "")),
                t=str(line.get("t", "")),
                say=str(line.get("say", "")),
                raw=line,
            )


def _commit(repo: ConfigRepo, revision: str) -> CommitInfo | None:
    try:
        return repo.commit_info(revision)
    except (ObjectMissing, UnknownRevision):
        return None
