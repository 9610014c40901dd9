"""HTTP/1.1 for one connection, as a protocol class for uvicorn: what an API server needs and no more.

A request is handed to the application when its body is complete, and its
reply leaves in one write; both matter when thousands of small requests a
second come in. Replies without a length are chunked.
"""

import asyncio
import logging
from http import HTTPStatus
from typing import Any

log = logging.getLogger(__name__)

MAX_HEAD = 64 * 1024
MAX_BODY = 8 * 1024 * 1024  # the application has a lower limit, which it can explain

_PHRASES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class Malformed(Exception):
    """The bytes are no request that we serve. `status` is what to answer before hanging up."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class HttpProtocol(asyncio.Protocol):
    """uvicorn makes one for each connection, and ends it by `shutdown`."""

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], _loop: Any = None) -> None:
        self._app = config.loaded_app
        self._state = server_state
        self._app_state = app_state
        self._loop: asyncio.AbstractEventLoop = _loop or asyncio.get_running_loop()
        self._buffer = bytearray()
        self._exchange: _Exchange | None = None
        self._closing = False
        self.writable = asyncio.Event()
        self.writable.set()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._state.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._state.connections.discard(self)
        self.writable.set()
        self.transport = None
        if self._exchange is not None:
            self._exchange.gone.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._exchange is None:
            self._next_request()
        elif len(self._buffer) > MAX_HEAD and self.transport is not None:
            self.transport.pause_reading()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def shutdown(self) -> None:
        """Hang up, at once or after the reply that is on its way."""
        self._closing = True
        if self._exchange is None and self.transport is not None:
            self.transport.close()

    def done(self, *, keep: bool) -> None:
        """The exchange is over."""
        self._exchange = None
        if self.transport is None:
            return
        if self._closing or not keep:
            self.transport.close()
            return
        self.transport.resume_reading()
        if self._buffer:
            self._next_request()

    def _next_request(self) -> None:
        try:
            found = _read(self._buffer)
        except (Malformed, ValueError) as error:
            status = error.status if isinstance(error, Malformed) else 400
            self._write(_PHRASES[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
            if self.transport is not None:
                self.transport.close()
            return
        if found is None:
            return
        method, target, headers, body = found
        if body is None:
            if any(name == b"expect" for name, _ in headers):
                self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        path, _, query = target.partition(b"?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": path.decode("latin-1"),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": headers,
            "state": {**self._app_state, "transport": self.transport},
        }
        self._state.total_requests += 1
        self._exchange = _Exchange(self, scope, body)
        task = self._loop.create_task(self._exchange.run(self._app))
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def _write(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)


class _Exchange:
    """One request and its reply."""

    def __init__(self, protocol: HttpProtocol, scope: dict[str, Any], body: bytes) -> None:
        self._protocol = protocol
        self._scope = scope
        self._body: bytes | None = body
        self._head = b""
        self._chunked = False
        self._started = False
        self._complete = False
        self.gone = asyncio.Event()

    async def run(self, app: Any) -> None:
        try:
            await app(self._scope, self._receive, self._send)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("%s %s failed", self._scope["method"], self._scope["path"])
            if not self._started:
                self._write(_PHRASES[500] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        finally:
            asked_to_close = any(
                name == b"connection" and value.lower() == b"close" for name, value in self._scope["headers"]
            )
            self._protocol.done(keep=self._complete and not asked_to_close)

    async def _receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers: list[tuple[bytes, bytes]] = message["headers"]
            self._chunked = all(name != b"content-length" for name, _ in headers)
            lines = [name + b": " + value + b"\r\n" for name, value in headers]
            if self._chunked:
                lines.append(b"transfer-encoding: chunked\r\n")
            self._head = _PHRASES[message["status"]] + b"".join(lines) + b"\r\n"
            return
        body: bytes = message.get("body", b"")
        more: bool = message.get("more_body", False)
        if self._scope["method"] == "HEAD":
            body = b""
        elif self._chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        self._started = True
        self._complete = not more
        self._write(self._head + body)
        self._head = b""
        if more:
            await self._protocol.writable.wait()

    def _write(self, data: bytes) -> None:
        transport = self._protocol.transport
        if transport is not None and not transport.is_closing():
            transport.write(data)


def _read(buffer: bytearray) -> tuple[str, bytes, list[tuple[bytes, bytes]], bytes | None] | None:
    """Take one request off the buffer; None while its head is incomplete, a body of None while that is."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        if len(buffer) > MAX_HEAD:
            raise Malformed(431)
        return None
    first, *lines = bytes(buffer[:end]).split(b"\r\n")
    method, target, version = first.split(b" ")
    if version not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise Malformed(505)
    headers: list[tuple[bytes, bytes]] = []
    length, chunked = 0, False
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon:
            raise Malformed(400)
        name, value = name.lower(), value.strip()
        headers.append((name, value))
        if name == b"content-length":
            length = int(value)
        elif name == b"transfer-encoding":
            chunked = value.lower() == b"chunked"
    start = end + 4
    if chunked:
        body, after = _chunks(buffer, start)
    else:
        if not 0 <= length <= MAX_BODY:
            raise Malformed(413)
        after = start + length
        body = bytes(buffer[start:after]) if len(buffer) >= after else None
    if body is not None:
        del buffer[:after]
    return method.decode("ascii"), target, headers, body


def _chunks(buffer: bytearray, at: int) -> tuple[bytes | None, int]:
    """A chunked body and where it ends; None while it is incomplete."""
    body = bytearray()
    while True:
        line = buffer.find(b"\r\n", at)
        if line < 0:
            return None, at
        size = int(bytes(buffer[at:line]).partition(b";")[0], 16)
        at = line + 2
        if size < 0 or len(body) + size > MAX_BODY:
            raise Malformed(413)
        if len(buffer) < at + size + 2:
            return None, at
        if size == 0:
            # no trailers from the clients that we know
            return bytes(body), at + 2
        body += buffer[at : at + size]
        at += size + 2
