"""Many clusters in one process: one event loop in one thread, one TLS port per cluster, one CA for all."""

import asyncio
import contextlib
import socket
import tempfile
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.access import Authenticate, Authorize, rbac_allows
from reconciler.sandbox.kubernetes.apiserver import ApiServer
from reconciler.sandbox.kubernetes.app import App
from reconciler.sandbox.kubernetes.certificates import make_certificates
from reconciler.sandbox.kubernetes.records import BeforeRequest, OnRequest
from reconciler.sandbox.kubernetes.wire import HttpProtocol

START_SECONDS = 30.0  # a busy machine reads the models of all kinds for so long

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a cluster is served: what EKS answers as endpoint and certificateAuthority."""

    cluster: str
    url: str
    ca_pem: str


@dataclass(kw_only=True)
class _Running:
    endpoint: Endpoint
    app: App
    server: uvicorn.Server
    task: "Future[None]"


class ApiServers:
    """Starts and stops API servers on 127.0.0.1. Methods may be called from any thread but the loop's own.

    `authenticate` gets the cluster's name and the bearer token; the other
    seams are those of `App` and run on the loop's thread, so they must not block. `page` says how long a page of a
    listing becomes that was asked to be so long.
    """

    def __init__(
        self,
        *,
        authenticate: Callable[[str], Authenticate],
        authorize: Authorize = rbac_allows,
        on_request: OnRequest | None = None,
        before_request: BeforeRequest | None = None,
        latency: float = 0.0,
        clock: Clock | None = None,
        page: Callable[[int], int] = int,
    ) -> None:
        self._authenticate = authenticate
        self._authorize = authorize
        self._on_request = on_request
        self._before_request = before_request
        self._latency = latency
        self._clock = clock or Clock()
        self._page = page
        self._running: dict[str, _Running] = {}
        self._directory = tempfile.TemporaryDirectory(prefix="sandbox-kubernetes-")
        self._certificates = make_certificates(Path(self._directory.name))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sandbox-kubernetes", daemon=True)
        self._thread.start()

    @property
    def ca_pem(self) -> str:
        return self._certificates.ca_pem

    def start(self, cluster: str, *, port: int = 0) -> Endpoint:
        """Serve that cluster, new and empty, or answer where it is served already."""
        running = self._running.get(cluster)
        if running is not None:
            return running.endpoint
        return self._on_loop(self._start(cluster, port))

    def stop(self, cluster: str) -> None:
        """End the cluster with all it holds. Nothing happens if it is not there."""
        running = self._running.pop(cluster, None)
        if running is None:
            return
        self._on_loop(self._stop(running))

    def api(self, cluster: str) -> ApiServer:
        """The cluster's state. KeyError if it was not started. Use it on the loop only (see `call`), but for `logs`."""
        return self._running[cluster].app.api

    def call(self, cluster: str, function: Callable[[ApiServer], T]) -> T:
        """Run `function` on the loop, between requests, and settle what it started."""
        running = self._running[cluster]

        async def run() -> T:
            result = function(running.app.api)
            running.app.settle_soon()
            return result

        return self._on_loop(run())

    def set_latency(self, seconds: float) -> None:
        """Real seconds before every request, for all clusters from now on."""
        self._latency = seconds
        for running in self._running.values():
            running.app.latency = seconds

    def close(self) -> None:
        for cluster in list(self._running):
            self.stop(cluster)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=START_SECONDS)
        self._loop.close()
        self._directory.cleanup()

    def __enter__(self) -> "ApiServers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=START_SECONDS * 3)

    async def _start(self, cluster: str, port: int) -> Endpoint:
        if cluster in self._running:
            return self._running[cluster].endpoint
        app = App(
            ApiServer(name=cluster, now=self._clock.now),
            page=self._page,
            authenticate=self._authenticate(cluster),
            authorize=self._authorize,
            on_request=self._on_request,
            before_request=self._before_request,
            latency=self._latency,
        )
        listener = _listen(port)
        server = uvicorn.Server(self._config(app))
        task = asyncio.run_coroutine_threadsafe(server.serve(sockets=[listener]), self._loop)
        for _ in range(int(START_SECONDS * 500)):
            if server.started or task.done():
                break
            await asyncio.sleep(0.002)
        if not server.started:
            raise RuntimeError(f"the API server of {cluster} did not start")
        endpoint = Endpoint(cluster=cluster, url=f"https://127.0.0.1:{listener.getsockname()[1]}", ca_pem=self.ca_pem)
        self._running[cluster] = _Running(endpoint=endpoint, app=app, server=server, task=task)
        return endpoint

    async def _stop(self, running: _Running) -> None:
        running.app.close()
        running.server.should_exit = True
        # a polite TLS goodbye would wait for clients that keep their connections open
        connections: Any = running.server.server_state.connections
        for connection in list(connections):
            if connection.transport is not None:
                connection.transport.abort()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.wrap_future(running.task), START_SECONDS)

    def _config(self, app: App) -> uvicorn.Config:
        return uvicorn.Config(
            app,  # pyright: ignore[reportArgumentType]  # uvicorn's own scope types are unions of TypedDicts
            http=HttpProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
            ssl_certfile=self._certificates.certificate,
            ssl_keyfile=self._certificates.key,
        )


def _listen(port: int) -> socket.socket:
    """A listening socket that says it is TCP: asyncio turns Nagle's algorithm off only for those."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(512)
    return listener
