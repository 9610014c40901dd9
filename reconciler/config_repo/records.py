"""What the config repository hands out and takes in. Ids are 40 hex digits; text is str, content is bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Credential:
    """For https remotes. Never printed."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitInfo:
    """A commit as people see it. `at`: when it was committed, UTC, `2026-03-01T10:00:00Z`."""

    sha: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    at: str
    subject: str
    body: str
    tree: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RepoFile:
    """One entry below a folder. `path` starts at the root of the repository.

    `problem` says why the content must not be read; without one, `mode` is a regular file's and `path` the exact name.
    """

    path: str
    mode: str
    blob: str
    size: int
    problem: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NotesView:
    """All notes of one ref. `tip` None: there is no such ref here. `entries`: annotated commit → note."""

    tip: str | None
    entries: Mapping[str, bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotesAppend:
    """Lines for the notes of one cluster or change, `name`: (annotated commit, line without newline), in order.

    `expected_tip`: the tip the lines were written against. `revision_parent` keeps a revision reachable.
    `attachments`: content that is too long for a line; kept as `blobs/<id>`, see `objects.blob_id`.
    """

    name: str
    expected_tip: str | None
    lines: Sequence[tuple[str, str]]
    subject: str
    revision_parent: str | None = None
    attachments: Sequence[bytes] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class NotesResult:
    """`tip`: ours if accepted, else where our copy of the ref stands. `rejected_by`: the other side's words."""

    accepted: bool
    tip: str | None
    rejected_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A person's word to the engine, as found under refs/instantstart/orders/. `problem`: why `body` is empty."""

    ulid: str
    body: Mapping[str, Any]
    commit: str
    at: str
    author: str
    problem: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RefUpdate:
    """One compare-and-swap. None stands for "does not exist"."""

    ref: str
    old: str | None
    new: str | None
