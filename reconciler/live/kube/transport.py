"""Requests to one Kubernetes API server over the official client's connection pool, JSON in and out.

The official client brings configuration, TLS, proxies and the pool; its typed models and its per-call serialising
are left aside: objects of any kind pass as plain dicts, unknown fields included.
"""

from __future__ import annotations

import functools
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

import orjson
import urllib3
import urllib3.exceptions
import urllib3.util
from kubernetes import client as official

from reconciler.live.errors import CallError, CallRefused, CallRejected, ReplyLost
from reconciler.live.kube import errors
from reconciler.live.kube.exchange import KubeConnection
from reconciler.live.kube.tokens import TokenProvider
from schemas.values import JsonObject

AGENT = "instantstart"
READ_ATTEMPTS = 4
CONNECT_SECONDS = 5
READ_SECONDS = 30
MUTATE_SECONDS = 60
POOL_SIZE = 32
APPLY = "application/apply-patch+yaml"  # JSON is YAML


class Transport:
    """One server, one connection pool. Thread-safe; `close` releases all, running watches included."""

    def __init__(
        self, endpoint: str, ca_pem: str, tokens: TokenProvider, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """`ca_pem` is the certificate text itself: it never touches the disk. `pause` waits between reads."""
        configuration: Any = official.Configuration(
            host=endpoint.rstrip("/"),
            ca_cert_data=ca_pem or None,
            retries=False,
            connection_pool_maxsize=POOL_SIZE,
        )
        self._api: Any = official.ApiClient(configuration)
        manager: urllib3.PoolManager = self._api.rest_client.pool_manager
        # Every request goes to one host: asking its pool directly saves a tenth of the client's time.
        self._pool = manager.connection_from_url(endpoint)
        if isinstance(self._pool, urllib3.HTTPSConnectionPool):
            own: Any = KubeConnection
            self._pool.ConnectionCls = own
            if ca_pem:
                # One context for all connections: urllib3 would read the certificate again for each.
                self._pool.conn_kw.update(ssl_context=_trusting(ca_pem), ca_cert_data=None)
        self._prefix = urlsplit(endpoint).path.rstrip("/")
        self._tokens = tokens
        self._pause = pause
        self._lock = threading.Lock()
        self._streams: set[urllib3.BaseHTTPResponse] = set()
        self._closed = False

    def read(self, path: str, query: Mapping[str, str] | None = None) -> JsonObject:
        """GET as JSON; up to four attempts on throttling, 5xx and broken connections."""
        operation = f"k8s:GET {path}"
        for attempt in range(1, READ_ATTEMPTS + 1):
            told: CallError
            try:
                answer = self._send("GET", path, query, operation, read_seconds=READ_SECONDS)
            except (CallRefused, ReplyLost) as error:
                if attempt == READ_ATTEMPTS or error.reason in ("ExpiredToken", "ClockSkew", "TlsError"):
                    raise
                told = error
            else:
                if answer.status < 300:
                    return _json(operation, answer.data)
                told = errors.answered(operation, answer.status, answer.data, answer.headers)
                if attempt == READ_ATTEMPTS or not (answer.status == 429 or answer.status >= 500):
                    raise told
            self._pause(_backoff(attempt, told.after if isinstance(told, (CallRefused, ReplyLost)) else None))
        raise AssertionError("unreachable")

    def text(self, path: str, query: Mapping[str, str] | None = None) -> str:
        """GET as text: logs. One attempt."""
        operation = f"k8s:GET {path}"
        answer = self._send("GET", path, query, operation, read_seconds=READ_SECONDS)
        if answer.status >= 300:
            raise errors.answered(operation, answer.status, answer.data, answer.headers)
        return answer.data.decode("utf-8", "replace")

    def change(
        self,
        method: str,
        path: str,
        *,
        op: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> JsonObject:
        """One changing request, sent once; a 401 is the exception, since the server then did nothing."""
        if not op.replace("-", "").isalnum() or not op.isascii() or len(op) > 64:
            raise CallRejected(f"{op!r} is no op id", reason="CallNotAllowed")
        operation = f"k8s:{method} {path}"
        answer = self._send(
            method,
            path,
            query,
            operation,
            read_seconds=MUTATE_SECONDS,
            body=None if body is None else orjson.dumps(body),
            headers={"Content-Type": content_type, "User-Agent": f"{AGENT} instantstart-op/{op}"},
        )
        if answer.status >= 300:
            raise errors.answered(operation, answer.status, answer.data, answer.headers)
        return _json(operation, answer.data)

    def ask(self, method: str, path: str, body: Any, query: Mapping[str, str], content_type: str) -> JsonObject:
        """A request that changes nothing although it is no GET: a dry run. `query` must say so."""
        if query.get("dryRun") != "All":
            raise CallRejected(f"{method} {path} is no dry run", reason="CallNotAllowed")
        operation = f"k8s:{method} {path} (dry run)"
        answer = self._send(
            method,
            path,
            query,
            operation,
            read_seconds=READ_SECONDS,
            body=orjson.dumps(body),
            headers={"Content-Type": content_type, "User-Agent": AGENT},
        )
        if answer.status >= 300:
            raise errors.answered(operation, answer.status, answer.data, answer.headers)
        return _json(operation, answer.data)

    def stream(self, path: str, query: Mapping[str, str], *, silence: float) -> urllib3.BaseHTTPResponse:
        """GET whose answer is read as it comes; `silence` is the longest wait for more. Give it back to `end`."""
        operation = f"k8s:GET {path}"
        answer = self._send("GET", path, query, operation, read_seconds=silence, preload=False)
        if answer.status >= 300:
            try:
                raise errors.answered(operation, answer.status, answer.data, answer.headers)
            finally:
                answer.close()
        with self._lock:
            if self._closed:
                answer.close()
                raise CallRefused("the connection to the cluster was closed", reason="Closed")
            self._streams.add(answer)
        return answer

    def end(self, answer: urllib3.BaseHTTPResponse) -> None:
        with self._lock:
            self._streams.discard(answer)
        answer.close()

    def wake(self, answer: urllib3.BaseHTTPResponse) -> None:
        """Wakes the thread that reads this stream: it finds the stream's end, and gives it back to `end`."""
        with self._lock:
            if answer in self._streams and isinstance(answer, urllib3.HTTPResponse):
                answer.shutdown()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            streams = tuple(self._streams)
        for answer in streams:
            self.wake(answer)
        self._pool.close()
        self._api.close()

    @property
    def closed(self) -> bool:
        return self._closed

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        operation: str,
        *,
        read_seconds: float,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        preload: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        if self._closed:
            raise CallRefused("the connection to the cluster was closed", reason="Closed")
        url = self._prefix + path + (_encoded(tuple(query.items())) if query else "")
        token = self._tokens.current()
        for last in (False, True):
            sent = {"Accept": "application/json", "User-Agent": AGENT, **(headers or {})}
            sent["Authorization"] = f"Bearer {token}"
            try:
                answer = self._pool.urlopen(
                    method,
                    url,
                    body=body,
                    headers=sent,
                    timeout=_patience(read_seconds),
                    retries=False,
                    redirect=False,
                    preload_content=preload,
                )
            except urllib3.exceptions.HTTPError as error:
                raise errors.unanswered(operation, error) from error
            if answer.status != 401 or last:
                return answer
            answer.close()
            token = self._tokens.renewed(token)
        raise AssertionError("unreachable")


def _trusting(ca_pem: str) -> ssl.SSLContext:
    context: ssl.SSLContext = urllib3.util.create_urllib3_context()
    context.load_verify_locations(cadata=ca_pem)
    return context


@functools.lru_cache(256)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    """Thousands of requests have the same."""
    return f"?{urlencode(query)}"


@functools.lru_cache(64)
def _patience(read_seconds: float) -> urllib3.Timeout:
    return urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds)


def _json(operation: str, data: bytes) -> JsonObject:
    try:
        parsed: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ReplyLost(f"{operation}: the answer is no JSON", reason="ReplyNotUnderstood") from error
    if not isinstance(parsed, dict):
        raise ReplyLost(f"{operation}: the answer is no object", reason="ReplyNotUnderstood")
    return cast("JsonObject", parsed)


def _backoff(attempt: int, asked: float | None) -> float:
    """Seconds: what the server asked for, else doubling from 0.2 s with full jitter."""
    wait = 0.2 * 2.0**attempt * random.random()
    return min(max(wait, asked or 0.0), 10.0)
