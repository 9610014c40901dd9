"""What the API answers when it does not do what was asked: a metav1.Status.

ApiError          code, reason, message, details
  bad_request     400  the body or a parameter cannot be read
  unauthorized    401
  forbidden       403
  not_found       404
  conflict        409  stale resourceVersion, failed precondition, field managers
  already_exists  409
  expired         410  a watch or a page from before the compaction
  too_many        429  an eviction that a disruption budget holds back
  invalid         422  understood, but against the rules
"""

from collections.abc import Iterable
from typing import Any

from reconciler.sandbox.kubernetes.objects import Object


class ApiError(Exception):
    """A refusal with the HTTP code and the Status body that carries it."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = {key: value for key, value in details.items() if value not in ("", None)}
        self.about_a_path = False  # then the details are there and empty

    def status(self) -> Object:
        body: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details or self.about_a_path:
            body["details"] = self.details
        return body


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def not_found(resource: str, group: str, name: str) -> ApiError:
    return ApiError(
        404, "NotFound", f'{qualified(resource, group)} "{name}" not found', name=name, group=group, kind=resource
    )


def no_such_path() -> ApiError:
    error = ApiError(404, "NotFound", "the server could not find the requested resource")
    error.about_a_path = True
    return error


def already_exists(resource: str, group: str, name: str) -> ApiError:
    text = f'{qualified(resource, group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, name=name, group=group, kind=resource)


def conflict(resource: str, group: str, name: str, why: str) -> ApiError:
    text = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return ApiError(409, "Conflict", text, name=name, group=group, kind=resource)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def forbidden(message: str, **details: Any) -> ApiError:
    return ApiError(403, "Forbidden", message, **details)


def invalid(kind: str, group: str, name: str, causes: Iterable[tuple[str, str, str]]) -> ApiError:
    """`causes`: (field, reason such as FieldValueRequired, message) each."""
    listed = list(causes)
    texts = [f"{field}: {text}" for field, _, text in listed]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return ApiError(
        422,
        "Invalid",
        f'{qualified(kind, group)} "{name}" is invalid: {joined}',
        name=name,
        group=group,
        kind=kind,
        causes=[{"reason": reason, "message": text, "field": field} for field, reason, text in listed],
    )


def qualified(resource: str, group: str) -> str:
    return f"{resource}.{group}" if group else resource
