"""A local HTTP server that looks enough like AWS to be called by the real botocore, and does as a script says."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, cast
from urllib.parse import parse_qs

ACCOUNT = "111122223333"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request that arrived."""

    service: str
    operation: str
    user_agent: str
    access_key: str
    method: str
    path: str
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does: answers, or breaks the connection after it read the request."""

    status: int = 200
    json: Any = None
    raw: bytes | None = None
    code: str = ""
    message: str = "told so by the test"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    fate: Literal["answer", "reset", "hang"] = "answer"
    keep: float = 1.0  # the part of the body that arrives before the connection is cut
    announced: bool = True  # whether its length is told


OK = Answer(json={})
Script = Callable[[Seen], Answer]


class FakeAws:
    """Records every request; `script` decides the answers, except sts:GetCallerIdentity and sts:AssumeRole."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.script: Script = lambda _: OK
        self.account = ACCOUNT
        self.identity: Answer | None = None
        self._gone = threading.Event()
        self._roles = 0
        server = _Server(("127.0.0.1", 0), _Handler)
        server.fake = self
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def calls(self, operation: str = "") -> list[Seen]:
        """Requests other than the identity check."""
        return [
            s for s in self.seen if s.operation not in ("GetCallerIdentity", "AssumeRole") and operation in s.operation
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._gone.set()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    def hang(self) -> None:
        self._gone.wait(2.0)

    def answer(self, seen: Seen) -> Answer:
        self.seen.append(seen)
        if seen.operation == "GetCallerIdentity":
            if self.identity is not None:
                return self.identity
            return Answer(raw=_xml("GetCallerIdentity", f"<Account>{self.account}</Account><Arn>arn</Arn>"))
        if seen.operation == "AssumeRole":
            self._roles += 1
            inner = (
                f"<Credentials><AccessKeyId>ASIAROLE{self._roles:012d}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
                "<SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>"
            )
            return Answer(raw=_xml("AssumeRole", inner))
        return self.script(seen)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64
    fake: FakeAws

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.open_sockets: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open_sockets.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open_sockets.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Ends connections that clients keep alive, whose threads would wait for more."""
        for open_socket in tuple(self.open_sockets):
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120
    wbufsize = -1  # head and body in one packet: else each answer waits for a delayed ACK

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fake = cast(_Server, self.server).fake
        answer = fake.answer(_seen(self, body))
        if answer.fate == "hang":
            fake.hang()
            self.close_connection = True
            return
        if answer.fate == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self._reply(answer)

    def _reply(self, answer: Answer) -> None:
        content = answer.raw
        if content is None:
            shape = {"__type": answer.code, "message": answer.message} if answer.code else (answer.json or {})
            content = json.dumps(shape).encode()
        self.send_response(answer.status)
        if answer.code:
            self.send_header("x-amzn-ErrorType", answer.code)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.announced:
            self.send_header("Content-Length", str(len(content)))
        self.close_connection |= answer.keep < 1.0 or not answer.announced
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: int(len(content) * answer.keep)])

    def send_response(self, code: int, message: str | None = None) -> None:
        self.send_response_only(code, message)  # no Date of its own: a test may want another

    def log_message(self, format: str, *args: Any) -> None:
        pass

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = _serve


def _seen(request: BaseHTTPRequestHandler, body: bytes) -> Seen:
    scope = re.search(r"Credential=([^/]+)/\d+/[^/]+/([^/]+)/", request.headers.get("Authorization", ""))
    target = request.headers.get("X-Amz-Target", "").rpartition(".")[2]
    form = parse_qs(body.decode("utf-8", "replace")) if not target and b"Action=" in body else {}
    return Seen(
        service=scope[2] if scope else "",
        operation=target or form.get("Action", [""])[0],
        user_agent=request.headers.get("User-Agent", ""),
        access_key=scope[1] if scope else "",
        method=request.command,
        path=request.path,
        body=body,
    )


def _xml(operation: str, inner: str) -> bytes:
    return (
        f'<{operation}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{operation}Result>{inner}'
        f"</{operation}Result></{operation}Response>"
    ).encode()
