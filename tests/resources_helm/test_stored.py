"""Releases as Helm stores them, and what its complaints mean."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler.resources.helm.cli import Access
from reconciler.resources.helm.stored import Release, chart_digest, health, newest, read
from reconciler.resources.helm.troubles import verdict
from schemas.errors import LostReply, Refused, StopUntilChange
from schemas.resource import Health


def secret(revision: int, status: str, **body: Any) -> dict[str, Any]:
    text = json.dumps({"name": "dependencies", "config": None, **body}).encode()
    packed = base64.b64encode(base64.b64encode(gzip.compress(text))).decode()
    return {
        "metadata": {
            "name": f"sh.helm.release.v1.dependencies.v{revision}",
            "namespace": "kube-system",
            "labels": {"name": "dependencies", "owner": "helm", "status": status, "version": str(revision)},
        },
        "data": {"release": packed},
    }


def test_the_newest_revision_counts() -> None:
    found = newest([secret(9, "deployed"), secret(10, "failed"), secret(2, "deployed")])
    assert found is not None and (found.revision, found.status) == (10, "failed"), "by number, not by text"
    assert newest([]) is None


@pytest.mark.parametrize(
    ("why", "text", "expected"),
    [
        ("Go's nanoseconds", "2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)),
        ("a short fraction", "2026-01-02T03:04:05.5Z", datetime(2026, 1, 2, 3, 4, 5, 500000, UTC)),
        ("none at all", "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, 0, UTC)),
        ("no zone", "2026-01-02T03:04:05", None),
        ("no moment", "soon", None),
        ("nothing", None, None),
    ],
)
def test_moments(why: str, text: str | None, expected: datetime | None) -> None:
    assert read(secret(1, "deployed", info={"last_deployed": text})).deployed == expected, why


def test_what_cannot_be_unpacked_keeps_what_its_labels_say() -> None:
    broken = {**secret(3, "pending-upgrade"), "data": {"release": "bm90IGEgcmVsZWFzZQ=="}}
    found = read(broken)
    assert (found.revision, found.status, found.values, found.deployed) == (3, "pending-upgrade", {}, None)


def test_values_and_chart() -> None:
    found = read(secret(1, "deployed", config={"a": 1}, chart={"metadata": {"version": "0.1.0"}}))
    assert found.values == {"a": 1} and found.chart_version == "0.1.0"
    assert read(secret(1, "deployed")).values == {}
    assert len(chart_digest({"repository": "r", "path": "p", "commit": "c"})) <= 63, "it fits a label"


@pytest.mark.parametrize(
    ("status", "stale", "expected"),
    [
        ("deployed", True, (Health.HEALTHY, True, "")),
        ("failed", False, (Health.FAILED, False, "HelmFailed")),
        ("pending-install", False, (Health.PROGRESSING, False, "HelmPendingInstall")),
        ("pending-upgrade", True, (Health.PROGRESSING, False, "HelmInterrupted")),
        ("uninstalling", False, (Health.PROGRESSING, False, "HelmUninstalling")),
        ("something-new", False, (Health.UNKNOWN, False, "HelmUnknown")),
    ],
)
def test_states(status: str, stale: bool, expected: tuple[Health, bool, str]) -> None:
    found = Release(name="d", namespace="n", revision=1, status=status, secret="s", description="why")
    assert health(found, stale=stale)[:3] == expected


@pytest.mark.parametrize(
    ("stderr", "kind", "reason"),
    [
        ("Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress", Refused, "Conflict"),
        ("Error: Kubernetes cluster unreachable: Get https://x: dial tcp", Refused, "NotConnected"),
        ("Error: query: failed to query with labels: Unauthorized", Refused, "ExpiredToken"),
        ("Error: INSTALLATION FAILED: context deadline exceeded", LostReply, "HelmLost"),
        ('Error: UPGRADE FAILED: Patch "https://x/apis": EOF', LostReply, "HelmLost"),
        (
            "Error: UPGRADE FAILED: conflict occurred while applying object: the object has been modified; please apply"
            " your changes to the latest version",
            Refused,
            "Conflict",
        ),
        ("Error: secrets is forbidden: User x cannot list", StopUntilChange, "AccessDenied"),
        (
            'level=DEBUG msg="starting delete resource" name=timeout kind=DaemonSet\n'
            'level=DEBUG msg="uninstall: Failed to delete release" error=[Unauthorized]\n'
            "Error: failed to delete release: d",
            Refused,
            "ExpiredToken",
        ),
        (
            'level=DEBUG msg="uninstall: Failed to delete release" error="[Delete \\"https://x\\": EOF]"\n'
            "Error: failed to delete release: d",
            LostReply,
            "HelmLost",
        ),
        (
            'level=DEBUG msg="starting delete resource" name=eof kind=DaemonSet\n'
            'level=DEBUG msg="uninstall: Failed to delete release" error="[x is forbidden: no]"\n'
            "Error: failed to delete release: d",
            StopUntilChange,
            "AccessDenied",
        ),
        ("WARNING: x\nError: INSTALLATION FAILED: parse error at (a.yaml:3)", StopUntilChange, "HelmFailed"),
    ],
)
def test_what_helm_complains_about(stderr: str, kind: type[Exception], reason: str) -> None:
    error = verdict("upgrade", stderr)
    assert isinstance(error, kind) and error.reason == reason
    assert "WARNING" not in error.message and "DEBUG" not in error.message


def test_a_token_is_not_shown() -> None:
    assert "hush" not in repr(Access(endpoint="https://x", ca="c", token="hush"))


def test_a_revision_that_failed_for_something_that_passes_is_tried_again() -> None:
    """It stays `failed` until helm runs again, and the engine is the one that runs it."""
    found = Release(name="d", namespace="n", revision=1, status="failed", secret="s", description="x failed: EOF")
    assert health(found, stale=False)[:3] == (Health.PROGRESSING, False, "HelmTriesAgain")
