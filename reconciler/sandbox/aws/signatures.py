"""Signature Version 4, checked for real: headers of a request, and presigned URLs.

Own code on purpose: the product signs with botocore, so a check made with botocore would agree with its own mistakes.
Signatures live in real time, whatever the rate of the simulated clock.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, unquote

_ALGORITHM = "AWS4-HMAC-SHA256"
_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Signed:
    """What a request claims about its signature."""

    access_key: str
    date: str  # yyyymmdd
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str
    at: str  # X-Amz-Date
    expires: int | None  # seconds, presigned only
    presigned: bool


def read(query: str, headers: Mapping[str, str]) -> Signed | None:
    """The signature of a request (header names in lower case), None if it carries none or a malformed one."""
    authorization = headers.get("authorization", "")
    if authorization.startswith(_ALGORITHM):
        parts = dict(
            piece.strip().split("=", 1) for piece in authorization[len(_ALGORITHM) :].split(",") if "=" in piece
        )
        return _signed(parts, headers.get("x-amz-date", ""), None, False)
    fields = dict(parse_qsl(query, keep_blank_values=True))
    if fields.get("X-Amz-Algorithm") != _ALGORITHM:
        return None
    parts = {name: fields.get(f"X-Amz-{name}", "") for name in ("Credential", "SignedHeaders", "Signature")}
    expires = fields.get("X-Amz-Expires", "")
    return _signed(parts, fields.get("X-Amz-Date", ""), int(expires) if expires.isdigit() else None, True)


def problem(
    signed: Signed,
    secret: str,
    *,
    method: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
) -> str | None:
    """Why the signature does not hold, or None. `path` and `query` as on the wire."""
    try:
        at = datetime.strptime(signed.at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return "Date in the request is missing or malformed."
    late = at + (timedelta(seconds=signed.expires) if signed.expires is not None else _SKEW)
    if now > late:
        return f"Signature expired: {signed.at} is now earlier than {(now - _SKEW):%Y%m%dT%H%M%SZ}"
    if at > now + _SKEW:
        return f"Signature not yet current: {signed.at} is still later than {(now + _SKEW):%Y%m%dT%H%M%SZ}"
    if signed.service == "s3":
        digest = headers.get("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
    else:
        digest = hashlib.sha256(body).hexdigest()
    canonical = "\n".join(
        (
            method,
            quote(unquote(path), safe="/-_.~") if signed.service == "s3" else quote(path or "/", safe="/-_.~"),
            _canonical_query(query),
            *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in signed.signed_headers),
            "",
            ";".join(signed.signed_headers),
            digest,
        )
    )
    scope = f"{signed.date}/{signed.region}/{signed.service}/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    expected = _mac(_key(secret, signed), f"{_ALGORITHM}\n{signed.at}\n{scope}\n{hashed}").hex()
    if not hmac.compare_digest(expected, signed.signature):
        return "The request signature we calculated does not match the signature you provided."
    return None


def _signed(parts: Mapping[str, str], at: str, expires: int | None, presigned: bool) -> Signed | None:
    scope = parts.get("Credential", "").split("/")
    if len(scope) != 5 or scope[4] != "aws4_request":
        return None
    return Signed(
        access_key=scope[0],
        date=scope[1],
        region=scope[2],
        service=scope[3],
        signed_headers=tuple(parts.get("SignedHeaders", "").split(";")),
        signature=parts.get("Signature", ""),
        at=at,
        expires=expires,
        presigned=presigned,
    )


def _canonical_query(query: str) -> str:
    pairs = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "X-Amz-Signature"]
    return "&".join(f"{name}={value}" for name, value in sorted((_encode(n), _encode(v)) for n, v in pairs))


def _encode(text: str) -> str:
    return quote(text, safe="-_.~")


def _key(secret: str, signed: Signed) -> bytes:
    key = f"AWS4{secret}".encode()
    for step in (signed.date, signed.region, signed.service, "aws4_request"):
        key = _mac(key, step)
    return key


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
