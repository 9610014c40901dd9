"""What AWS says no with, and how each wire protocol spells it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape


class AwsError(Exception):
    """An answer of the service, not a fault of the sandbox."""

    def __init__(self, code: str, message: str, status: int = 400, **members: object) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.members = members
        self.headers: dict[str, str] = {}


def not_supported(what: str) -> AwsError:
    return AwsError("NotSupportedHere", f"{what} is not supported here (this is InstantStart's sandbox).", 400)


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])


_QUERY = {"ec2", "iam", "sts", "cloudformation"}


def as_reply(service: str, error: AwsError, request_id: str) -> Reply:
    code, message = escape(error.code), escape(error.message)
    if service == "s3":
        return _xml(error, f"<Error><Code>{code}</Code><Message>{message}</Message></Error>", request_id)
    if service == "ec2":
        inner = f"<Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
        return _xml(error, f"<Response>{inner}<RequestID>{request_id}</RequestID></Response>", request_id)
    if service in _QUERY:
        inner = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
        return _xml(error, f"<ErrorResponse>{inner}<RequestId>{request_id}</RequestId></ErrorResponse>", request_id)
    body = {"__type": error.code, "message": error.message, "Message": error.message, **error.members}
    headers = {
        "content-type": "application/x-amz-json-1.1",
        "x-amzn-requestid": request_id,
        "x-amzn-errortype": error.code,
        **error.headers,
    }
    return Reply(status=error.status, body=json.dumps(body).encode(), headers=headers)


def _xml(error: AwsError, body: str, request_id: str) -> Reply:
    headers = {"content-type": "text/xml", "x-amzn-requestid": request_id, **error.headers}
    return Reply(status=error.status, body=('<?xml version="1.0"?>' + body).encode(), headers=headers)
