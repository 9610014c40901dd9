"""One HTTP server in a thread of its own, over an application. It is up when `start` returns."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from schemas.errors import InvalidInput, Unavailable

GRACE: Final = 2  # seconds for requests under way; streams end before, by themselves
_PATIENCE: Final = 30.0


class Server:
    """Binds at once: a port that is taken is told before anything is begun. Port 0: any free one."""

    def __init__(self, app: ASGIApp, *, host: str, port: int) -> None:
        self._socket = _bound(host, port)
        self.host = host
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",  # below that it logs addresses, with what a client may have put into them
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nobody stands between: who asks is who connects
            ws="websockets-sansio",
            ws_max_size=1 << 16,
            timeout_graceful_shutdown=GRACE,
        )
        logging.getLogger("uvicorn.error").addFilter(_no_false_alarm)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        self._thread.start()
        end = time.monotonic() + _PATIENCE
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise Unavailable("the HTTP server did not start; the log says why", reason="NoServer")
            time.sleep(0.005)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(GRACE + 10)
        with contextlib.suppress(OSError):
            self._socket.close()

    def _run(self) -> None:
        with contextlib.suppress(SystemExit):
            self._server.run(sockets=[self._socket])


def _no_false_alarm(record: logging.LogRecord) -> bool:
    """Uvicorn calls every WebSocket that was answered by a response, as a refused one is, an error of ours."""
    return record.msg != "ASGI callable returned without completing handshake."


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio takes TCP_NODELAY only for a socket that says its protocol; without it answers wait 40 ms for an ACK.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        made.close()
        text = f"{host}:{port} cannot be served on: {error.strerror or error}; choose another with INSTANTSTART_PORT"
        raise InvalidInput(text, reason="PortTaken") from None
    return made
