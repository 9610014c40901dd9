"""Ways into AWS accounts: which credentials, and one session per account and region.

The credentials come from the profile (or what botocore finds by itself). With `role`, a template such as
`arn:aws:iam::{account}:role/InstantStart`, they only serve to assume that role, and botocore renews it before its
hour is over. Where the endpoints are is a matter of the environment (AWS_ENDPOINT_URL) alone.
"""

from __future__ import annotations

import copy
import functools
import threading
from typing import Any

import botocore.credentials
import botocore.session
from botocore.hooks import HierarchicalEmitter

from reconciler.live.aws.errors import translate
from reconciler.live.aws.plain import moment
from reconciler.live.aws.sessions import AwsSession, Patience
from schemas.errors import InvalidInput

ROLE_SECONDS = 3600  # the longest a chained role may last


class AwsAccounts:
    """Hands out sessions. Thread-safe; `close` releases every connection."""

    def __init__(
        self,
        *,
        profile: str | None = None,
        role: str | None = None,
        external_id: str | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._profile = profile
        self._role = role
        self._external_id = external_id
        self._patience = patience
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], AwsSession] = {}
        # Service models are most of a client's cost (20 MB), registering botocore's own handlers is most of the rest
        # (12 ms): one session does both, and every other one reads its models and begins with a copy of its handlers.
        self._hooks: Any = HierarchicalEmitter()
        first: Any = botocore.session.Session(profile=profile, event_hooks=self._hooks)
        self._loader: Any = first.get_component("data_loader")

    def session(self, account: str, region: str) -> AwsSession:
        """The session of one account in one region; it checks the account before its first call."""
        with self._lock:
            found = self._sessions.get((account, region))
            if found is None:
                new_session = functools.partial(self._botocore_session, account, region)
                found = AwsSession(account, region, new_session, self._patience)
                self._sessions[account, region] = found
            return found

    def own(self, region: str | None = None) -> tuple[str, str]:
        """The account that the credentials belong to, and the Region (or the one that the environment names). Raises
        the errors of `live.errors`, InvalidInput where no Region is named."""
        session = self._bare_session(region)
        where = region or session.get_config_variable("region")
        if not where:
            raise InvalidInput("name a Region: the environment names none", reason="NoRegion")
        try:
            client: Any = session.create_client("sts", region_name=where)
            try:
                return str(client.get_caller_identity()["Account"]), str(where)
            finally:
                client.close()
        except Exception as error:
            raise translate(error, "sts:GetCallerIdentity") from error

    def close(self) -> None:
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()

    def __enter__(self) -> AwsAccounts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _botocore_session(self, account: str, region: str) -> Any:
        """A fresh session: it reads files and environment again, so rotated keys are taken up."""
        session = self._bare_session(region)
        if self._role is None:
            return session
        extra: dict[str, Any] = {"RoleSessionName": "instantstart", "DurationSeconds": ROLE_SECONDS}
        if self._external_id is not None:
            extra["ExternalId"] = self._external_id
        fetcher: Any = botocore.credentials.AssumeRoleCredentialFetcher(
            functools.partial(session.create_client, region_name=region),
            session.get_credentials(),
            self._role.format(account=account),
            extra_args=extra,
        )
        assumed: Any = botocore.credentials.DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")
        outer = self._bare_session(region)
        outer.register_component("credential_provider", _Only(assumed))
        return outer

    def _bare_session(self, region: str | None) -> Any:
        hooks = copy.copy(self._hooks)  # what is registered with one session must not be heard in another
        session: Any = botocore.session.Session(
            profile=self._profile, event_hooks=hooks, include_builtin_handlers=False
        )
        session.register_component("data_loader", self._loader)
        session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=moment)
        if region is not None:
            session.set_config_variable("region", region)
        return session


class _Only:
    """A credential provider that knows one answer."""

    def __init__(self, credentials: Any) -> None:
        self._credentials = credentials

    def load_credentials(self) -> Any:
        return self._credentials
