"""The two seams around every request: a record after it, a fault before it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from reconciler.sandbox.kubernetes.apiserver import Effect


@dataclass(frozen=True, kw_only=True)
class RequestRecord:
    """One request. `status`, `effects` and `seconds` are known only after it; a watch is recorded when it starts.

    `status` is what the server meant to say, also when a fault took the reply away; `fault` says which did.
    """

    cluster: str
    number: int
    verb: str  # get, list, watch, create, update, patch, delete, deletecollection
    method: str
    path: str
    query: str
    content_type: str
    user_agent: str
    user: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    dry_run: bool
    body_sha256: str  # hex; "" without a body
    status: int = 0
    effects: tuple[Effect, ...] = ()
    seconds: float = 0.0
    fault: str = ""

    @property
    def changed(self) -> bool:
        """Whether stored state is another than before."""
        return bool(self.effects)


BEFORE, MIDDLE, AFTER = "before", "middle", "after"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong: wait `delay` real seconds, answer `status` without acting, or drop the connection.

    `drop` before the effect is a request that never arrived, after it a lost reply, in the middle half a reply; `then`
    is done at that moment. `date`: what the server's clock says, if it is not the time.
    """

    delay: float = 0.0
    status: int = 0
    reason: str = "InternalError"
    message: str = "an injected failure"
    retry_after: int | None = None
    drop: str = ""  # "", BEFORE, MIDDLE, AFTER
    date: datetime | None = None
    then: Callable[[], None] | None = None


OnRequest: TypeAlias = Callable[[RequestRecord], None]
BeforeRequest: TypeAlias = Callable[[RequestRecord], Fault | None]
