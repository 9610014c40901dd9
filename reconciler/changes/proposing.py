"""Opening a change, and bringing it further: new edits, new words, a newer base."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ulid import ULID

from reconciler.changes import combining, wording
from reconciler.changes.editing import Files
from reconciler.changes.reaching import must_reach, must_reach_change
from reconciler.changes.store import State, Store, is_id
from reconciler.config_repo.changes import Move
from reconciler.config_repo.errors import UnknownRevision
from reconciler.live.clock import Clock
from schemas.changes import ChangeUpdate, NewChange
from schemas.errors import Conflict, Flaw, InvalidInput, Stale
from schemas.principals import Principal, normal
from schemas.values import canonical, digest


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A change that is about to be opened: files to write over `base`."""

    title: str
    why: str
    base: str
    files: Mapping[str, bytes | None]
    reverts: str | None = None


def open_change(
    store: Store,
    clock: Clock,
    who: Principal,
    asked: NewChange,
    *,
    key: str | None,
    check: Callable[[Iterable[str]], None],
) -> str:
    """Its id. With the same key and the same request: that of the change which is there already. `check` may refuse
    the files that it would change."""

    def propose() -> Proposal:
        base = _base(store, asked.base)
        files = Files(store.repo, base)
        files.apply(asked.edits)
        changed = files.changed()
        check(changed)
        return Proposal(title=asked.title, why=asked.why, base=base, files=changed)

    return opened(store, clock, who, propose, key=key, body=asked.model_dump(mode="json", exclude_unset=True))


def opened(
    store: Store,
    clock: Clock,
    who: Principal,
    propose: Callable[[], Proposal],
    *,
    key: str | None,
    body: Mapping[str, Any],
) -> str:
    """Open what `propose()` makes, once per key."""
    taken = _key(who, key) if key is not None else None
    asked = digest({"by": normal(who.name), "asked": dict(body)})

    def act(move: Move) -> str:
        if taken is not None and (text := store.repo.changes.keyed(taken)) is not None:
            return _finish(store, move, text, asked)
        proposal = propose()
        must_reach(store.repo, who, proposal.base, proposal.files)
        if not proposal.files:
            raise InvalidInput("nothing would change: everything is as asked already", reason="NothingToChange")
        change = str(ULID.from_datetime(clock.now())).lower()
        trailers = wording.proposed_by(change, who.name, who.on_behalf_of)
        head = store.repo.changes.store_commit(
            parents=[proposal.base],
            changes=proposal.files,
            message=wording.message(proposal.title, proposal.why, trailers),
            author=wording.author(who),
        )
        line = store.line(
            change,
            1,
            who,
            "open",
            title=proposal.title,
            why=proposal.why,
            behalf=who.on_behalf_of,
            base=proposal.base,
            head=head,
            key=taken,
            body=asked if taken is not None else None,
            reverts=proposal.reverts,
        )
        if taken is not None:
            store.repo.changes.take_key(move, taken, canonical({"change": change, "line": line}), head)
        _add_opening(store, move, change, line)
        return change

    return store.attempt(act)


def update(store: Store, who: Principal, change: str, asked: ChangeUpdate, *, head: str | None) -> None:
    """`head`: what the edits were made on. Raises Stale if it is no longer the change's."""

    def act(move: Move) -> None:
        state = open_state(store, change, head)
        found = state.change
        must_reach_change(store, who, found)
        new = found.head
        if asked.edits:
            files = Files(store.repo, found.head)
            files.apply(asked.edits)
            if changed := files.changed():
                must_reach(store.repo, who, found.head, changed)
                title, why = asked.title or found.title, found.why if asked.why is None else asked.why
                trailers = wording.proposed_by(change, who.name, who.on_behalf_of)
                new = store.repo.changes.store_commit(
                    parents=[found.head],
                    changes=changed,
                    message=wording.message(title, why, trailers),
                    author=wording.author(who),
                )
        words = {"title": asked.title, "why": asked.why}
        said = {name: text for name, text in words.items() if text is not None and text != getattr(found, name)}
        if new == found.head and not said:
            return
        how = "edit" if new != found.head else "words"
        move_head(store, move, state, who, how=how, base=found.base, head=new, **said)

    store.attempt(act)


def rebase(store: Store, who: Principal, change: str, *, head: str | None) -> None:
    """Bring it onto where the branch stands. Raises EditConflict."""

    def act(move: Move) -> None:
        state = open_state(store, change, head)
        found, main = state.change, store.main()
        must_reach_change(store, who, found)
        if found.base == main:
            return
        over = combining.laid_over(store.repo, found.base, found.head, main)
        trailers = wording.proposed_by(change, found.opened.by, found.opened.behalf)
        old = store.repo.commit_info(found.head)
        new = store.repo.changes.store_commit(
            parents=[main],
            changes=over,
            message=wording.message(found.title, found.why, trailers),
            author=(old.author_name, old.author_email),
        )
        move_head(store, move, state, who, how="rebase", base=main, head=new)

    store.attempt(act)


def open_state(store: Store, change: str, head: str | None) -> State:
    """The change if it is open and its head is this. Raises NotFound, Conflict and Stale."""
    state = store.one(change)
    if state.name != "open":
        raise Conflict(f"change {change} is {state.name}", reason="ChangeEnded", way_out="open a new one")
    if head is not None and head != state.change.head:
        text = f"the head of change {change} is {state.change.head[:12]}, not {head[:12]}"
        raise Stale(text, reason="HeadMoved", way_out="look at it again")
    return state


def move_head(
    store: Store, move: Move, state: State, who: Principal, *, how: str, base: str, head: str, **words: str
) -> None:
    """Add the line that says so, and move the branch. The line counts, the branch follows."""
    found = state.change
    line = store.line(
        found.id, found.seq + 1, who, "update", how=how, base=base, head=head, behalf=who.on_behalf_of, **words
    )
    store.add(move, found.id, line, tip=state.tip, head=head, say=how, keep=head if head != found.head else "")
    at = store.repo.changes.branch(found.id)
    if at != head:
        store.repo.changes.set_branch(move, found.id, at, head)


def _add_opening(store: Store, move: Move, change: str, line: Mapping[str, Any]) -> None:
    head = str(line["head"])
    if store.repo.changes.tip(change) is None:
        store.add(move, change, line, tip=None, head=head, say="opened", keep=head)
        store.repo.changes.set_branch(move, change, store.repo.changes.branch(change), head)


def _finish(store: Store, move: Move, text: str, asked: str) -> str:
    """The change that was opened under this key; what is missing of it is added."""
    told: Any = json.loads(text) if text.startswith("{") else {}
    change = str(told.get("change", ""))
    line: dict[str, Any] = told["line"] if isinstance(told.get("line"), dict) else {}
    if not is_id(change) or not store.is_signed(change, line):
        raise Conflict("this idempotency key was used by somebody else", reason="KeyTaken", way_out="use a new key")
    if line.get("body") != asked:
        text = f"this idempotency key opened change {change}, with another body"
        flaw = Flaw(where=f"changes/{change}", expected="the request that opened it", found="another one")
        raise Conflict(text, reason="KeyReused", flaws=[flaw], way_out="use a new key for a new change")
    _add_opening(store, move, change, line)
    if not move.updates and store.repo.changes.branch(change) is None and store.one(change).name == "open":
        store.repo.changes.set_branch(move, change, None, store.one(change).change.head)
    return change


def _key(who: Principal, key: str) -> str:
    return hashlib.sha256(canonical([normal(who.name), key]).encode()).hexdigest()


def _base(store: Store, asked: str | None) -> str:
    """A commit of the branch. Raises UnknownRevision."""
    main = store.main()
    if asked is None:
        return main
    base = store.repo.resolve(asked)
    if base != main and not store.repo.is_ancestor(base, main):
        text = f"{asked} is no commit of {store.repo.branch}: changes are made on what is there"
        raise UnknownRevision(text)
    return base
