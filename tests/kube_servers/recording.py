"""A proxy before a real API server that writes down each request and can make it fail: the seams of the simulated one.

It speaks TLS to both sides, keeps connections open, and hands on whatever it is given; what a request changed it
cannot know, so its records have no effects.
"""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from reconciler.sandbox.kubernetes.certificates import make_certificates
from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.records import AFTER, BEFORE, Fault, RequestRecord
from reconciler.sandbox.kubernetes.requests import read_request

PATIENCE = 120.0  # seconds of silence from the server behind, watches included
_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length"}


class Recording:
    """Stands before the server at `url`. `requests` grows; `breaks` is asked before each one."""

    def __init__(self, url: str, ca_pem: str) -> None:
        self.requests: list[RequestRecord] = []
        self.breaks: Callable[[RequestRecord], Fault | None] | None = None
        self.latency = 0.0
        self._behind = urlsplit(url)
        self._context = ssl.create_default_context(cadata=ca_pem)
        self._numbers = itertools.count(1)
        self._directory = tempfile.TemporaryDirectory(prefix="recording-")
        certificates = make_certificates(Path(self._directory.name))
        self.ca_pem = certificates.ca_pem
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificates.certificate, certificates.key)
        self._server = _Server(self, context)
        self.url = f"https://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="recording", daemon=True)
        self._thread.start()

    def connect(self) -> http.client.HTTPSConnection:
        connection = http.client.HTTPSConnection(
            self._behind.hostname or "", self._behind.port, timeout=PATIENCE, context=self._context
        )
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def record(self, handler: BaseHTTPRequestHandler, body: bytes) -> RequestRecord:
        path, _, query = handler.path.partition("?")
        scope = {
            "method": handler.command,
            "path": unquote(path),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in handler.headers.items()],
        }
        request = read_request(scope, body)
        return RequestRecord(
            cluster="real",
            number=next(self._numbers),
            verb=request.verb,
            method=request.method,
            path=request.path,
            query=request.query_string,
            content_type=request.content_type,
            user_agent=request.user_agent,
            user="",
            group=request.group,
            resource=request.resource,
            subresource=request.subresource,
            namespace=request.namespace,
            name=request.name,
            dry_run=request.dry_run,
            body_sha256=hashlib.sha256(request.body).hexdigest() if request.body else "",
        )

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
        self._directory.cleanup()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, owner: Recording, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner
        self._context = context
        self._open: set[socket.socket] = set()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread, so that a slow handshake holds nobody."""
        request.settimeout(PATIENCE)
        with self._context.wrap_socket(request, server_side=True) as tls:
            self._open.add(tls)
            try:
                super().finish_request(tls, client_address)
            finally:
                self._open.discard(tls)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Somebody went away in the middle, which is what these tests are about."""

    def server_close(self) -> None:
        super().server_close()
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self) -> None:
        super().setup()
        self._upstream: http.client.HTTPSConnection | None = None

    def finish(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
        with suppress(OSError):
            super().finish()

    def _pass(self) -> None:
        owner = self._owner
        began = time.perf_counter()
        if owner.latency:
            time.sleep(owner.latency)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        record = owner.record(self, body)
        fault = owner.breaks(record) if owner.breaks else None
        if fault is not None and fault.delay:
            time.sleep(fault.delay)
        if fault is not None and (fault.drop == BEFORE or fault.status):
            self._note(record, fault.status, began, fault)
            if fault.drop == BEFORE:
                self._cut()
            else:
                self._refuse(fault)
            return
        answer = self._forward(body)
        self._note(record, answer.status, began, fault)
        if fault is not None and fault.drop == AFTER:
            answer.read()
            self._cut()
            return
        self._hand_on(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _pass

    @property
    def _owner(self) -> Recording:
        server: Any = self.server
        owner: Recording = server.owner
        return owner

    def _forward(self, body: bytes) -> http.client.HTTPResponse:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in (*_HOP, "host")}
        if self._upstream is None:
            self._upstream = self._owner.connect()
        self._upstream.request(self.command, self.path, body=body or None, headers=headers)
        return self._upstream.getresponse()

    def _hand_on(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        if answer.length is not None:
            self.send_header("Content-Length", str(answer.length))
            self.end_headers()
            self.wfile.write(answer.read())
            self.wfile.flush()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        while chunk := answer.read1(65536):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _refuse(self, fault: Fault) -> None:
        body = json.dumps(ApiError(fault.status, fault.reason, fault.message).status()).encode()
        self.send_response_only(fault.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if fault.retry_after is not None:
            self.send_header("Retry-After", str(fault.retry_after))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _cut(self) -> None:
        """End the connection without a word."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _note(self, record: RequestRecord, status: int, began: float, fault: Fault | None) -> None:
        words = ""
        if fault is not None:
            words = f"drop {fault.drop}" if fault.drop else f"status {fault.status}" if fault.status else "delay"
        self._owner.requests.append(replace(record, status=status, seconds=time.perf_counter() - began, fault=words))

    def log_message(self, format: str, *args: Any) -> None:
        pass
