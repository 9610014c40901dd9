"""A small Kubernetes client for the simulators: JSON over HTTPS, one connection per thread."""

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from reconciler.sandbox.kubernetes.objects import Object

USER_AGENT = "sandbox-simulators/1"
TIMEOUT = 30.0
WATCH_SECONDS = 600


class Refused(Exception):
    """The API said no, or said nothing (`code` 0)."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason


class Client:
    """`token` is asked for the bearer token before every request, so that it may be short-lived."""

    def __init__(self, url: str, ca_pem: str, token: Callable[[], str]) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 443
        self._context = ssl.create_default_context(cadata=ca_pem)
        self._token = token
        self._local = threading.local()

    def get(self, path: str, **query: str) -> Object:
        return self.request("GET", path, query=query)

    def create(self, path: str, body: Object) -> Object:
        return self.request("POST", path, body=body)

    def update(self, path: str, body: Object) -> Object:
        return self.request("PUT", path, body=body)

    def merge(self, path: str, patch: Object) -> Object:
        """A JSON merge patch."""
        return self.request("PATCH", path, body=patch, content_type="application/merge-patch+json")

    def strategic(self, path: str, patch: Object) -> Object:
        return self.request("PATCH", path, body=patch, content_type="application/strategic-merge-patch+json")

    def delete(self, path: str, *, grace: int | None = None, uid: str = "") -> None:
        """Delete in the background. What is not there (any more) is fine."""
        body: Object = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if uid:
            body["preconditions"] = {"uid": uid}
        try:
            self.request("DELETE", path, body=body)
        except Refused as refused:
            if refused.code != 404:
                raise

    def request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Object | None = None,
        content_type: str = "application/json",
    ) -> Object:
        """One request, sent once. Refused for every answer above 299 and for a lost connection."""
        target = f"{path}?{urlencode(query)}" if query else path
        raw = None if body is None else orjson.dumps(body)
        try:
            answer = self._send(method, target, raw, content_type)
            payload = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._forget()
            raise Refused(0, type(error).__name__, str(error)) from error
        if answer.status > 299:
            raise _refusal(answer.status, payload)
        found: Object = orjson.loads(payload)
        return found

    def watch(
        self, path: str, revision: str, on_connect: Callable[[socket.socket], None], **more: str
    ) -> Iterator[Object]:
        """Events after `revision`, until the server ends the stream. Refused when it cannot begin or breaks."""
        connection = http.client.HTTPSConnection(
            self._host, self._port, timeout=WATCH_SECONDS * 2, context=self._context
        )
        query = {
            "watch": "1",
            "resourceVersion": revision,
            "timeoutSeconds": str(WATCH_SECONDS),
            "allowWatchBookmarks": "true",
            **more,
        }
        try:
            connection.connect()
            on_connect(connection.sock)
            connection.request("GET", f"{path}?{urlencode(query)}", headers=self._headers("application/json"))
            answer = connection.getresponse()
            if answer.status != 200:
                raise _refusal(answer.status, answer.read())
            while line := answer.readline():
                yield orjson.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Refused(0, type(error).__name__, str(error)) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close this thread's connection."""
        self._forget()

    def _send(self, method: str, target: str, raw: bytes | None, content_type: str) -> http.client.HTTPResponse:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=TIMEOUT, context=self._context)
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._local.connection = connection
        connection.request(method, target, body=raw, headers=self._headers(content_type))
        return connection.getresponse()

    def _headers(self, content_type: str) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._token()}",
            "Accept": "application/json",
            "Content-Type": content_type,
            "User-Agent": USER_AGENT,
        }

    def _forget(self) -> None:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None


def _refusal(code: int, payload: bytes) -> Refused:
    try:
        status: Any = orjson.loads(payload)
        return Refused(code, str(status.get("reason")), str(status.get("message")))
    except (orjson.JSONDecodeError, AttributeError):
        return Refused(code, "", payload[:200].decode("utf-8", "replace"))
