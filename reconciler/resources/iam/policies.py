"""IAM policy documents: compared by meaning, and trust between its short form and a document. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from reconciler.resources.drafts import as_list, as_map
from schemas.values import JsonObject, JsonValue, canonical

VERSION = "2012-10-17"
AUDIENCE = "sts.amazonaws.com"

_SETS = frozenset({"Action", "NotAction", "Resource", "NotResource"})
_LOWER = frozenset({"Action", "NotAction"})


def normal_policy(document: Mapping[str, Any]) -> JsonObject:
    """A policy in one spelling: two documents that mean the same become equal.

    Strings and lists of one are the same, members of a set are sorted, actions ignore case, statements have no
    order and their Sids say nothing.
    """
    statements = [_statement(each) for each in _many(document.get("Statement"))]
    return {"Version": document.get("Version", "2008-10-17"), "Statement": sorted(statements, key=canonical)}


def same_policy(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return canonical(normal_policy(one)) == canonical(normal_policy(other))


def read_policy(value: JsonValue) -> JsonObject:
    """The document in an answer of IAM: botocore decodes most of them, some come as URL-encoded text."""
    return as_map(json.loads(unquote(value))) if isinstance(value, str) else as_map(value)


def trust_document(trust: Mapping[str, Any]) -> JsonObject:
    """The trust policy for `{services: [...], actions?: [...]}` or `{irsa: {provider, issuer, serviceAccount}}`."""
    if "document" in trust:
        return as_map(trust["document"])
    if "irsa" in trust:
        return {"Version": VERSION, "Statement": [_irsa(as_map(trust["irsa"]))]}
    services = as_list(trust["services"])
    statement: JsonObject = {
        "Effect": "Allow",
        "Principal": {"Service": services[0] if len(services) == 1 else services},
        "Action": as_list(trust.get("actions")) or "sts:AssumeRole",
    }
    return {"Version": VERSION, "Statement": [statement]}


def trust_in_words_of(wanted: JsonValue, document: Mapping[str, Any]) -> JsonObject:
    """The observed trust: as git writes it where the meaning is the same, else as short as it can be said."""
    trust = as_map(wanted)
    known = "services" in trust or all(isinstance(v, str) for v in as_map(trust.get("irsa")).values())
    if trust and known and same_policy(trust_document(trust), document):
        return trust
    return _short(document)


def inline_in_words_of(wanted: JsonValue, seen: Mapping[str, Any]) -> JsonObject:
    """Inline policies by name, each as git writes it where the meaning is the same."""
    ours = as_map(wanted)
    return {
        name: ours[name] if name in ours and same_policy(as_map(ours[name]), as_map(document)) else document
        for name, document in seen.items()
    }


def _short(document: Mapping[str, Any]) -> JsonObject:
    """The short form if the document is one that we would write, else the document."""
    for candidate in (_services(document), _web_identity(document)):
        if candidate and same_policy(trust_document(candidate), document):
            return candidate
    return {"document": normal_policy(document)}


def _services(document: Mapping[str, Any]) -> JsonObject:
    statements = _many(document.get("Statement"))
    if len(statements) != 1:
        return {}
    services = _many(as_map(as_map(statements[0]).get("Principal")).get("Service"))
    actions = sorted(str(action) for action in _many(as_map(statements[0]).get("Action")))
    if not services:
        return {}
    return {"services": sorted(services)} | ({} if actions == ["sts:AssumeRole"] else {"actions": actions})


def _web_identity(document: Mapping[str, Any]) -> JsonObject:
    statements = _many(document.get("Statement"))
    if len(statements) != 1:
        return {}
    statement = as_map(statements[0])
    provider = str(as_map(statement.get("Principal")).get("Federated", ""))
    conditions = as_map(as_map(statement.get("Condition")).get("StringEquals"))
    subject = next((str(v) for k, v in conditions.items() if k.endswith(":sub")), "")
    issuer = next((k.removesuffix(":sub") for k in conditions if k.endswith(":sub")), "")
    if not provider or not subject.startswith("system:serviceaccount:"):
        return {}
    account = subject.removeprefix("system:serviceaccount:").replace(":", "/", 1)
    return {"irsa": {"provider": provider, "issuer": issuer, "serviceAccount": account}}


def _irsa(irsa: JsonObject) -> JsonObject:
    issuer = str(irsa["issuer"])
    namespace, _, name = str(irsa["serviceAccount"]).partition("/")
    return {
        "Effect": "Allow",
        "Principal": {"Federated": irsa["provider"]},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                f"{issuer}:sub": f"system:serviceaccount:{namespace}:{name}",
                f"{issuer}:aud": AUDIENCE,
            }
        },
    }


def _statement(statement: JsonValue) -> JsonObject:
    normal: JsonObject = {}
    for name, value in as_map(statement).items():
        if name == "Sid":
            continue
        if name in _SETS:
            members = {str(each).lower() if name in _LOWER else str(each) for each in _many(value)}
            normal[name] = sorted(members)
        elif name in ("Principal", "NotPrincipal"):
            normal[name] = {"AWS": ["*"]} if value == "*" else _sorted_members(as_map(value))
        elif name == "Condition":
            normal[name] = {operator: _sorted_members(as_map(keys)) for operator, keys in as_map(value).items()}
        else:
            normal[name] = value
    return normal


def _sorted_members(members: JsonObject) -> JsonObject:
    return {key: sorted({_text(each) for each in _many(value)}) for key, value in members.items()}


def _text(value: JsonValue) -> str:
    """Conditions take "true" and true alike."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _many(value: JsonValue) -> list[Any]:
    if value is None:
        return []
    return as_list(value) if isinstance(value, (list, tuple)) else [value]
