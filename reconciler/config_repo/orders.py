"""Orders to the engine: a commit per order under refs/instantstart/orders/, the order as JSON in its message.

Any process with the right to push may give one; the engine folds it into the journal and removes the ref.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from reconciler.config_repo import names
from reconciler.config_repo.errors import NameRefused, RefMoved, RemoteUnavailable, SecretRefused
from reconciler.config_repo.notes import US
from reconciler.config_repo.objects import EMPTY_TREE, new_commit, new_object
from reconciler.config_repo.process import Git
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import CommitInfo, Order, RefUpdate
from reconciler.config_repo.refs import Refs
from schemas.secrets import find_secrets

_MAX_ORDER = 16 << 10


class Orders:
    def __init__(
        self, git: Git, reader: Reader, refs: Refs, *, clock: Callable[[], float], fetch: Callable[[], None]
    ) -> None:
        self._git = git
        self._reader = reader
        self._refs = refs
        self._clock = clock
        self._fetch = fetch

    def all(self, listed: Mapping[str, str] | None = None) -> list[Order]:
        """Oldest first (a ulid begins with its time). A malformed one is returned too, with its problem."""
        refs = below(names.ORDERS, list_refs(self._git, names.ORDERS) if listed is None else listed)
        kinds = self._reader.lookup(list(refs.values()))
        is_commit = {found.id for found in kinds if found is not None and found.kind == "commit"}
        commits = self._reader.commits(is_commit)
        return [_order(ulid, sha, commits.get(sha)) for ulid, sha in refs.items()]

    def put(self, ulid: str, body: Mapping[str, Any], author: tuple[str, str]) -> None:
        """Raises RefMoved if an order with this id exists."""
        ref = names.ORDERS + names.ulid(ulid)
        text = json.dumps(dict(body), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        for finding in find_secrets(text):
            raise SecretRefused(f"the order holds what looks like a {finding.kind}: {finding.masked}")
        commit = new_commit(tree=EMPTY_TREE, parents=(), author=author, committer=US, at=self._clock(), message=text)
        self._refs.store([new_object("tree", b""), commit])
        rejected = self._refs.publish([RefUpdate(ref=ref, old=None, new=commit.id)])[ref]
        if rejected is not None:
            raise RefMoved(f"order {ulid} was not accepted: {rejected}", ref=ref, tip=None)

    def remove(self, ulids: Sequence[str]) -> None:
        """Those that are gone already are fine; an order that was replaced meanwhile stays."""
        wanted = {names.ORDERS + names.ulid(ulid) for ulid in ulids}
        for attempt in (1, 2):
            known = {ref: sha for ref, sha in list_refs(self._git, names.ORDERS).items() if ref in wanted}
            if not known or self._remove(known, last=attempt == 2):
                return
            self._fetch()  # one of them is gone or replaced on the remote: see what is left, once

    def _remove(self, known: Mapping[str, str], *, last: bool) -> bool:
        try:
            verdicts = self._refs.publish([RefUpdate(ref=ref, old=sha, new=None) for ref, sha in known.items()])
        except RemoteUnavailable:
            # Git sends nothing at all when it knows that a ref to delete is not there.
            if last:
                raise
            return False
        return all(verdict is None for verdict in verdicts.values())


def list_refs(git: Git, *prefixes: str) -> dict[str, str]:
    """Full ref name → object id."""
    folders = [prefix.rstrip("/") for prefix in prefixes]
    out = git.must("for-each-ref", "--format=%(refname)%00%(objectname)", *folders).decode()
    return {ref: sha for ref, _, sha in (line.partition("\0") for line in out.splitlines())}


def below(prefix: str, refs: Mapping[str, str]) -> dict[str, str]:
    """Those with this prefix, by what follows it, sorted."""
    return {ref.removeprefix(prefix): tip for ref, tip in sorted(refs.items()) if ref.startswith(prefix)}


def _order(ulid: str, sha: str, commit: CommitInfo | None) -> Order:
    if commit is None:
        return Order(ulid=ulid, body={}, commit=sha, at="", author="", problem="the ref points to no commit")
    body, problem = _parse(ulid, f"{commit.subject}\n{commit.body}".strip())
    author = f"{commit.author_name} <{commit.author_email}>"
    return Order(ulid=ulid, body=body, commit=commit.sha, at=commit.at, author=author, problem=problem)


def _parse(ulid: str, text: str) -> tuple[dict[str, Any], str | None]:
    if len(text) > _MAX_ORDER:
        return {}, "the order is too long"
    try:
        names.ulid(ulid)
        body: Any = json.loads(text)
    except NameRefused as error:
        return {}, error.message
    except (ValueError, RecursionError):
        return {}, "the message is no JSON"
    return (cast("dict[str, Any]", body), None) if isinstance(body, dict) else ({}, "the message is no JSON object")
