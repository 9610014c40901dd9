"""One long-lived git process that is asked over a pipe and answers in order."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess

from reconciler.config_repo.errors import GitFailed
from reconciler.config_repo.process import TIMEOUT, Git, tidy


class Ended(Exception):
    """The process ended; the message is what it said last."""


class Pipe:
    """Not thread-safe. After any exception the answers are out of step: `end` it and make a new one."""

    def __init__(self, git: Git, *args: str) -> None:
        self._process = git.start(*args)
        if self._process.stdin is None or self._process.stdout is None or self._process.stderr is None:
            raise GitFailed(f"git {args[0]} has no pipes")
        self._name = args[0]
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._fd = self._stdout.fileno()
        os.set_blocking(self._stderr.fileno(), False)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)
        self._buffer = bytearray()
        self._at = 0
        if hasattr(fcntl, "F_SETPIPE_SZ"):  # fewer turns between git and us; the kernel may refuse
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, 1 << 20)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, data: bytes) -> None:
        self._complaints()  # never let a full stderr pipe stop the process
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except OSError as error:
            raise self._ended() from error

    def lines(self, count: int) -> list[str]:
        """The next `count` lines, without their ends."""
        seen, missing = self._at, count
        while (missing := missing - self._buffer.count(b"\n", seen)) > 0:
            seen = self._fill(len(self._buffer))
        lines = self._buffer[self._at :].split(b"\n", count)
        self._at = len(self._buffer) - len(lines.pop())
        return [line.decode("utf-8", "replace") for line in lines]

    def line(self) -> str:
        start = self._at
        while (end := self._buffer.find(b"\n", start)) < 0:
            start = self._fill(len(self._buffer))
        line = self._buffer[self._at : end].decode("utf-8", "replace")
        self._at = end + 1
        return line

    def take(self, count: int) -> bytes:
        while len(self._buffer) - self._at < count:
            self._fill(0)
        data = bytes(self._buffer[self._at : self._at + count])
        self._at += count
        return data

    def end(self) -> None:
        for pipe in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _fill(self, mark: int) -> int:
        """Read more; returns where `mark` is now, since what was used up is dropped."""
        if not self._poll.poll(TIMEOUT * 1000):
            self._process.kill()
            raise GitFailed(f"git {self._name} did not answer")
        chunk = os.read(self._fd, 1 << 20)
        if not chunk:
            raise self._ended()
        dropped, self._at = self._at, 0
        del self._buffer[:dropped]
        self._buffer += chunk
        return mark - dropped

    def _ended(self) -> Ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        return Ended(self._complaints() or f"git {self._name} ended unexpectedly")

    def _complaints(self) -> str:
        try:
            return tidy(os.read(self._stderr.fileno(), 1 << 16))
        except BlockingIOError:
            return ""
