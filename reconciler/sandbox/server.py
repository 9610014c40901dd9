"""HTTP on loopback: AWS requests to the simulated cloud, `/_sandbox` to its control.

HTTP/1.1 with connections kept, because clients open many; a dropped reply is a closed socket, nothing gentler.
"""

from __future__ import annotations

import logging
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from reconciler.sandbox.aws.cloud import Cloud, Cut, Dropped
from reconciler.sandbox.aws.errors import Reply
from reconciler.sandbox.aws.wire import Request
from reconciler.sandbox.control import CONTROL, Control

log = logging.getLogger(__name__)

_LARGEST_BODY = 256 * 1024 * 1024


class SandboxServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, cloud: Cloud, control: Control) -> None:
        self.cloud, self.control = cloud, control
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        log.debug("connection of %s broke", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write a reply
    server: SandboxServer  # pyright: ignore[reportIncompatibleVariableOverride]  # set by the server, never by us
    timeout = 300
    _quiet: ClassVar[bool] = True

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)

    def _handle(self) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = self._body(headers)
        except EOFError:  # its sender is no more: what never came whole has not come
            self.close_connection = True
            return
        request = Request(method=self.command, path=path, query=query, headers=headers, body=body)
        try:
            if path.startswith(CONTROL):
                reply: Reply | Cut | Dropped = self.server.control.answer(request)
            else:
                reply = self.server.cloud.answer(request)
        except Exception:
            log.exception("the sandbox failed on %s %s", self.command, path)
            reply = Reply(status=500, body=b"the sandbox itself failed; see its log")
        if isinstance(reply, Dropped):
            self._hang_up()
        elif isinstance(reply, Cut):
            self._send(reply.reply, len(reply.reply.body) // 2)
            self._hang_up()
        else:
            self._send(reply)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = _handle

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        return self._whole(min(int(headers.get("content-length") or 0), _LARGEST_BODY))

    def _chunks(self) -> list[bytes]:
        found: list[bytes] = []
        while size := int(self._line().split(b";")[0].strip() or b"0", 16):
            found.append(self._whole(size))
            self._line()
        while self._line().strip():
            pass  # trailers
        return found

    def _whole(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def _line(self) -> bytes:
        line = self.rfile.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line

    def _send(self, reply: Reply, length_sent: int | None = None) -> None:
        self.send_response_only(reply.status)
        length = reply.headers.get("content-length") if self.command == "HEAD" else None
        for name, value in reply.headers.items():
            if name not in ("content-length", "connection", "transfer-encoding", "server", "date"):
                self.send_header(name, value)
        self.send_header("Date", reply.headers.get("date") or self.date_time_string())
        self.send_header("Content-Length", length or str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body[:length_sent])
        self.wfile.flush()
