"""A real repository behind HTTP on loopback, with a switch for what is wrong with it."""

from __future__ import annotations

import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class GitHttp:
    """`git http-backend` for the repositories below `root`. `trouble` None: all is well; a number: that status;
    "hang": no answer while it lasts; "away": the connection is refused. `only`: for requests with this text in their
    address. `key`: the password that is wanted of everybody; `asked`: how many requests came."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.trouble: int | str | None = None
        self.only = ""
        self.key: str | None = None
        self.asked = 0
        self._released = threading.Event()
        self._server = self._serve(0)
        self.port = self._server.server_address[1]

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def breaks(self, trouble: int | str, only: str = "") -> None:
        self.trouble, self.only = trouble, only
        if trouble == "away":
            self._stop()

    def mends(self) -> None:
        if self.trouble == "away":
            self._server = self._serve(self.port)
        self.trouble = None
        self._released.set()
        self._released = threading.Event()

    def close(self) -> None:
        self._released.set()
        if self.trouble != "away":
            self._stop()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length)
        if self.trouble is not None and self.only in handler.path:
            if self.trouble == "hang":
                self._released.wait(600)
                return
            _status(handler, int(self.trouble))
            return
        if self.key is not None and not (handler.headers.get("Authorization") or "").endswith(self.key):
            _status(handler, 401)
            return
        path, _, query = handler.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("Content-Type") or "",
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding") or "",
            "HTTP_GIT_PROTOCOL": handler.headers.get("Git-Protocol") or "",
            "REMOTE_USER": "writer",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, timeout=120)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        handler.send_response(status)
        for name, value in headers:
            if name != "Status":
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def _serve(self, port: int) -> ThreadingHTTPServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.answer(self)

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    def _stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _status(handler: BaseHTTPRequestHandler, status: int) -> None:
    handler.send_response(status)
    if status == 401:
        handler.send_header("WWW-Authenticate", 'Basic realm="x"')
    handler.send_header("Content-Length", "0")
    handler.end_headers()
