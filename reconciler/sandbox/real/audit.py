"""What clients asked a real API server, read from its audit log: one line of JSON when a request is answered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from reconciler.sandbox.kubernetes.apiserver import Effect
from reconciler.sandbox.kubernetes.records import OnRequest, RequestRecord
from reconciler.sandbox.real.processes import ADMIN, RealKubernetes

_POLL = 0.02  # real seconds
_CHANGES = {("create", 201): "created", ("patch", 201): "created", ("update", 201): "created"}


class Audit:
    """Follows the log of one server until it is closed; the cluster's own controllers are left out.

    The log knows no content, so of what was there already only deletes count as effects: whether a patch changed
    something it cannot tell.
    """

    def __init__(self, real: RealKubernetes, cluster: str, on_request: OnRequest) -> None:
        self._path, self._cluster, self._on_request = real.audit_log, cluster, on_request
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"audit {cluster}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        self._thread.join(5)

    def _follow(self) -> None:
        rest = b""
        with self._path.open("rb") as log:
            while True:
                last = self._stopping.is_set()
                *whole, rest = (rest + log.read()).split(b"\n")
                for record in self._records(whole):
                    self._on_request(record)
                if last:
                    return
                self._stopping.wait(_POLL)

    def _records(self, lines: list[bytes]) -> Iterator[RequestRecord]:
        for line in lines:
            event: Any = json.loads(line)
            user: str = event["user"].get("username") or ""
            if user == ADMIN.name or user.startswith("system:"):
                continue
            yield record_of(event, self._cluster)


def record_of(event: dict[str, Any], cluster: str) -> RequestRecord:
    about: dict[str, str] = event.get("objectRef") or {}
    uri = urlsplit(str(event["requestURI"]))
    answer: dict[str, Any] = event.get("responseStatus") or {}
    code = int(answer.get("code") or 0)
    dry = "dryRun=All" in uri.query
    return RequestRecord(
        cluster=cluster,
        number=0,
        verb=event["verb"],
        method="",
        path=uri.path,
        query=uri.query,
        content_type="",
        user_agent=event.get("userAgent") or "",
        user=event["user"].get("username") or "",
        group=about.get("apiGroup") or "",
        resource=about.get("resource") or "",
        subresource=about.get("subresource") or "",
        namespace=about.get("namespace") or "",
        name=about.get("name") or "",
        dry_run=dry,
        body_sha256="",
        status=code,
        effects=() if dry else _effects(event["verb"], code, about),
    )


def _effects(verb: str, code: int, about: dict[str, str]) -> tuple[Effect, ...]:
    if about.get("subresource") or about.get("resource") in ("tokenreviews", "selfsubjectaccessreviews"):
        return ()
    change = "deleted" if verb == "delete" and code in (200, 202) else _CHANGES.get((verb, code), "")
    if not change:
        return ()
    return (
        Effect(
            change=change,
            group=about.get("apiGroup") or "",
            resource=about.get("resource") or "",
            namespace=about.get("namespace") or "",
            name=about.get("name") or "",
            uid="",
            resource_version="",
        ),
    )
