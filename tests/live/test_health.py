"""Health of one object: a table with a reason per row."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.live.kube.health import health_of


def _obj(kind: str, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any) -> Any:
    api = {
        "Deployment": "apps/v1",
        "DaemonSet": "apps/v1",
        "StatefulSet": "apps/v1",
        "Job": "batch/v1",
        "CustomResourceDefinition": "apiextensions.k8s.io/v1",
        "Workspace": "workspace.jupyter.org/v1",
    }.get(kind, "v1")
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "x", "generation": 2, **meta},
        "spec": spec or {},
        **({} if status is None else {"status": status}),
    }


def _is(kind: str, status: str, reason: str = "Because", message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, "reason": reason, "message": message}]}


def _revisions(current: str, update: str) -> dict[str, Any]:
    return {"readyReplicas": 1, "currentRevision": current, "updateRevision": update}


SEEN = {"observedGeneration": 2}
CASES: list[tuple[str, Any, str, str]] = [
    ("no status at all", _obj("Deployment"), "progressing", "NotSeenYet"),
    (
        "status of an older generation",
        _obj("Deployment", status={"observedGeneration": 1}),
        "progressing",
        "NotSeenYet",
    ),
    (
        "all up",
        _obj("Deployment", {"replicas": 2}, {**SEEN, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}),
        "healthy",
        "",
    ),
    (
        "one of two",
        _obj("Deployment", {"replicas": 2}, {**SEEN, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 1}),
        "progressing",
        "ReplicasNotAvailable",
    ),
    (
        "an old pod is still there",
        _obj("Deployment", {"replicas": 1}, {**SEEN, "replicas": 2, "updatedReplicas": 1, "availableReplicas": 2}),
        "progressing",
        "OldReplicasLeft",
    ),
    (
        "deadline",
        _obj("Deployment", status={**SEEN, **_is("Progressing", "False", "ProgressDeadlineExceeded")}),
        "failed",
        "ProgressDeadlineExceeded",
    ),
    ("scaled to nothing", _obj("Deployment", {"replicas": 0}, SEEN), "healthy", ""),
    ("no node wants it", _obj("DaemonSet", status={**SEEN, "desiredNumberScheduled": 0}), "healthy", ""),
    (
        "one node misses it",
        _obj(
            "DaemonSet", status={**SEEN, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberAvailable": 1}
        ),
        "progressing",
        "PodsNotAvailable",
    ),
    (
        "two revisions",
        _obj("StatefulSet", {"replicas": 1}, {**SEEN, **_revisions("a", "b")}),
        "progressing",
        "RollingUpdate",
    ),
    (
        "one revision",
        _obj("StatefulSet", {"replicas": 1}, {**SEEN, **_revisions("a", "a")}),
        "healthy",
        "",
    ),
    ("running and ready", _obj("Pod", status={"phase": "Running", **_is("Ready", "True")}), "healthy", ""),
    (
        "running, not ready",
        _obj("Pod", status={"phase": "Running", **_is("Ready", "False")}),
        "progressing",
        "ContainersNotReady",
    ),
    (
        "no node for it",
        _obj("Pod", status={"phase": "Pending", **_is("PodScheduled", "False", "Unschedulable", "0/3 nodes")}),
        "progressing",
        "Unschedulable",
    ),
    (
        "image cannot be pulled",
        _obj(
            "Pod",
            status={
                "phase": "Pending",
                "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
            },
        ),
        "failed",
        "ImagePullBackOff",
    ),
    ("evicted", _obj("Pod", status={"phase": "Failed", "reason": "Evicted"}), "failed", "Evicted"),
    ("done", _obj("Pod", status={"phase": "Succeeded"}), "healthy", "Succeeded"),
    ("node lost", _obj("Pod", status={"phase": "Unknown"}), "unknown", "PhaseUnknown"),
    ("complete", _obj("Job", status=_is("Complete", "True")), "healthy", "Complete"),
    ("gave up", _obj("Job", status=_is("Failed", "True", "BackoffLimitExceeded")), "failed", "BackoffLimitExceeded"),
    ("suspended by Kueue", _obj("Job", {"suspend": True}, {}), "progressing", "Suspended"),
    ("running", _obj("Job", {"completions": 3}, {"succeeded": 1}), "progressing", "Running"),
    ("bound", _obj("PersistentVolumeClaim", status={"phase": "Bound"}), "healthy", ""),
    ("lost", _obj("PersistentVolumeClaim", status={"phase": "Lost"}), "failed", "Lost"),
    ("waits", _obj("PersistentVolumeClaim", status={"phase": "Pending"}), "progressing", "Pending"),
    ("free", _obj("PersistentVolume", status={"phase": "Available"}), "healthy", ""),
    ("ends", _obj("Namespace", status={"phase": "Terminating"}), "deleting", "Deleting"),
    ("lives", _obj("Namespace", status={"phase": "Active"}), "healthy", ""),
    ("new", _obj("CustomResourceDefinition", status={}), "progressing", "NotEstablished"),
    ("served", _obj("CustomResourceDefinition", status=_is("Established", "True")), "healthy", ""),
    ("name taken", _obj("CustomResourceDefinition", status=_is("NamesAccepted", "False", "Taken")), "failed", "Taken"),
    ("no address", _obj("Service", {"type": "LoadBalancer"}, {}), "progressing", "NoAddressYet"),
    ("inside only", _obj("Service", {"type": "ClusterIP"}, {}), "healthy", ""),
    ("there is nothing to wait for", _obj("ConfigMap"), "healthy", ""),
    ("ready", _obj("Workspace", status=_is("Ready", "True")), "healthy", ""),
    ("not ready", _obj("Workspace", status=_is("Ready", "False", "Pulling")), "progressing", "Pulling"),
    ("stalled", _obj("Workspace", status=_is("Stalled", "True", "BadSpec")), "failed", "BadSpec"),
    (
        "old status",
        _obj("Workspace", status={"observedGeneration": 1, **_is("Ready", "True")}),
        "progressing",
        "NotSeenYet",
    ),
    (
        "goes away",
        _obj("ConfigMap", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"]),
        "deleting",
        "Deleting",
    ),
]


@pytest.mark.parametrize(("why", "body", "health", "reason"), CASES, ids=[f"{c[1]['kind']}: {c[0]}" for c in CASES])
def test_health(why: str, body: Any, health: str, reason: str) -> None:
    verdict = health_of(body)
    assert (verdict.health.value, verdict.reason) == (health, reason), why


def test_text_from_outside_is_cut_and_redacted() -> None:
    """D05: a webhook's message may hold a token."""
    noise = "Bearer " + "a" * 40 + " " + "x" * 900
    verdict = health_of(_obj("Workspace", status=_is("Ready", "False", "Odd", noise)))
    assert "aaaa" not in verdict.message and len(verdict.message) <= 500
