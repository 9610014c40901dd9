"""Reading objects and refs through one long-lived `cat-file` process: a tenth of a millisecond instead of a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from reconciler.config_repo.errors import GitFailed, ObjectMissing
from reconciler.config_repo.names import SHA
from reconciler.config_repo.objects import TreeEntry, parse_commit, parse_tree
from reconciler.config_repo.pipe import Ended, Pipe
from reconciler.config_repo.process import Git
from reconciler.config_repo.records import CommitInfo

LIFETIME = 600.0  # a process keeps packs open that were deleted long ago: let it go now and then
_YOUNG = 1.0
_GROUP = 2000
_RECENT = 64  # commits
_ENTRIES = 10_000  # of trees


class Found(NamedTuple):
    id: str
    kind: str
    size: int


class Reader:
    """Thread-safe: one request at a time. A process that died is replaced once per request.

    It outlives fetches: git sees refs as they are and looks for new packs by itself. What one process does not find
    is asked of a new one.
    """

    def __init__(self, git: Git, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._git = git
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._pipe: Pipe | None = None
        self._recent_lock = threading.Lock()
        self._recent: dict[str, tuple[TreeEntry, ...]] = {}
        self._entries = 0
        self._commits: dict[str, CommitInfo] = {}
        self._started = 0.0

    def close(self) -> None:
        with self._lock:
            self._end()

    def refresh(self) -> None:
        """Let go of packs that may have been deleted since."""
        self.close()

    def lookup(self, names: Sequence[str]) -> list[Found | None]:
        """What each name (id, or ref with ^{commit}) stands for now; None: nothing, or not that kind of object."""
        return [found for found, _ in self._ask("info", names)]

    def contents(self, ids: Iterable[str], kind: str) -> dict[str, bytes]:
        """The content of each object. One that is missing or of another kind is an error, never an empty answer."""
        wanted = list(dict.fromkeys(ids))
        result: dict[str, bytes] = {}
        for sha, (found, data) in zip(wanted, self._ask("contents", wanted), strict=True):
            if found is None:
                raise ObjectMissing(f"{kind} {sha} is missing in the repository (a shallow clone, or damage)")
            if found.kind != kind:
                raise ObjectMissing(f"{sha} is a {found.kind}, expected a {kind}")
            result[sha] = data
        return result

    def trees(self, ids: Iterable[str]) -> dict[str, tuple[TreeEntry, ...]]:
        """Parsed trees. The last few stay: the same large folder is asked for several times in a row."""
        wanted = list(dict.fromkeys(ids))
        with self._recent_lock:
            known = {sha: self._recent[sha] for sha in wanted if sha in self._recent}
        fresh = self.contents((sha for sha in wanted if sha not in known), "tree")
        try:
            parsed = {sha: parse_tree(data) for sha, data in fresh.items()}
        except ValueError as error:
            raise ObjectMissing(f"a folder of the repository cannot be read: {error}") from error
        with self._recent_lock:
            for sha, entries in parsed.items():
                self._entries += len(entries) if sha not in self._recent else 0
                self._recent[sha] = entries
            while self._entries > _ENTRIES and len(self._recent) > 1:
                self._entries -= len(self._recent.pop(next(iter(self._recent))))
        return {sha: parsed[sha] if sha in parsed else known[sha] for sha in wanted}

    def commits(self, ids: Iterable[str]) -> dict[str, CommitInfo]:
        """Parsed commits. The last few stay: a tick asks for its head several times."""
        wanted = list(dict.fromkeys(ids))
        recent = self._commits
        fresh = self.contents((sha for sha in wanted if sha not in recent), "commit")
        parsed = {sha: parse_commit(sha, data) for sha, data in fresh.items()}
        if parsed and len(wanted) <= _RECENT:
            self._commits = dict(list((recent | parsed).items())[-_RECENT:])
        return {sha: parsed[sha] if sha in parsed else recent[sha] for sha in wanted}

    def commit(self, sha: str) -> CommitInfo:
        return self.commits([sha])[sha]

    def _ask(self, command: str, names: Sequence[str]) -> list[tuple[Found | None, bytes]]:
        answers: list[tuple[Found | None, bytes]] = []
        with self._lock:
            for start in range(0, len(names), _GROUP):
                answers += self._ask_group(command, names[start : start + _GROUP])
            missing = [i for i, (found, _) in enumerate(answers) if found is None and SHA.match(names[i])]
            if missing and self._monotonic() - self._started > _YOUNG:
                # Another git may have moved the object to a new pack: only a new process surely knows.
                self._end()
                for i, answer in zip(missing, self._ask_group(command, [names[i] for i in missing]), strict=True):
                    answers[i] = answer
        return answers

    def _ask_group(self, command: str, names: Sequence[str]) -> list[tuple[Found | None, bytes]]:
        if self._monotonic() - self._started > LIFETIME:
            self._end()
        for attempt in (1, 2):
            if self._pipe is None:
                self._pipe, self._started = (
                    Pipe(self._git, "cat-file", "--batch-command", "--buffer"),
                    self._monotonic(),
                )
            try:
                # With --buffer git reads all requests up to `flush` before it answers: the pipes cannot lock up.
                self._pipe.send("".join(f"{command} {name}\n" for name in names).encode() + b"flush\n")
                if command == "info":
                    return [(_found(line), b"") for line in self._pipe.lines(len(names))]
                return [_content(self._pipe) for _ in names]
            except Ended as error:
                self._end()
                if attempt == 2:
                    raise GitFailed(f"git cannot read the repository: {error}") from error
            except BaseException:
                self._end()  # half an answer may be in the pipe
                raise
        raise AssertionError("unreachable")

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.end()
            self._pipe = None


def _found(line: str) -> Found | None:
    # "<id> <kind> <size>", or "<name> missing" / "<name> ambiguous"; no name we send contains a space.
    words = line.split(" ")
    return Found(words[0], words[1], int(words[2])) if len(words) == 3 else None


def _content(pipe: Pipe) -> tuple[Found | None, bytes]:
    found = _found(pipe.line())
    if found is None:
        return None, b""
    data = pipe.take(found.size + 1)
    return found, data[:-1]
