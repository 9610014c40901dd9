"""Reading objects and refs through one long-lived `cat-file` process: a tenth of a millisecond instead of a process."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from reconciler.config_repo.errors import GitFailed, ObjectMissing
from reconciler.config_repo.objects import TreeEntry, parse_commit, parse_tree
from reconciler.config_repo.process import TIMEOUT, Git
from reconciler.config_repo.records import CommitInfo

LIFETIME = 600.0  # a process keeps packs open that were deleted long ago: let it go now and then
_GROUP = 2000


class Found(NamedTuple):
    id: str
    kind: str
    size: int


class Reader:
    """Thread-safe: one request at a time. A process that died is replaced once per request."""

    def __init__(self, git: Git, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._git = git
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._session: _Session | None = None

    def close(self) -> None:
        with self._lock:
            self._end()

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

    def trees(self, ids: Iterable[str]) -> dict[str, list[TreeEntry]]:
        return {sha: parse_tree(data) for sha, data in self.contents(ids, "tree").items()}

    def commits(self, ids: Iterable[str]) -> dict[str, CommitInfo]:
        return {sha: parse_commit(sha, data) for sha, data in self.contents(ids, "commit").items()}

    def commit(self, sha: str) -> CommitInfo:
        return self.commits([sha])[sha]

    def _ask(self, command: str, names: Sequence[str]) -> list[tuple[Found | None, bytes]]:
        answers: list[tuple[Found | None, bytes]] = []
        with self._lock:
            for start in range(0, len(names), _GROUP):
                answers += self._ask_group(command, names[start : start + _GROUP])
        return answers

    def _ask_group(self, command: str, names: Sequence[str]) -> list[tuple[Found | None, bytes]]:
        if self._session is not None and self._monotonic() - self._session.started > LIFETIME:
            self._end()
        for attempt in (1, 2):
            if self._session is None:
                self._session = _Session(self._git, self._monotonic())
            try:
                return self._session.ask(command, names)
            except (OSError, EOFError) as error:
                self._end()
                if attempt == 2:
                    raise GitFailed(f"git cat-file ended unexpectedly: {error}") from error
            except BaseException:
                self._end()  # half an answer may be in the pipe
                raise
        raise AssertionError("unreachable")

    def _end(self) -> None:
        if self._session is not None:
            self._session.end()
            self._session = None


class _Session:
    """One process. With --buffer it reads all requests up to `flush` before it answers, so pipes cannot lock up."""

    def __init__(self, git: Git, started: float) -> None:
        self.started = started
        self._process = git.start("cat-file", "--batch-command", "--buffer")
        if self._process.stdin is None or self._process.stdout is None or self._process.stderr is None:
            raise GitFailed("git cat-file has no pipes")
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._fd = self._stdout.fileno()
        os.set_blocking(self._stderr.fileno(), False)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)
        self._buffer = bytearray()

    def ask(self, command: str, names: Sequence[str]) -> list[tuple[Found | None, bytes]]:
        self._drain_complaints()
        self._stdin.write("".join(f"{command} {name}\n" for name in names).encode() + b"flush\n")
        self._stdin.flush()
        return [self._answer(with_content=command == "contents") for _ in names]

    def end(self) -> None:
        for pipe in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answer(self, *, with_content: bool) -> tuple[Found | None, bytes]:
        # "<id> <kind> <size>", or "<name> missing" / "<name> ambiguous"; no name we send contains a space.
        words = self._line().split(" ")
        if len(words) != 3:
            return None, b""
        found = Found(words[0], words[1], int(words[2]))
        if not with_content:
            return found, b""
        data = self._take(found.size)
        self._take(1)
        return found, data

    def _line(self) -> str:
        start = 0
        while (end := self._buffer.find(b"\n", start)) < 0:
            start = len(self._buffer)
            self._fill()
        line = self._buffer[:end].decode("utf-8", "replace")
        del self._buffer[: end + 1]
        return line

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _fill(self) -> None:
        if not self._poll.poll(TIMEOUT * 1000):
            self._process.kill()
            raise GitFailed("git cat-file did not answer")
        chunk = os.read(self._fd, 1 << 20)
        if not chunk:
            raise EOFError(self._drain_complaints())
        self._buffer += chunk

    def _drain_complaints(self) -> str:
        # Never let a full stderr pipe stop the process.
        try:
            return os.read(self._stderr.fileno(), 1 << 16).decode("utf-8", "replace")[:200]
        except BlockingIOError:
            return ""
