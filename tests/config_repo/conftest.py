from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.config_repo.gitbox import GitBox


@pytest.fixture
def box(tmp_path: Path) -> Iterator[GitBox]:
    made = GitBox(tmp_path)
    yield made
    made.close()


@pytest.fixture
def answering() -> Iterator[Callable[[int], str]]:
    """A web server that answers everything with one status; gives the address of a repository on it."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                if status == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}/config.git"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
