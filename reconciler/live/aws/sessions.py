"""Calls to one account in one region: `read` and `pages` may retry, `mutate` sends once.

Before the first call with any set of credentials the account is asked for its id; if it is not the one that the
document names, nothing is sent at all (design rule 5). A new set of credentials is checked anew.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from botocore.config import Config
from botocore.signers import RequestSigner

from reconciler.live.aws import operations, wholeness
from reconciler.live.aws.errors import SentTwice, not_sent, translate
from reconciler.live.aws.plain import plain, plain_answer
from reconciler.live.errors import CallRefused, CallRejected
from schemas.errors import InstantStartError
from schemas.values import JsonObject

READ_ATTEMPTS = 4
POOL_SIZE = 32
PAGE_BUDGET = 2_000  # pages in one listing; an endless one is an error, never a short list
PAGE_SIZE = 1_000
UNSIZED = frozenset({"ec2"})  # refuses a page size together with ids, and its own is large

_OP = re.compile(r"[A-Za-z0-9\-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Real seconds to wait for a connection, for the answer to a read, for the answer to a change; how often a read
    is tried before it has failed."""

    connect: float = 5
    read: float = 20
    mutate: float = 60
    attempts: int = READ_ATTEMPTS


@dataclass
class _Sending:
    """The changing call that this thread is about to send."""

    op: str
    times: int = 0


_sending: ContextVar[_Sending | None] = ContextVar("sending", default=None)


class AwsSession:
    """One account and region. Thread-safe. Errors are those of `reconciler.live.errors`."""

    def __init__(
        self, account: str, region: str, new_session: Callable[[], Any], patience: Patience | None = None
    ) -> None:
        """`new_session` makes a botocore session with this account's credentials."""
        self.account = account
        self.region = region
        self._new_session = new_session
        self._patience = patience or Patience()
        self._lock = threading.RLock()
        self._session: Any = None
        self._clients: dict[tuple[str, bool], Any] = {}
        self._retired: list[Any] = []
        self._verified: set[str] = set()

    def read(self, service: str, operation: str, /, **params: Any) -> JsonObject:
        """One reading call ("eks", "DescribeCluster"), as plain JSON. Up to four attempts."""
        operations.require_reading(service, operation)
        with self._calling(service, operation):
            return plain_answer(self._method(service, operation, mutating=False)(**params))

    def pages(self, service: str, operation: str, result_key: str, /, **params: Any) -> list[JsonObject]:
        """All items under `result_key`, from all pages, or an error: never a part.

        Pages are asked for at the size the service allows. Empty pages with a token are followed.
        """
        operations.require_reading(service, operation)
        found: list[JsonObject] = []
        with self._calling(service, operation):
            for number, page in enumerate(self._answers(service, operation, params)):
                if number >= PAGE_BUDGET:
                    raise CallRefused(
                        f"{service}:{operation} did not end after {PAGE_BUDGET} pages", reason="PagingBudget"
                    ).told(code="", operation=f"{service}:{operation}")
                found.extend(plain(item) for item in page.get(result_key) or ())
        return found

    def mutate(self, service: str, operation: str, /, *, op: str, **params: Any) -> JsonObject:
        """One changing call, sent at most once. `op` is the journal's id of it and rides in the user agent."""
        operations.require_mutating(service, operation)
        if not _OP.fullmatch(op):
            raise CallRejected(f"{op!r} is no op id", reason="CallNotAllowed")
        sending = _Sending(op)
        with self._calling(service, operation, sending):
            method = self._method(service, operation, mutating=True)
            before = _sending.set(sending)
            try:
                return plain_answer(method(**params))
            finally:
                _sending.reset(before)

    def object_bytes(self, bucket: str, key: str, *, limit: int = 16 * 1024 * 1024) -> bytes:
        """The bytes of one S3 object; more than `limit` is rejected."""
        with self._calling("s3", "GetObject"):
            answer = self._method("s3", "GetObject", mutating=False)(Bucket=bucket, Key=key)
            with answer["Body"] as body:
                content: bytes = body.read(limit + 1)
        if len(content) > limit:
            raise CallRejected(f"s3://{bucket}/{key} is larger than {limit} bytes", reason="TooLarge").told(
                code="", operation="s3:GetObject"
            )
        return content

    def has_operation(self, service: str, operation: str) -> bool:
        """Whether the installed botocore knows the call; an old one may not."""
        with self._lock:
            model: Any = self._live_session().get_service_model(service)
            return operation in model.operation_names

    def presign_identity(self, headers: dict[str, str], *, expires: int) -> str:
        """A GET URL of sts:GetCallerIdentity with these headers signed in: what EKS tokens are made of."""
        with self._calling("sts", "GetCallerIdentity"):
            client = self._client("sts", mutating=False)
            signer: Any = RequestSigner(
                client.meta.service_model.service_id,
                self.region,
                "sts",
                "v4",
                self._live_session().get_credentials(),
                client.meta.events,
            )
            endpoint = str(client.meta.endpoint_url).rstrip("/")
            request = {
                "method": "GET",
                "url": f"{endpoint}/?Action=GetCallerIdentity&Version=2011-06-15",
                "body": {},
                "headers": headers,
                "context": {},
            }
            return str(
                signer.generate_presigned_url(request, "GetCallerIdentity", expires_in=expires, region_name=self.region)
            )

    def close(self) -> None:
        with self._lock:
            for client in (*self._clients.values(), *self._retired):
                client.close()
            self._clients.clear()
            self._retired.clear()
            self._session = None

    @contextmanager
    def _calling(self, service: str, operation: str, sending: _Sending | None = None) -> Generator[None]:
        """The account is the right one, and what goes wrong inside comes out in our words.

        With `sending`, an error before the call left is no lost reply: the identity check and the renewal of
        credentials may fail in any way, and still nothing happened.
        """
        name = f"{service}:{operation}"
        try:
            self._check_account()
            yield
        except InstantStartError:
            raise
        except Exception as error:
            told = translate(error, name)
            if sending is not None and sending.times == 0:
                told = not_sent(told)
            if told.reason == "ExpiredToken":
                self._forget_credentials()
            raise told from error

    def _check_account(self) -> None:
        credentials: Any = self._live_session().get_credentials()
        # Without credentials botocore says so by itself when it comes to sign.
        key = "" if credentials is None else str(credentials.get_frozen_credentials().access_key)
        if key in self._verified:
            return
        seen = str(self._client("sts", mutating=False).get_caller_identity()["Account"])
        if seen != self.account:
            raise CallRejected(
                f"the credentials belong to account {seen}, the document says {self.account}: nothing is sent",
                reason="WrongAccount",
            ).told(code="", operation="sts:GetCallerIdentity")
        self._verified.add(key)

    def _forget_credentials(self) -> None:
        """The next call takes credentials anew. Connections in use by other threads stay until `close`."""
        with self._lock:
            self._retired = [*self._retired[-8:], *self._clients.values()]
            self._clients.clear()
            self._session = None
            self._verified.clear()

    def _live_session(self) -> Any:
        with self._lock:
            if self._session is None:
                self._session = self._new_session()
            return self._session

    def _answers(self, service: str, operation: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The pages of a listing; a call that does not page is one page."""
        method = self._method(service, operation, mutating=False)
        client = self._client(service, mutating=False)
        if not client.can_paginate(method.__name__):
            yield method(**params)
            return
        size = {} if service in UNSIZED else self._largest_page(client, service, operation, params)
        yield from client.get_paginator(method.__name__).paginate(**params, PaginationConfig=size)

    def _largest_page(self, client: Any, service: str, operation: str, params: dict[str, Any]) -> dict[str, int]:
        """What the service's own model allows: fewer calls for the same list."""
        with self._lock:
            paging: dict[str, Any] = self._live_session().get_paginator_model(service).get_paginator(operation)
        limit_key = paging.get("limit_key")
        if not limit_key or limit_key in params:
            return {}
        shape = client.meta.service_model.operation_model(operation).input_shape.members[limit_key]
        largest = shape.metadata.get("max")
        return {"PageSize": min(int(largest), PAGE_SIZE)} if largest else {}

    def _method(self, service: str, operation: str, *, mutating: bool) -> Callable[..., Any]:
        client = self._client(service, mutating=mutating)
        names: dict[str, str] = client.meta.method_to_api_mapping
        for method, api_name in names.items():
            if api_name == operation:
                found: Callable[..., Any] = getattr(client, method)
                return found
        raise CallRejected(
            f"{service}:{operation} is unknown to the installed botocore: update it", reason="OperationUnknown"
        ).told(code="", operation=f"{service}:{operation}")

    def _client(self, service: str, *, mutating: bool) -> Any:
        # Making clients is not thread-safe in botocore, using them is.
        with self._lock:
            client = self._clients.get((service, mutating))
            if client is None:
                config = call_config(self._patience, mutating=mutating)
                client = self._live_session().create_client(service, region_name=self.region, config=config)
                client.meta.events.register(wholeness.BEFORE_PARSING, wholeness.check)
                if mutating:
                    client.meta.events.register("before-send", _leave_once)
                self._clients[service, mutating] = client
            return client


def call_config(patience: Patience, *, mutating: bool) -> Any:
    """How a client behaves: the one difference that matters is how often it may send."""
    return Config(
        retries={"mode": "standard", "total_max_attempts": 1 if mutating else patience.attempts},
        connect_timeout=patience.connect,
        read_timeout=patience.mutate if mutating else patience.read,
        max_pool_connections=POOL_SIZE,
        user_agent_extra="instantstart",
    )


def _leave_once(request: Any, **_: Any) -> None:
    """Puts the op id into the user agent, which joins our journal with the other side's request log.

    Redirects and other machinery inside botocore must not send a changing call again: the second time is refused.
    """
    sending = _sending.get()
    if sending is None:
        raise SentTwice("a changing client was used outside mutate")
    sending.times += 1
    if sending.times > 1:
        raise SentTwice("the call left once already")
    agent = request.headers.get("User-Agent", "")
    agent = agent.decode("ascii") if isinstance(agent, bytes) else agent
    request.headers["User-Agent"] = f"{agent} instantstart-op/{sending.op}"
