"""Whether what somebody does to files lies within what their token reaches: looked at in the files that come out of it,
not in what was asked for, so that no way of asking gets around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from reconciler.changes import combining
from reconciler.changes.store import Store
from reconciler.config_repo.repo import ConfigRepo
from reconciler.journal.changes import Change
from schemas.errors import Forbidden
from schemas.principals import Principal, normal
from schemas.reach import Reach
from schemas.reading.read import is_document_file, read
from schemas.values import JsonObject, digest

_WAY_OUT = "propose less, or let somebody do it whose token reaches that far"


def must_reach(repo: ConfigRepo, who: Principal, base: str, files: Mapping[str, bytes | None]) -> None:
    """`files`: path → new content over the commit `base`, None for one that goes. Raises Forbidden."""
    reach = who.reach
    if reach.is_all:
        return
    for path, data in sorted(files.items()):
        if not reach.has(path):
            _refuse(who, path)
        if reach.kinds:
            _must_be_of(who, reach, path, _content(repo, base, path), data)


def must_reach_change(store: Store, who: Principal, change: Change) -> None:
    """Whoever brings a change further must reach all of it, or have proposed it. Raises Forbidden."""
    if who.reach.is_all or normal(who.name) in change.authors:
        return
    must_reach_all(store, who, change)


def must_reach_all(store: Store, who: Principal, change: Change) -> None:
    """As for a merge: own or not. Raises Forbidden."""
    if who.reach.is_all:
        return
    changed = combining.proposed(store.repo, change.base, change.head)
    files = {path: _content(store.repo, change.head, path) for path in changed}
    must_reach(store.repo, who, change.base, files)


def must_reach_cluster(who: Principal, cluster: str) -> None:
    """Raises Forbidden."""
    if not who.reach.has_cluster(cluster):
        text = f"an order is about all of a cluster, and this token reaches {who.reach}, not all of {cluster}"
        raise Forbidden(text, reason="OutOfReach", way_out="let somebody do it whose token reaches that far")


def _must_be_of(who: Principal, reach: Reach, path: str, before: bytes | None, after: bytes | None) -> None:
    if not is_document_file(path):
        _refuse(who, path)
    old, new = _documents(path, before), _documents(path, after)
    if old is None or new is None:
        text = f"{path} cannot be read, so nobody can tell which kinds this changes; this token reaches {reach}"
        raise Forbidden(text, reason="OutOfReach", way_out="mend the file with git")
    for kind, name in sorted({*old, *new}):
        if old.get((kind, name)) != new.get((kind, name)) and kind not in reach.kinds:
            _refuse(who, f"{kind or 'a document without a kind'} {name} in {path}".replace("  ", " "))


def _refuse(who: Principal, what: str) -> None:
    text = f"this token reaches {who.reach}, and this would change {what}"
    raise Forbidden(text, reason="OutOfReach", way_out=_WAY_OUT)


def _content(repo: ConfigRepo, commit: str, path: str) -> bytes | None:
    found = repo.file(commit, path)
    return None if found is None else repo.blobs([found.blob])[found.blob]


def _documents(path: str, data: bytes | None) -> dict[tuple[str, str], list[str]] | None:
    """(kind, name) → digests of whatever stands under that; None: it cannot be read."""
    if data is None:
        return {}
    reading = read(path, data)
    if reading.faults:
        return None
    found: dict[tuple[str, str], list[str]] = {}
    for identity, value in _identified(document.value for document in reading.documents):
        found.setdefault(identity, []).append(digest(value))
    return found


def _identified(values: Iterator[Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    for value in values:
        document: JsonObject = cast("JsonObject", value) if isinstance(value, dict) else {}
        metadata: Any = document.get("metadata")
        name: Any = cast("JsonObject", metadata).get("name") if isinstance(metadata, dict) else ""
        kind = document.get("kind")
        if value is not None:
            yield (kind if isinstance(kind, str) else "", name if isinstance(name, str) else ""), value
