"""One translation from botocore to our error tree.

The question behind every rule: could the call have had its effect? A code we know answers it first, then the HTTP
status, then how the connection ended. What is not understood counts as lost when it was a 5xx, as rejected
when it was a 4xx. A 401 or an expired token never reads as "not there".
"""

from __future__ import annotations

import re
from typing import Any

import botocore.exceptions as boto

from reconciler.live import skew
from reconciler.live.aws import codes
from reconciler.live.errors import AlreadyExists, CallError, CallRefused, CallRejected, NotFound, ReplyLost
from reconciler.live.redaction import presentable

_ROLE_NOT_USABLE = re.compile(
    r"error in role params|(?:could not|cannot|can't|unable to|not able to) (?:be )?assume|cannot be assumed"
    r"|sts:AssumeRole|\brole .{0,200}(?:does not have|is not valid|invalid|not authorized)|invalid principal in policy",
    re.IGNORECASE | re.DOTALL,
)
_SIGNATURE_TIME = re.compile(
    r"signature (?:expired|not yet current)|difference between the request time", re.IGNORECASE
)
_NOT_THERE = re.compile(r"\b(?:could not find|does not exist|not found)\b", re.IGNORECASE)


class SentTwice(Exception):
    """A changing call was about to leave a second time; it was held back."""


def translate(error: BaseException, operation: str) -> CallError:
    """The error of our tree for what botocore raised. `operation` is "service:Operation"."""
    if isinstance(error, boto.ClientError):
        return _answered(error, operation)
    return _unanswered(error, operation)


def not_sent(told: CallError) -> CallError:
    """The same error for a call that never left: whatever failed before it, it had no effect."""
    if not isinstance(told, ReplyLost):
        return told
    refused = CallRefused(told.message, reason=told.reason, after=told.after)
    return refused.told(code=told.code, operation=told.operation, status=told.status)


def _answered(error: boto.ClientError, operation: str) -> CallError:
    """The server answered with an error."""
    response: dict[str, Any] = error.response
    body: dict[str, Any] = response.get("Error") or {}
    meta: dict[str, Any] = response.get("ResponseMetadata") or {}
    headers: dict[str, str] = meta.get("HTTPHeaders") or {}
    code = str(body.get("Code") or "").rsplit("#", 1)[-1]
    # A lower-case "message" hides in modelled shapes of some services.
    text = str(body.get("Message") or body.get("message") or response.get("message") or error)
    status = int(meta.get("HTTPStatusCode") or 0)
    built = _judge(code, text, status, headers, operation)
    return built.told(code=code, operation=operation, status=status)


def _judge(code: str, text: str, status: int, headers: dict[str, str], operation: str) -> CallError:
    said = presentable(f"{operation}: {code}: {text}" if code else f"{operation}: {text}")
    verb = operation.rpartition(":")[2]

    if code in codes.SIGNATURE or code in codes.EXPIRED or _SIGNATURE_TIME.search(text):
        return _not_recognised(code, said, headers)
    if code in codes.THROTTLED or status == 429:
        return CallRefused(said, reason="Throttled", after=_retry_after(headers))
    if _is_missing(code, text, verb, operation, status):
        return NotFound(said, reason="NotFound")
    if _is_taken(code, verb):
        return AlreadyExists(said, reason="AlreadyExists")
    if code in codes.QUOTA or code.endswith(("LimitExceeded", "QuotaExceeded")):
        return CallRejected(said, reason="ResourceLimitExceeded")
    if code in codes.DENIED:
        return CallRejected(said, reason="AccessDenied")
    if code in codes.WRONG_REGION:
        return CallRejected(said, reason="WrongRegion")
    if status >= 500 or code in codes.LOST:
        return ReplyLost(said, reason="ServerError", after=_retry_after(headers))
    if code in codes.CONFLICT or code.endswith(".InUse") or status == 409:
        return CallRefused(said, reason="Conflict")
    if status == 401:
        return _not_recognised(code, said, headers)
    if _ROLE_NOT_USABLE.search(text):
        return CallRejected(said, reason="RoleNotUsable")
    return CallRejected(said, reason=_camel(code) or "Rejected")


def _is_missing(code: str, text: str, verb: str, operation: str, status: int) -> bool:
    if code in codes.MISSING or code.endswith(("NotFound", "NotFoundFault", "NotFoundException")):
        return True
    if status == 404 and not code:
        return True
    # Some SageMaker describes answer ValidationException for what is not there.
    return (
        code == "ValidationException"
        and operation.startswith("sagemaker:")
        and verb.startswith("Describe")
        and _NOT_THERE.search(text) is not None
    )


def _is_taken(code: str, verb: str) -> bool:
    if code in codes.IN_USE:
        return verb.startswith(("Create", "Associate"))  # for other calls the thing is busy, not taken
    return code in codes.EXISTING or code.endswith((".Duplicate", "AlreadyExists", ".AlreadyAssociated"))


def _not_recognised(code: str, said: str, headers: dict[str, str]) -> CallRefused:
    """Credentials were not taken: is it our clock, or are they old?"""
    off = skew.measured(headers)
    if off is not None and abs(off) >= skew.MATTERS:
        return CallRefused(skew.sentence(off, said), reason="ClockSkew")
    if code in codes.SIGNATURE:
        return CallRefused(said, reason="SignatureRejected")
    return CallRefused(said, reason="ExpiredToken")


def _unanswered(error: BaseException, operation: str) -> CallError:
    """No answer was understood: did the call leave at all?"""
    kind = type(error).__name__
    said = presentable(f"{operation}: {error}" if str(error) else f"{operation}: {kind}")
    built: CallError
    match error:
        case boto.ParamValidationError() | boto.UnknownServiceError() | boto.ValidationError():
            built = CallRejected(said, reason="ParamValidation")
        case SentTwice():
            built = ReplyLost(said, reason="SentOnce")
        case boto.EndpointConnectionError() | boto.ConnectTimeoutError() | boto.ProxyConnectionError():
            built = CallRefused(said, reason="NotConnected")
        case boto.SSLError():
            built = _tls(said)
        case boto.ReadTimeoutError():
            built = ReplyLost(said, reason="TimedOut")
        case boto.HTTPClientError() | boto.IncompleteReadError():
            built = ReplyLost(said, reason="ConnectionLost")
        case boto.PaginationError():
            built = CallRefused(said, reason="PagingLoop")
        case boto.NoCredentialsError() | boto.PartialCredentialsError() | boto.ProfileNotFound():
            built = CallRefused(said, reason="NoCredentials")
        case (
            boto.CredentialRetrievalError()
            | boto.TokenRetrievalError()
            | boto.SSOError()
            | boto.LoginError()
            | boto.MetadataRetrievalError()
        ):
            built = CallRefused(said, reason="ExpiredToken")
        case boto.BotoCoreError() if "Response" not in kind:
            built = CallRejected(said, reason=_camel(kind) or "Rejected")
        case _:
            built = ReplyLost(said, reason="ReplyNotUnderstood")
    return built.told(code=kind, operation=operation)


def _tls(said: str) -> CallError:
    """A certificate that does not fit ends the handshake, before anything is sent; other TLS faults may come later."""
    text = said.upper()
    if "CERTIFICATE" in text or "HOSTNAME" in text or "HANDSHAKE" in text or "WRONG_VERSION" in text:
        return CallRefused(said, reason="TlsError")
    return ReplyLost(said, reason="TlsError")


def _retry_after(headers: dict[str, str]) -> float | None:
    value = next((v for k, v in headers.items() if k.lower() == "retry-after"), "")
    return float(value) if value.isdigit() else None


def _camel(code: str) -> str:
    """`InvalidParameterValue.Foo` → `InvalidParameterValueFoo`: a reason for machines."""
    return re.sub(r"[^A-Za-z0-9]", "", code)
