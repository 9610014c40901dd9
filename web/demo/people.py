"""Those who take part in the demo, each with a token of their own, over the API as everybody else."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from schemas.principals import Kind, Scope
from web.service import Service

PERSON = "platform-engineer@example.com"
AGENT = "demo-agent"
_LIFE = timedelta(days=1)


class Refused(Exception):
    """What the API answered instead. The message is its detail."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(str(problem.get("detail", f"HTTP {status}")))
        self.reason = str(problem.get("reason", ""))


@dataclass(frozen=True, kw_only=True)
class Caller:
    name: str
    base: str
    token: str = field(repr=False)

    def get(self, path: str) -> dict[str, Any]:
        return self._ask("GET", path, None)

    def post(self, path: str, body: dict[str, Any] | None = None, *, head: str | None = None) -> dict[str, Any]:
        """`head`: of the change, as it was seen. Raises Refused."""
        return self._ask("POST", path, {} if body is None else body, head)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None, head: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers |= {} if head is None else {"If-Match": f'"{head}"'}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}/api/v1{path}", data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return cast("dict[str, Any]", json.load(answer))
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, json.load(error)) from None


def person(service: Service) -> Caller:
    return _caller(service, PERSON, "person", frozenset({"read", "propose", "approve", "operate"}))


def agent(service: Service) -> Caller:
    return _caller(service, AGENT, "agent", frozenset({"read", "propose"}))


def _caller(service: Service, name: str, kind: Kind, scopes: frozenset[Scope]) -> Caller:
    tokens = service.house.access.tokens
    token, _ = tokens.create(name=name, kind=kind, scopes=scopes, created_by="demo", life=_LIFE)
    return Caller(name=name, base=service.base, token=token)
