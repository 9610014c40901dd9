"""A web server on loopback that answers everything with one status."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answering:
    """Call it with a status: the address of a repository that answers so. Remembers Authorization headers."""

    def __init__(self) -> None:
        self.authorizations: list[str | None] = []
        self._servers: list[ThreadingHTTPServer] = []

    def __call__(self, status: int, *, location: str | None = None) -> str:
        seen = self.authorizations

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.headers.get("Authorization"))
                self.send_response(status)
                if status == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="x"')
                if location is not None:
                    self.send_header("Location", location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}/config.git"

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
