"""How healthy a HyperPod cluster or an instance group is. Pure: from one DescribeCluster, its nodes and events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from reconciler.resources.hyperpod.write_form import member, sorted_taints
from schemas.resource import Health
from schemas.values import canonical

DEEP_CHECK = "DeepHealthCheckInProgress"
SCRIPT_FAILURES = 3  # every further try is billed
SCRIPT_WINDOW = timedelta(hours=1)

_SCRIPT = re.compile(r"life\s?cycle|\blcs\b", re.IGNORECASE)
_FAILING = re.compile(r"fail|error|non-?zero|timed? ?out", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What a look says of one thing, in the words of `Observed`."""

    health: Health
    ready: bool = False
    reason: str = ""
    message: str = ""
    progress: str | None = None


def cluster_health(live: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Condition:
    """`live` is a DescribeCluster answer. FailureMessage is passed on word for word."""
    status = str(live.get("ClusterStatus", ""))
    said = str(live.get("FailureMessage") or "")
    match status:
        case "InService":
            return _in_service(live, nodes, said)
        case "Updating" | "SystemUpdating":
            return Condition(health=Health.PROGRESSING, ready=True, reason=status, message=said)
        case "Creating" | "RollingBack":
            return Condition(health=Health.PROGRESSING, reason=status, message=said)
        case "Deleting":
            return Condition(health=Health.DELETING, reason=status, message=said)
        case "Failed":
            return Condition(health=Health.FAILED, reason="ClusterFailed", message=said)
        case _:
            return Condition(health=Health.UNKNOWN, reason="StatusUnknown", message=f"unknown ClusterStatus {status!r}")


def group_health(
    group: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]], *, counted: bool
) -> Condition:
    """`nodes` and `events` (newest first) are those of the group; `counted`: its count is ours, no autoscaler's."""
    status = str(group.get("Status", ""))
    wanted = int(group.get("TargetCount", 0)) > 0
    if wanted and short(group) and status != "Deleting" and _script_failures(events) >= SCRIPT_FAILURES:
        return _script_failed(group, events)
    match status:
        case "Failed" | "Degraded":
            said = _newest(events) or f"instance group is {status}"
            return Condition(health=Health.FAILED, reason=f"Group{status}", message=said, progress=_progress(group))
        case "Deleting":
            return Condition(health=Health.DELETING, reason=status)
        case "InService" | "Creating" | "Updating" | "SystemUpdating":
            pass
        case _:
            return Condition(health=Health.UNKNOWN, reason="StatusUnknown", message=f"unknown group status {status!r}")
    if status == "InService" and not counted:
        return Condition(health=Health.HEALTHY, ready=True)
    return _counts(group, status, nodes, events)


def short(group: Mapping[str, Any]) -> bool:
    """Instances are missing: only then are its events worth a call."""
    return int(group.get("CurrentCount", 0)) < int(group.get("TargetCount", 0)) or group.get("Status") in (
        "Failed",
        "Degraded",
    )


def _in_service(live: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], said: str) -> Condition:
    if said and live.get("NodeProvisioningMode") != "Continuous":
        # Classic clusters come back to InService after a roll-back: what was asked did not happen.
        return Condition(health=Health.FAILED, ready=True, reason="RolledBack", message=said)
    checked = sum(1 for node in nodes if _status(node) == DEEP_CHECK)
    if checked:
        waiting = f"updates wait: {checked} nodes in deep health check"
        return Condition(health=Health.HEALTHY, ready=True, reason="DeepHealthCheck", message=waiting)
    return Condition(health=Health.HEALTHY, ready=True, message=said)


def _counts(
    group: Mapping[str, Any], status: str, nodes: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]
) -> Condition:
    current, target = int(group.get("CurrentCount", 0)), int(group.get("TargetCount", 0))
    minimum = int(group.get("MinCount") or 0)
    progress = _progress(group)
    checked = sum(1 for node in nodes if _status(node) == DEEP_CHECK)
    if checked:
        # They stay tainted for up to two hours; nothing on them can run until then, and nothing is wrong.
        said = f"{checked} nodes in deep health check"
        return Condition(health=Health.PROGRESSING, reason="DeepHealthCheck", message=said, progress=progress)
    if status == "InService" and 0 < minimum <= current < target:
        said = f"the minimum of {minimum} is there. {_newest(events)}".strip()
        return Condition(health=Health.HEALTHY, ready=True, reason="MinimumReached", message=said, progress=progress)
    if current < target:
        failed = [node for node in nodes if _status(node) == "Failure"]
        said = _newest(events) or next((_message(node) for node in failed if _message(node)), "")
        if status != "InService" and not said:
            return Condition(health=Health.PROGRESSING, reason=f"Group{status}", progress=progress)
        scarce = len(nodes) < target or "capacity" in said.lower()
        reason = "CapacityPending" if scarce else "NodesStarting"
        return Condition(health=Health.PROGRESSING, reason=reason, message=said, progress=progress)
    if current > target:
        return Condition(health=Health.PROGRESSING, ready=True, reason="ScalingDown", progress=progress)
    if status != "InService":
        return Condition(health=Health.PROGRESSING, reason=f"Group{status}", progress=progress)
    if not _labels_arrived(group):
        return Condition(health=Health.PROGRESSING, ready=True, reason="LabelsPending", progress=progress)
    return Condition(health=Health.HEALTHY, ready=True, progress=progress)


def _script_failed(group: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Condition:
    said = f"{_newest(events)} (every further try is billed: fix the script or set count: 0)"
    return Condition(health=Health.FAILED, reason="LifecycleScriptFailed", message=said, progress=_progress(group))


def _labels_arrived(group: Mapping[str, Any]) -> bool:
    config: Mapping[str, Any] = member(group, "KubernetesConfig")
    if not group.get("CurrentCount"):
        return True  # no node to carry them
    labels = canonical(config.get("CurrentLabels") or {}) == canonical(config.get("DesiredLabels") or {})
    return labels and _taints(config.get("CurrentTaints")) == _taints(config.get("DesiredTaints"))


def _taints(taints: Sequence[Mapping[str, Any]] | None) -> str:
    plain = ({"key": t.get("Key"), "value": t.get("Value") or "", "effect": t.get("Effect")} for t in taints or ())
    return canonical(sorted_taints(plain))


def _script_failures(events: Sequence[Mapping[str, Any]]) -> int:
    """Failures of lifecycle scripts in the newest hour of events. Times are compared with each other only: their
    clock is not ours."""
    times = [_time(event) for event in events]
    newest = max((time for time in times if time is not None), default=None)
    return sum(
        1
        for event, time in zip(events, times, strict=True)
        if _SCRIPT.search(str(event.get("Description", "")))
        and (event.get("EventLevel") == "Error" or _FAILING.search(str(event.get("Description", ""))))
        and (newest is None or time is None or newest - time <= SCRIPT_WINDOW)
    )


def _time(event: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(event.get("EventTime", "")).replace("Z", "+00:00"))
    except ValueError:
        return None


def _newest(events: Sequence[Mapping[str, Any]]) -> str:
    """The newest event's text, one that is a warning or an error before others."""
    loud = [event for event in events if event.get("EventLevel") in ("Warn", "Error")]
    return str((loud or [*events, {}])[0].get("Description") or "")


def _progress(group: Mapping[str, Any]) -> str:
    return f"{group.get('CurrentCount', 0)}/{group.get('TargetCount', 0)}"


def _status(node: Mapping[str, Any]) -> str:
    return str(member(node, "InstanceStatus").get("Status", ""))


def _message(node: Mapping[str, Any]) -> str:
    return str(member(node, "InstanceStatus").get("Message") or "")
