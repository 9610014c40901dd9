"""Where IAM and STS are stricter than moto: new roles that cannot be used yet, roles that must exist."""

from __future__ import annotations

import json
from typing import Any
from xml.sax.saxutils import escape

from reconciler.sandbox.aws.agenda import Agenda
from reconciler.sandbox.aws.calls import Call, Json
from reconciler.sandbox.aws.credentials import Credentials
from reconciler.sandbox.aws.errors import AwsError, Reply
from reconciler.sandbox.aws.moto_bridge import Moto
from reconciler.sandbox.aws.pace import Pace

Params = dict[str, str]


class Roles:
    """Which service may assume which role, and since when."""

    def __init__(self, moto: Moto, agenda: Agenda, pace: Pace) -> None:
        self._moto, self._agenda, self._pace = moto, agenda, pace
        self._made: dict[str, float] = {}

    def made(self, arn: str) -> None:
        self._made[arn] = self._agenda.now()

    def why_not(self, arn: str, service: str) -> str | None:
        """Why `service` cannot assume the role now; None if it can. A role made just now is not seen everywhere yet."""
        role = self._moto.role(arn)
        seen = role is not None and self._agenda.now() >= self._made.get(arn, 0) + self._pace.role_usable
        if role is not None and seen and _trusts(role.assume_role_policy_document, service):
            return None
        # One text for all three, as AWS has it: whoever asks cannot tell a new role from a wrong one.
        return f"Role with arn: {arn}, could not be assumed because it does not exist or it does not trust {service}"

    def clear(self) -> None:
        self._made.clear()


class IdentityRules:
    def __init__(self, moto: Moto, credentials: Credentials, roles: Roles) -> None:
        self._moto, self._credentials, self._roles = moto, credentials, roles

    def before(self, call: Call, params: Params) -> Reply | None:
        if call.service == "sts" and call.operation == "AssumeRole":
            self._may_be_assumed(params.get("RoleArn", ""))
        return None

    def after(self, call: Call, params: Params, reply: Reply) -> Reply:
        if call.operation == "CreateRole" and reply.status < 300:
            path = params.get("Path", "/")
            self._roles.made(f"arn:aws:iam::{call.account}:role{path}{params['RoleName']}")
        return reply

    def who_am_i(self, call: Call, access_key: str) -> Reply:
        identity = self._credentials.find(access_key)
        if identity is None:
            raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.", 403)
        result = (
            f"<Arn>{escape(identity.arn)}</Arn><UserId>{identity.user_id}</UserId><Account>{identity.account}</Account>"
        )
        body = (
            '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
            f"<GetCallerIdentityResult>{result}</GetCallerIdentityResult>"
            f"<ResponseMetadata><RequestId>{call.request_id}</RequestId></ResponseMetadata></GetCallerIdentityResponse>"
        )
        return Reply(status=200, body=body.encode(), headers={"content-type": "text/xml"})

    def _may_be_assumed(self, arn: str) -> None:
        if self._moto.role(arn) is None:
            raise AwsError("AccessDenied", f"User is not authorized to perform: sts:AssumeRole on resource: {arn}", 403)


def _trusts(document: Any, service: str) -> bool:
    policy: Json = json.loads(document) if isinstance(document, str) else document
    for statement in _many(policy.get("Statement", [])):
        principal: Any = statement.get("Principal")
        # "*" and principals of other kinds are strings or have other keys: no service is meant by them.
        services = [] if principal is None or isinstance(principal, str) else _many(principal.get("Service", []))
        if service in services and statement.get("Effect") == "Allow":
            return True
    return False


def _many(value: Any) -> list[Any]:
    """IAM writes a list of one as the one."""
    return value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]  # it is JSON
