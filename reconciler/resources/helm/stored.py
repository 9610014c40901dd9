"""A release as Helm stores it: a Secret per revision, the release in it as base64 of gzip of JSON. Pure.

Our marks are labels of the release: Helm keeps them through every revision, a failed one included, which it does not
do with the description.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reconciler.resources.drafts import as_map
from reconciler.resources.helm.troubles import passes
from schemas.resource import Health
from schemas.values import JsonObject, digest

LABEL_CLUSTER = "instantstart.dev/cluster"
LABEL_OP = "instantstart.dev/op"
LABEL_ADOPTED = "instantstart.dev/adopted"
LABEL_COMMIT = "instantstart.dev/chart-commit"
LABEL_CHART = "instantstart.dev/chart"
OUR_LABELS = (LABEL_CLUSTER, LABEL_OP, LABEL_ADOPTED, LABEL_COMMIT, LABEL_CHART)
_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One revision of a release."""

    name: str
    namespace: str
    revision: int
    status: str
    secret: str
    description: str = ""
    deployed: datetime | None = None
    values: JsonObject = field(default_factory=dict[str, Any])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    chart_version: str = ""
    first: str = ""

    @property
    def pending(self) -> bool:
        return self.status.startswith("pending-")


def selector(name: str) -> str:
    """The label selector of a release's revisions, those that only were leaving out."""
    return f"owner=helm,name={name},status!=superseded"


def newest(secrets: Iterable[Mapping[str, Any]]) -> Release | None:
    """The newest revision among the Secrets of one release."""
    found = sorted((read(secret) for secret in secrets), key=lambda release: release.revision)
    return found[-1] if found else None


def read(secret: Mapping[str, Any]) -> Release:
    """The release in a Secret; one that cannot be read keeps what its labels say."""
    meta = as_map(secret.get("metadata"))
    labels: dict[str, str] = as_map(meta.get("labels"))
    body = _unpacked(as_map(secret.get("data")).get("release"))
    info, chart = as_map(body.get("info")), as_map(as_map(body.get("chart")).get("metadata"))
    return Release(
        name=str(labels.get("name", body.get("name", ""))),
        namespace=str(meta.get("namespace", "")),
        revision=int(str(labels.get("version") or body.get("version") or 0)),
        status=str(labels.get("status") or info.get("status") or "unknown"),
        secret=str(meta.get("name", "")),
        description=str(info.get("description") or ""),
        deployed=_moment(info.get("last_deployed")),
        values=as_map(body.get("config")),
        labels=labels,
        chart_version=str(chart.get("version") or ""),
        first=str(info.get("first_deployed") or ""),
    )


def chart_digest(chart: Mapping[str, Any]) -> str:
    """What a label can hold of repository, path and commit."""
    return digest(dict(chart))[:40]


def health(release: Release, *, stale: bool) -> tuple[Health, bool, str, str]:
    """Health, ready, reason, message. `stale`: the process that works on it is certainly gone."""
    match release.status:
        case "deployed":
            return Health.HEALTHY, True, "", ""
        case "failed" if passes(release.description):
            return Health.PROGRESSING, False, "HelmTriesAgain", release.description
        case "failed":
            return Health.FAILED, False, "HelmFailed", release.description
        case "uninstalling":
            # Not DELETING: helm does it while it runs, and one that broke off in the middle must be sent again.
            return Health.PROGRESSING, False, "HelmUninstalling", release.description
        case status if release.pending:
            reason = "HelmInterrupted" if stale else "Helm" + status.title().replace("-", "")
            return Health.PROGRESSING, False, reason, release.description
        case status:
            return Health.UNKNOWN, False, "HelmUnknown", f"Helm calls the release {status}"


def _unpacked(data: Any) -> JsonObject:
    if not isinstance(data, str):
        return {}
    try:
        raw = base64.b64decode(base64.b64decode(data))
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        return as_map(json.loads(text)) if len(text) <= _LIMIT else {}
    except (ValueError, OSError, EOFError):
        return {}


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    text = value[:-1] + "+00:00" if value.endswith("Z") else value
    head, dot, tail = text.partition(".")
    if dot:  # Go writes nanoseconds, Python reads microseconds
        digits = tail[: next((i for i, c in enumerate(tail) if not c.isdigit()), len(tail))]
        text = f"{head}.{digits[:6]:0<6}{tail[len(digits) :]}"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
