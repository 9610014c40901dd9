"""How a small JSON request and its answer cross a connection of the official client's pool.

Of what a change costs the client, half is `http.client`: it takes headers apart as if they were mail, and sends head
and body as two TLS records. Here a request whose body is at hand leaves in one write, and its answer is read whole.
The pool, TLS, proxies, timeouts and the errors they become stay urllib3's; watches, logs and lists go its own way.
"""

from __future__ import annotations

import http.client
import io
from collections.abc import Mapping
from typing import Any, BinaryIO, cast

import urllib3
from urllib3.connection import HTTPSConnection
from urllib3.response import HTTPResponse

MOST_LINES = 200
LONGEST_LINE = 64 * 1024


class KubeConnection(HTTPSConnection):
    """One connection of a pool; see the module. One thread at a time uses it, as every connection."""

    _asked: tuple[str, str] | None = None  # method and URL of an exchange that goes our way

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **how: Any) -> None:
        """As urllib3's, which still gets all but bytes whose answer is wanted whole."""
        self._asked = None
        if not isinstance(body, bytes) or how.get("chunked") or not how.get("preload_content", True):
            super().request(method, url, body, headers, **how)
            return
        if self.sock is None:
            self.connect()
        sock: Any = self.sock
        self._asked = (method, url)
        sock.settimeout(self.timeout)
        sock.sendall(_head(method, url, self._authority(), headers or {}, len(body)) + body)

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3's own
        if self._asked is None:
            return super().getresponse()
        (method, url), self._asked = self._asked, None
        self.sock.settimeout(self.timeout)
        with cast("BinaryIO", self.sock.makefile("rb")) as coming:
            version, status, reason = _status(coming)
            while status < 200:  # an interim answer: the real one follows
                _headers(coming)
                version, status, reason = _status(coming)
            headers = _headers(coming)
            content, complete = _body(coming, status, headers)
        if not complete or _hangs_up(version, headers):
            self.close()
        encoded = "content-encoding" in headers
        return HTTPResponse(
            body=io.BytesIO(content) if encoded else content,
            headers=headers,
            status=status,
            version=11,
            version_string="HTTP/1.1",
            reason=reason,
            preload_content=encoded,
            request_method=method,
            request_url=url,
        )

    def _authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == self.default_port else f"{host}:{self.port}"


def _head(method: str, url: str, authority: str, headers: Mapping[str, str], length: int) -> bytes:
    lines = [f"{method} {url} HTTP/1.1", f"Host: {authority}", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join((*lines, "", ""))
    if head.count("\n") != len(lines) + 1 or head.count("\r") != len(lines) + 1:
        raise ValueError("a line break inside a header")
    return head.encode("latin-1")


def _status(coming: BinaryIO) -> tuple[str, int, str]:
    line = coming.readline(LONGEST_LINE)
    if not line:
        raise http.client.RemoteDisconnected("the connection ended without an answer")
    version, _, rest = line.decode("latin-1").rstrip("\r\n").partition(" ")
    code, _, reason = rest.partition(" ")
    if not version.startswith("HTTP/1.") or not code.isdigit() or len(code) != 3:
        raise http.client.BadStatusLine(line[:100].decode("latin-1"))
    return version, int(code), reason


def _headers(coming: BinaryIO) -> urllib3.HTTPHeaderDict:
    headers = urllib3.HTTPHeaderDict()
    for _ in range(MOST_LINES):
        line = coming.readline(LONGEST_LINE)
        if line in (b"\r\n", b"\n"):
            return headers
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not line.endswith(b"\n"):
            raise http.client.HTTPException(f"no header line: {line[:100]!r}")
        headers.add(name.strip(), value.strip())
    raise http.client.HTTPException(f"more than {MOST_LINES} header lines")


def _body(coming: BinaryIO, status: int, headers: Mapping[str, str]) -> tuple[bytes, bool]:
    """The body, and whether the connection is at its end, ready for the next request."""
    if status in (204, 304):
        return b"", True
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return _chunks(coming), True
    length = headers.get("content-length")
    if length is None:
        return coming.read(), False
    if not length.isdigit():
        raise http.client.HTTPException(f"a body of length {length!r}")
    return _exactly(coming, int(length)), True


def _chunks(coming: BinaryIO) -> bytes:
    parts: list[bytes] = []
    while True:
        line = coming.readline(LONGEST_LINE)
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            raise http.client.IncompleteRead(b"".join(parts)) from None
        if size == 0:
            _headers(coming)  # trailers
            return b"".join(parts)
        parts.append(_exactly(coming, size))
        coming.readline(LONGEST_LINE)


def _exactly(coming: BinaryIO, length: int) -> bytes:
    content = coming.read(length)
    if len(content) < length:
        raise http.client.IncompleteRead(content, length - len(content))
    return content


def _hangs_up(version: str, headers: Mapping[str, str]) -> bool:
    said = headers.get("connection", "").lower()
    return "close" in said or (version == "HTTP/1.0" and "keep-alive" not in said)
