"""The webhook that a real API server asks who a bearer token stands for, as EKS has one: TokenReview over TLS."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reconciler.sandbox.kubernetes.access import UserInfo
from reconciler.sandbox.kubernetes.certificates import Certificates


class TokenReviews:
    """Answers on a free port until it is closed. `user` is called in threads of its own, one per question."""

    def __init__(self, user: Callable[[str], UserInfo | None], certificates: Certificates) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1  # head and body in one packet

            def do_POST(self) -> None:
                asked: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                found = user(asked["spec"]["token"])
                body = json.dumps({**asked, "status": _status(found)}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler, certificates)
        self.url = f"https://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="token reviews")
        self._thread.daemon = True
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], certificates: Certificates
    ) -> None:
        super().__init__(address, handler)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificates.certificate, certificates.key)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread, so that a slow handshake holds nobody."""
        request.settimeout(300)
        with self._context.wrap_socket(request, server_side=True) as tls:
            super().finish_request(tls, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The other side went away: at the end of a test that is no news."""


def _status(found: UserInfo | None) -> dict[str, Any]:
    if found is None:
        return {"authenticated": False}
    user: dict[str, Any] = {"username": found.name, "groups": list(found.groups)}
    if found.uid:
        user["uid"] = found.uid
    if found.extra:
        user["extra"] = found.extra
    return {"authenticated": True, "user": user}
