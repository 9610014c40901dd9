"""Who is calling: access keys of the sandbox's accounts, of IAM users, and of assumed roles."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from reconciler.sandbox.aws.calls import Json
from reconciler.sandbox.aws.moto_bridge import Moto


@dataclass(frozen=True, kw_only=True)
class Identity:
    access_key: str
    secret: str
    account: str
    arn: str  # as GetCallerIdentity says it
    principal: str  # as access entries name it: the role, not the session
    user_id: str


class Credentials:
    def __init__(self, moto: Moto) -> None:
        self._moto = moto
        self._seeded: dict[str, Identity] = {}

    def account(self, account: str) -> Identity:
        """The administrator of an account; made on first use, always with the same keys."""
        digest = hashlib.sha256(f"instantstart-sandbox:{account}".encode()).hexdigest()
        arn = f"arn:aws:iam::{account}:user/sandbox-admin"
        identity = Identity(
            access_key=f"AKIA{digest[:16].upper()}",
            secret=digest[:40],
            account=account,
            arn=arn,
            principal=arn,
            user_id=f"AIDA{digest[16:32].upper()}",
        )
        self._seeded[identity.access_key] = identity
        return identity

    def accounts(self) -> list[str]:
        return sorted({identity.account for identity in self._seeded.values()})

    def find(self, access_key: str) -> Identity | None:
        """The identity of a key; None for a key nobody made. Takes no lock: the Kubernetes side asks too."""
        return self._seeded.get(access_key) or self._moto_identity(access_key)

    def _moto_identity(self, access_key: str) -> Identity | None:
        for account, session in self._moto.sessions(access_key):
            return _of_session(account, session)
        for account, user, secret in self._moto.user_keys(access_key):
            return Identity(
                access_key=access_key,
                secret=secret,
                account=account,
                arn=str(user.arn),
                principal=str(user.arn),
                user_id=str(user.id),
            )
        return None


def caller_identity(identity: Identity) -> Json:
    return {"UserId": identity.user_id, "Account": identity.account, "Arn": identity.arn}


def _of_session(account: str, session: Any) -> Identity:
    return Identity(
        access_key=str(session.access_key_id),
        secret=str(session.secret_access_key),
        account=account,
        arn=str(session.arn),
        principal=re.sub(r":sts:", ":iam:", str(session.role_arn)),
        user_id=str(session.user_id),
    )
