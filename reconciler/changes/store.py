"""Changes as they stand in the repository, and how lines get there: read, decide, publish by compare-and-swap, and
decide again on what is there now if somebody was faster.

Everything that must be true together is one `Move`. Whoever dies in the middle leaves either nothing or something
that the next call finishes.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from reconciler.config_repo import names
from reconciler.config_repo.changes import Move
from reconciler.config_repo.errors import NameRefused, RefMoved
from reconciler.config_repo.records import NotesAppend
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.signing import Signing
from reconciler.journal import changes as folding
from reconciler.journal.changes import Change
from schemas.errors import InstantStartError, InvalidInput, NotFound, Unavailable
from schemas.principals import Principal
from schemas.reviews import LINE, VERSION
from schemas.values import canonical

Answer = TypeVar("Answer")
log = logging.getLogger(__name__)
_PATIENCE: Final = 60.0  # seconds of tries against others
_PAUSE: Final = 0.02


@dataclass(frozen=True, kw_only=True)
class State:
    """A change at one tip of its lines: what is written about it is written on that tip or not at all. `merged`: the
    commit of the branch that holds it, "" where nobody knows which."""

    change: Change
    tip: str
    merged: str | None = None

    @property
    def name(self) -> str:
        if self.merged is not None:
            return "merged"
        return "closed" if self.change.close is not None else "open"


class Store:
    """Thread-safe. `now` gives the time for lines, UTC, ISO 8601."""

    def __init__(self, repo: ConfigRepo, signing: Signing, now: Callable[[], str]) -> None:
        self.repo = repo
        self._signing = signing
        self._now = now
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._known: dict[str, tuple[str, Change]] = {}
        # Where the branch stood, which commits it held, and about which that is known.
        self._contained: tuple[str, frozenset[str], frozenset[str]] = ("", frozenset(), frozenset())

    # Reading ---------------------------------------------------------------------------------------------------------

    def main(self) -> str:
        """Where the branch stands. Raises InvalidInput if nothing was ever committed."""
        head = self.repo.head()
        if head is None:
            raise InvalidInput(f"no commits on branch {self.repo.branch} yet", reason="NoCommits")
        return head

    def one(self, change: str) -> State:
        """Raises NotFound."""
        return self._states([self._change(change, self._tip(change))])[0]

    def all(self) -> list[State]:
        """Oldest first. One whose lines cannot be read is left out, and told in the log."""
        found: list[tuple[str, Change]] = []
        for change, tip in self.repo.changes.tips().items():
            try:
                found.append(self._change(change, tip))
            except InstantStartError as error:
                log.warning("change %s cannot be read: %s", change, error.message)
        return self._states(found)

    def _tip(self, change: str) -> str:
        try:
            tip = self.repo.changes.tip(change)
        except NameRefused:
            tip = None
        if tip is None:
            raise NotFound(f"there is no change {change[:40]!r}", reason="NoChange")
        return tip

    def _change(self, change: str, tip: str) -> tuple[str, Change]:
        """With the tip that was read: others may move the ref at any moment."""
        with self._reading:
            known = self._known.get(change)
        if known is not None and known[0] == tip:
            return known
        view = self.repo.changes.notes(change)
        found = (view.tip or tip, folding.fold(change, view.entries, self._signing.is_signed))
        with self._reading:
            self._known[change] = found
        return found

    def _states(self, read: Iterable[tuple[str, Change]]) -> list[State]:
        """What was merged is what the branch holds, whoever merged it."""
        tips = list(read)
        found = [change for _, change in tips]
        main = self.repo.head()
        asked = {change.head for change in found}
        asked |= {change.merge.commit for change in found if change.merge is not None}
        held = self._held(asked, main) if main is not None else set[str]()
        return [State(change=change, tip=tip, merged=_merged(change, held)) for tip, change in tips]

    def _held(self, commits: set[str], main: str) -> set[str]:
        """Those of these commits that the branch holds. What it held once it holds, until history is rewritten."""
        with self._reading:
            at, held, asked = self._contained
        if at != main:
            held = held if at and not self.repo.history_rewritten(at, main) else frozenset[str]()
            asked = held
        left = commits - asked
        if left:
            held |= left - self.repo.changes.not_in(left, main)
            asked |= left
        with self._reading:
            self._contained = (main, held, asked)
        return commits & held

    # Writing ---------------------------------------------------------------------------------------------------------

    def attempt(self, act: Callable[[Move], Answer]) -> Answer:
        """Do `act` on the newest state, and publish what it puts into its move; again if somebody was faster. What it
        raises ends it. Raises what a fetch raises: then nothing was done."""
        with self._writing:
            self.repo.fetch()
            end = time.monotonic() + _PATIENCE
            pause = _PAUSE
            while True:
                move = Move()
                answer = act(move)
                if not move.updates:
                    return answer
                try:
                    self.repo.changes.publish(move)
                except RefMoved as error:
                    if time.monotonic() > end:
                        text = f"others keep being faster: {error.message}"
                        raise Unavailable(text, reason="Busy") from error
                    time.sleep(random.uniform(0, pause))
                    pause = min(pause * 2, 1.0)
                    self.repo.fetch()
                else:
                    return answer

    def line(self, change: str, seq: int, who: Principal, kind: str, **fields: Any) -> dict[str, Any]:
        """A signed line, ready to be added. Fields that are None are left out."""
        told = {name: value for name, value in fields.items() if value is not None}
        body = {"v": VERSION, "t": kind, "seq": seq, "at": self._now(), "by": who.name, "kind": who.kind, **told}
        made = self._signing.sign(change, body)
        LINE.validate_python(made)
        return made

    def signed_order(self, order: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._signing.sign_order(order, dict(body))

    def is_signed(self, change: str, line: Mapping[str, Any]) -> bool:
        return self._signing.is_signed(change, dict(line))

    def add(
        self, move: Move, change: str, line: Mapping[str, Any], *, tip: str | None, head: str, say: str, keep: str = ""
    ) -> None:
        """Add a line to the notes of a change, on its head, if they still stand at `tip`. `keep`: a commit that stays
        reachable by it."""
        item = NotesAppend(
            name=change,
            expected_tip=tip,
            lines=[(head, canonical(dict(line)))],
            subject=f"Change {change} {line['seq']}: {say}"[:120],
            revision_parent=keep or None,
        )
        self.repo.changes.add_lines(move, item)


def is_id(text: str) -> bool:
    return names.CHANGE.fullmatch(text) is not None


def _merged(change: Change, held: set[str]) -> str | None:
    if change.merge is not None and change.merge.commit in held:
        return change.merge.commit
    return "" if change.head in held and change.head != change.base else None
