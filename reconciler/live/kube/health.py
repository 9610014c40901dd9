"""How well one Kubernetes object is, judged from the object alone. Pure.

A status that was written for an older generation says nothing yet: progressing. What has no notion of health
(a ConfigMap) is healthy by being there. Reasons are CamelCase; messages are redacted and cut, since they hold text
from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from reconciler.live.redaction import presentable
from schemas.resource import Health
from schemas.values import JsonObject

STUCK_PULLS = frozenset({"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"})
CRASHES = frozenset({"CrashLoopBackOff", "RunContainerError", "CreateContainerConfigError", "CreateContainerError"})


@dataclass(frozen=True, slots=True)
class Verdict:
    health: Health
    reason: str = ""
    message: str = ""
    progress: str | None = None  # "12/16"


HEALTHY = Verdict(Health.HEALTHY)


def health_of(body: JsonObject) -> Verdict:
    """The verdict on one live object (apiVersion and kind must be in it)."""
    meta = _map(body.get("metadata"))
    if meta.get("deletionTimestamp"):
        held = ", ".join(str(f) for f in _list(meta.get("finalizers")))
        return Verdict(Health.DELETING, "Deleting", presentable(f"waits for {held}") if held else "")
    group = str(body.get("apiVersion") or "").rpartition("/")[0]
    judge = _JUDGES.get((group, str(body.get("kind") or "")), _by_conditions)
    return judge(body)


def condition(body: JsonObject, kind: str) -> Mapping[str, Any] | None:
    """The condition of that type in `status.conditions`."""
    for found in _list(_map(body.get("status")).get("conditions")):
        if _map(found).get("type") == kind:
            return _map(found)
    return None


def _deployment(body: JsonObject) -> Verdict:
    spec, status = _map(body.get("spec")), _map(body.get("status"))
    if _is_old(body):
        return _not_seen_yet()
    progressing = condition(body, "Progressing")
    if progressing is not None and progressing.get("reason") == "ProgressDeadlineExceeded":
        return _from(progressing, Health.FAILED)
    failure = condition(body, "ReplicaFailure")
    if failure is not None and failure.get("status") == "True":
        return _from(failure, Health.FAILED)
    wanted = _count(spec.get("replicas"), 1)
    updated, available = _count(status.get("updatedReplicas")), _count(status.get("availableReplicas"))
    if _count(status.get("replicas")) > updated:
        return _progress("OldReplicasLeft", updated, wanted)
    return _reached(min(updated, available), wanted, "ReplicasNotAvailable")


def _daemon_set(body: JsonObject) -> Verdict:
    status = _map(body.get("status"))
    if _is_old(body):
        return _not_seen_yet()
    wanted = _count(status.get("desiredNumberScheduled"))
    updated, available = _count(status.get("updatedNumberScheduled")), _count(status.get("numberAvailable"))
    return _reached(min(updated, available), wanted, "PodsNotAvailable")


def _stateful_set(body: JsonObject) -> Verdict:
    spec, status = _map(body.get("spec")), _map(body.get("status"))
    if _is_old(body):
        return _not_seen_yet()
    wanted, ready = _count(spec.get("replicas"), 1), _count(status.get("readyReplicas"))
    if ready < wanted:
        return _progress("ReplicasNotReady", ready, wanted)
    rolling = _map(spec.get("updateStrategy")).get("type", "RollingUpdate") == "RollingUpdate"
    partition = _count(_map(_map(spec.get("updateStrategy")).get("rollingUpdate")).get("partition"))
    if rolling and not partition and status.get("updateRevision") != status.get("currentRevision"):
        return _progress("RollingUpdate", _count(status.get("updatedReplicas")), wanted)
    return HEALTHY


def _replica_set(body: JsonObject) -> Verdict:
    if _is_old(body):
        return _not_seen_yet()
    wanted = _count(_map(body.get("spec")).get("replicas"), 1)
    return _reached(_count(_map(body.get("status")).get("availableReplicas")), wanted, "ReplicasNotAvailable")


def _pod(body: JsonObject) -> Verdict:
    status = _map(body.get("status"))
    phase = str(status.get("phase") or "")
    if phase == "Succeeded":
        return Verdict(Health.HEALTHY, "Succeeded")
    if phase == "Failed":
        return Verdict(Health.FAILED, str(status.get("reason") or "Failed"), _pod_message(status))
    containers = [
        _map(c) for c in (*_list(status.get("initContainerStatuses")), *_list(status.get("containerStatuses")))
    ]
    for container in containers:
        waiting = _map(_map(container.get("state")).get("waiting"))
        reason = str(waiting.get("reason") or "")
        if reason in STUCK_PULLS or reason in CRASHES:
            return Verdict(Health.FAILED, reason, presentable(str(waiting.get("message") or "")))
    scheduled = condition(body, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        return _from(scheduled, Health.PROGRESSING)
    ready = condition(body, "Ready")
    if phase == "Running" and ready is not None and ready.get("status") == "True":
        return HEALTHY
    if not phase or phase == "Unknown":
        return Verdict(Health.UNKNOWN, "PhaseUnknown")
    running = [c for c in containers if c.get("ready")]
    return Verdict(Health.PROGRESSING, "ContainersNotReady", progress=f"{len(running)}/{len(containers)}")


def _pod_message(status: Mapping[str, Any]) -> str:
    if status.get("message"):
        return presentable(str(status["message"]))
    for container in _list(status.get("containerStatuses")):
        ended = _map(_map(_map(container).get("state")).get("terminated"))
        if ended and ended.get("exitCode"):
            return presentable(f"{_map(container).get('name')} ended with exit code {ended['exitCode']}")
    return ""


def _job(body: JsonObject) -> Verdict:
    failed = condition(body, "Failed")
    if failed is not None and failed.get("status") == "True":
        return _from(failed, Health.FAILED)
    complete = condition(body, "Complete")
    if complete is not None and complete.get("status") == "True":
        return Verdict(Health.HEALTHY, "Complete")
    if _map(body.get("spec")).get("suspend") is True:
        return Verdict(Health.PROGRESSING, "Suspended")
    wanted = _count(_map(body.get("spec")).get("completions"), 1)
    return _progress("Running", _count(_map(body.get("status")).get("succeeded")), wanted)


def _volume_claim(body: JsonObject) -> Verdict:
    match _map(body.get("status")).get("phase"):
        case "Bound":
            return HEALTHY
        case "Lost":
            return Verdict(Health.FAILED, "Lost", "its volume is gone")
        case _:
            return Verdict(Health.PROGRESSING, "Pending")


def _volume(body: JsonObject) -> Verdict:
    status = _map(body.get("status"))
    match status.get("phase"):
        case "Bound" | "Available":
            return HEALTHY
        case "Failed":
            return Verdict(Health.FAILED, "Failed", presentable(str(status.get("message") or "")))
        case "Released":
            return Verdict(Health.PROGRESSING, "Released", "its claim is gone")
        case _:
            return Verdict(Health.PROGRESSING, "Pending")


def _namespace(body: JsonObject) -> Verdict:
    if _map(body.get("status")).get("phase") == "Terminating":
        return Verdict(Health.DELETING, "Deleting")
    return HEALTHY


def _definition(body: JsonObject) -> Verdict:
    refused = condition(body, "NamesAccepted")
    if refused is not None and refused.get("status") == "False":
        return _from(refused, Health.FAILED)
    established = condition(body, "Established")
    if established is not None and established.get("status") == "True":
        return HEALTHY
    return Verdict(Health.PROGRESSING, "NotEstablished")


def _service(body: JsonObject) -> Verdict:
    if _map(body.get("spec")).get("type") != "LoadBalancer":
        return HEALTHY
    if _list(_map(_map(body.get("status")).get("loadBalancer")).get("ingress")):
        return HEALTHY
    return Verdict(Health.PROGRESSING, "NoAddressYet")


def _node(body: JsonObject) -> Verdict:
    ready = condition(body, "Ready")
    if ready is None or ready.get("status") == "Unknown":
        return Verdict(Health.UNKNOWN, "NodeSilent") if ready is None else _from(ready, Health.UNKNOWN)
    return HEALTHY if ready.get("status") == "True" else _from(ready, Health.PROGRESSING)


def _api_service(body: JsonObject) -> Verdict:
    available = condition(body, "Available")
    if available is not None and available.get("status") == "True":
        return HEALTHY
    return _from(available, Health.PROGRESSING) if available else Verdict(Health.PROGRESSING, "NotAvailable")


def _by_conditions(body: JsonObject) -> Verdict:
    """For custom resources: the conventions of conditions, in the order of how much they say."""
    if _is_old(body):
        return _not_seen_yet()
    for kind in ("Stalled", "Failed"):
        bad = condition(body, kind)
        if bad is not None and bad.get("status") == "True":
            return _from(bad, Health.FAILED)
    busy = condition(body, "Reconciling")
    if busy is not None and busy.get("status") == "True":
        return _from(busy, Health.PROGRESSING)
    for kind in ("Ready", "Available", "Active", "Succeeded", "Complete", "Healthy"):
        good = condition(body, kind)
        if good is None:
            continue
        if good.get("status") == "True":
            return HEALTHY
        return _from(good, Health.PROGRESSING)
    if "status" in body and _list(_map(body.get("status")).get("conditions")):
        return Verdict(Health.PROGRESSING, "NotReadyYet")
    return HEALTHY


_Judge = Callable[[JsonObject], Verdict]
_JUDGES: dict[tuple[str, str], _Judge] = {
    ("apps", "Deployment"): _deployment,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "StatefulSet"): _stateful_set,
    ("apps", "ReplicaSet"): _replica_set,
    ("", "Pod"): _pod,
    ("batch", "Job"): _job,
    ("", "PersistentVolumeClaim"): _volume_claim,
    ("", "PersistentVolume"): _volume,
    ("", "Namespace"): _namespace,
    ("", "Service"): _service,
    ("", "Node"): _node,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("apiregistration.k8s.io", "APIService"): _api_service,
}


def _is_old(body: JsonObject) -> bool:
    """Whether the controller has not yet seen this generation."""
    generation = _map(body.get("metadata")).get("generation")
    seen = _map(body.get("status")).get("observedGeneration")
    if seen is None:
        # Workloads always report it; many custom resources never do.
        return str(body.get("apiVersion")).startswith("apps/")
    return isinstance(generation, int) and isinstance(seen, int) and seen < generation


def _not_seen_yet() -> Verdict:
    return Verdict(Health.PROGRESSING, "NotSeenYet", "its controller has not seen the latest change")


def _reached(have: int, wanted: int, reason: str) -> Verdict:
    return HEALTHY if have >= wanted else _progress(reason, have, wanted)


def _progress(reason: str, have: int, wanted: int) -> Verdict:
    return Verdict(Health.PROGRESSING, reason, progress=f"{have}/{wanted}")


def _from(found: Mapping[str, Any], health: Health) -> Verdict:
    reason = str(found.get("reason") or found.get("type") or "")
    return Verdict(health, reason, presentable(str(found.get("message") or "")))


def _count(value: Any, default: int = 0) -> int:
    return value if isinstance(value, int) else default


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()
