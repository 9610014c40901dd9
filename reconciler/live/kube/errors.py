"""One translation from Kubernetes answers and broken connections to our error tree.

A 401, a TLS fault or a refused connection never reads as "not there".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import urllib3.exceptions as http

from reconciler.live import skew
from reconciler.live.errors import AlreadyExists, CallError, CallRefused, CallRejected, NotFound, ReplyLost
from reconciler.live.kube import rights
from reconciler.live.redaction import presentable

NOT_SENT = frozenset({"NotConnected", "ExpiredToken", "ClockSkew", "TlsError"})
"""Reasons that hold for the whole cluster: the next call would fail in the same way."""


def answered(operation: str, status: int, body: bytes, headers: Mapping[str, str]) -> CallError:
    """The error for an answer that is no success; `body` is a Status object, or whatever a proxy wrote."""
    told = _status(body)
    reason = str(told.get("reason") or "")
    text = str(told.get("message") or body[:2000].decode("utf-8", "replace") or f"HTTP {status}")
    said = presentable(f"{operation}: {text}")
    built = _judge(status, reason, text, said, told, headers)
    return built.told(code=reason or str(status), operation=operation, status=status)


def unanswered(operation: str, error: Exception) -> CallError:
    """The error for a request that got no answer: did it leave at all?"""
    kind = type(error).__name__
    said = presentable(f"{operation}: {error}" if str(error) else f"{operation}: {kind}")
    built: CallError
    match error:
        case http.SSLError():
            built = _tls(said)
        case http.NewConnectionError() | http.ConnectTimeoutError() | http.ProxyError():
            built = CallRefused(said, reason="NotConnected")
        case http.TimeoutError():
            built = ReplyLost(said, reason="TimedOut")
        case http.LocationValueError() | http.HTTPWarning():
            built = CallRejected(said, reason="BadEndpoint")
        case _:
            built = ReplyLost(said, reason="ConnectionLost")
    return built.told(code=kind, operation=operation)


def _judge(
    status: int, reason: str, text: str, said: str, told: dict[str, Any], headers: Mapping[str, str]
) -> CallError:
    after = _retry_after(headers, told)
    match status:
        case 401:
            return _not_recognised(said, headers)
        case 403 if _namespace_ends(told, text):
            return CallRefused(said, reason="NamespaceTerminating")
        case 403 if rights.is_missing_right(text):
            return CallRejected(rights.with_way_out(said), reason="AccessDenied")
        case 403:
            return CallRejected(said, reason="AccessDenied")
        case 404:
            return NotFound(said, reason="NotFound")
        case 409 if reason == "AlreadyExists":
            return AlreadyExists(said, reason="AlreadyExists")
        case 409:
            return CallRefused(said, reason="Conflict")
        case 410:
            return CallRefused(said, reason="Expired")
        case 422:
            return CallRejected(said, reason="Invalid")
        case 429:
            return CallRefused(said, reason="Throttled", after=after)
        # Admission comes before storage, so a webhook that cannot be called means that nothing was stored.
        case 500 if "failed calling webhook" in text:
            return CallRefused(said, reason="WebhookUnavailable")
        case _ if status >= 500:
            return ReplyLost(said, reason="ServerError", after=after)
        case _:
            return CallRejected(said, reason=reason or "Rejected")


def _not_recognised(said: str, headers: Mapping[str, str]) -> CallRefused:
    off = skew.measured(headers)
    if off is not None and abs(off) >= skew.MATTERS:
        return CallRefused(skew.sentence(off, said), reason="ClockSkew")
    return CallRefused(said, reason="ExpiredToken")


def _tls(said: str) -> CallError:
    text = said.upper()
    if "CERTIFICATE" in text or "HOSTNAME" in text or "HANDSHAKE" in text or "WRONG_VERSION" in text:
        return CallRefused(said, reason="TlsError")  # the handshake failed: nothing was sent
    return ReplyLost(said, reason="TlsError")


def _namespace_ends(told: dict[str, Any], text: str) -> bool:
    details: dict[str, Any] = told.get("details") or {}
    causes: list[dict[str, Any]] = details.get("causes") or []
    return any(c.get("reason") == "NamespaceTerminating" for c in causes) or "is being terminated" in text


def _status(body: bytes) -> dict[str, Any]:
    try:
        parsed: Any = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}


def _retry_after(headers: Mapping[str, str], told: dict[str, Any]) -> float | None:
    details: dict[str, Any] = told.get("details") or {}
    value = str(headers.get("Retry-After") or details.get("retryAfterSeconds") or "")
    return float(value) if value.isdigit() else None
