"""Tokens for the Kubernetes API of an EKS cluster.

A token is a presigned sts:GetCallerIdentity whose headers name the cluster. EKS takes it for fifteen minutes,
whatever the URL's own expiry says; real time, not the simulated one.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import real_now

PREFIX = "k8s-aws-v1."
LIFE = timedelta(minutes=14)
MARGIN = timedelta(minutes=1)
URL_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is a secret; `expires` is when it should no longer be used."""

    value: str
    expires: datetime

    def __repr__(self) -> str:
        return f"Token((hidden), expires={self.expires!r})"


class TokenProvider(Protocol):
    def current(self) -> str:
        """A token that is good now."""
        ...

    def renewed(self, rejected: str) -> str:
        """Another token, after the server did not take `rejected`."""
        ...


def eks_token(session: AwsSession, cluster: str) -> Token:
    """A new token for the EKS cluster of that name. Raises the errors of `live.errors`."""
    url = session.presign_identity({"x-k8s-aws-id": cluster}, expires=URL_SECONDS)
    value = PREFIX + base64.urlsafe_b64encode(url.encode()).rstrip(b"=").decode("ascii")
    return Token(value, real_now() + LIFE)


class EksTokens:
    """The token of one cluster, renewed a minute before it is fourteen minutes old. Thread-safe."""

    def __init__(self, session: AwsSession, cluster: str, *, now: Callable[[], datetime] = real_now) -> None:
        self._session = session
        self._cluster = cluster
        self._now = now
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._made: datetime | None = None

    def current(self) -> str:
        with self._lock:
            if self._token is None or self._made is None or self._now() - self._made >= LIFE - MARGIN:
                return self._make()
            return self._token.value

    def renewed(self, rejected: str) -> str:
        with self._lock:
            if self._token is not None and self._token.value != rejected:
                return self._token.value  # another thread was first
            return self._make()

    def _make(self) -> str:
        self._token = eks_token(self._session, self._cluster)
        self._made = self._now()
        return self._token.value


class FixedToken:
    """One token for ever: a service account's, or a test's."""

    def __init__(self, value: str) -> None:
        self._value = value

    def current(self) -> str:
        return self._value

    def renewed(self, rejected: str) -> str:
        return self._value
