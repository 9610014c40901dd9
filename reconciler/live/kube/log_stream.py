"""What a container writes, line by line, as it comes. Nothing is held but the line that is not finished yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

import urllib3
import urllib3.exceptions

from reconciler.live.errors import CallRefused

if TYPE_CHECKING:
    from reconciler.live.kube.transport import Transport

CHUNK = 64 * 1024
LONGEST = 16 * 1024  # bytes of a line; what is longer is cut
CUT = "…".encode()


class LogStream:
    """Open as a context; iterate for batches of whole lines, one for each chunk that arrives. `wake` from another
    thread ends it. `broken`: it ended by a lost connection, not by the server's word."""

    def __init__(self, transport: Transport, path: str, query: Mapping[str, str], silence: float) -> None:
        self._transport = transport
        self._path, self._query, self._silence = path, query, silence
        self._answer: urllib3.BaseHTTPResponse | None = None
        self._woken = False
        self.broken = False

    def __enter__(self) -> LogStream:
        """Raises the errors of `live.errors`."""
        self._answer = self._transport.stream(self._path, self._query, silence=self._silence)
        if self._woken:
            self._transport.wake(self._answer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._answer is not None:
            self._transport.end(self._answer)

    def wake(self) -> None:
        self._woken = True
        if self._answer is not None:
            self._transport.wake(self._answer)

    def __iter__(self) -> Iterator[list[bytes]]:
        if self._answer is None:
            raise CallRefused("the stream is not open", reason="Closed")
        rest, cut = b"", False
        try:
            for chunk in self._answer.stream(CHUNK, decode_content=True):
                *whole, rest = (rest + chunk).split(b"\n")
                if whole:
                    if cut:  # the end of a line that was given already
                        del whole[0]
                        cut = False
                    yield [line if len(line) <= LONGEST else line[:LONGEST] + CUT for line in whole]
                if len(rest) > LONGEST:
                    if not cut:
                        yield [rest[:LONGEST] + CUT]
                    rest, cut = b"", True
        except (urllib3.exceptions.HTTPError, OSError, ValueError):
            self.broken = True
            return
        if rest and not cut and not self._woken:
            yield [rest]
