"""The bearer token of an EKS cluster: a presigned GetCallerIdentity, checked as the real authenticator checks it.

Real time rules here: a token is a signature, and signatures do not run on the simulated clock.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

from reconciler.sandbox.aws import signatures
from reconciler.sandbox.aws.calls import Json
from reconciler.sandbox.aws.credentials import Credentials, Identity
from reconciler.sandbox.aws.eks.records import AccessEntry, EksCluster
from reconciler.sandbox.aws.kubernetes_seam import Authenticate, User

_PREFIX = "k8s-aws-v1."
_LIFE = timedelta(minutes=15)
_LONGEST_EXPIRES = 900
_POLICIES = {
    "AmazonEKSClusterAdminPolicy": "cluster-admin",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSViewPolicy": "view",
}


def of(cluster: EksCluster, credentials: Credentials) -> Authenticate:
    """The authenticator of one cluster. It takes no lock: it reads, and the Kubernetes server calls it."""

    def authenticate(token: str) -> User | None:
        identity = caller(token, cluster.name, credentials, datetime.now(UTC))
        entry = cluster.entries.get(identity.principal) if identity else None
        return _user(identity, entry) if identity and entry else None

    return authenticate


def caller(token: str, cluster: str, credentials: Credentials, now: datetime) -> Identity | None:
    """Whose token it is; None if it is malformed, foreign, expired, unsigned or of an unknown key."""
    if not token.startswith(_PREFIX):
        return None
    encoded = token[len(_PREFIX) :]
    try:
        url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    parts = urlsplit(url)
    fields = dict(parse_qsl(parts.query))
    if parts.scheme not in ("https", "http") or fields.get("Action") != "GetCallerIdentity":
        return None
    headers = {"host": parts.netloc, "x-k8s-aws-id": cluster}
    signed = signatures.read(parts.query, headers)
    if signed is None or signed.service != "sts" or not signed.presigned:
        return None
    if "x-k8s-aws-id" not in signed.signed_headers or "host" not in signed.signed_headers:
        return None
    if signed.expires is None or not 0 < signed.expires <= _LONGEST_EXPIRES:
        return None
    identity, at = credentials.find(signed.access_key), _signed_at(signed.at)
    if identity is None or at is None or not at - timedelta(minutes=5) <= now <= at + _LIFE:
        return None
    # A token lives 15 minutes from its date, whatever shorter time the URL names: so the URL is judged at its date.
    wrong = signatures.problem(
        signed,
        identity.secret,
        method="GET",
        path=parts.path or "/",
        query=parts.query,
        headers=headers,
        body=b"",
        now=at,
    )
    return None if wrong else identity


def _signed_at(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _user(identity: Identity, entry: AccessEntry) -> User:
    session = identity.arn.rpartition("/")[2]
    groups = {*entry.groups, "system:authenticated"}
    for policy, bound in list(entry.policies.items()):
        groups |= _groups(policy.rpartition("/")[2], bound["accessScope"])
    return User(name=entry.username.replace("{{SessionName}}", session), groups=tuple(sorted(groups)))


def _groups(policy: str, scope: Json) -> set[str]:
    """The groups that carry a policy to the Kubernetes side; within namespaces the group names them."""
    short = _POLICIES[policy]
    if scope["type"] == "namespace":
        return {f"eks:{short}:{namespace}" for namespace in scope["namespaces"]}
    return {"system:masters"} if short == "cluster-admin" else {f"eks:{short}"}
