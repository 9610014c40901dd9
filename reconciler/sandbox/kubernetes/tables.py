"""The columns that `kubectl get` prints: meta.k8s.io/v1 Table."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, dig, is_list, is_map, items, mapping

Cell: TypeAlias = Callable[[Object, float], Any]
Column: TypeAlias = tuple[str, int, Cell]  # name, priority (0 = always shown), cell


def table(kind: Kind, crd: Object | None, objects: list[Object], metadata: Object, now: float) -> Object:
    """Rows for `objects`; `now` in epoch seconds, for ages."""
    columns = _columns(kind, crd)
    definitions: list[Object] = [
        {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0},
        *(
            {"name": name, "type": "string", "format": "", "description": "", "priority": rank}
            for name, rank, _ in columns
        ),
    ]
    rows = [
        {
            "cells": [obj["metadata"]["name"], *(cell(obj, now) for _, _, cell in columns)],
            "object": partial(obj),
        }
        for obj in objects
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    }


def partial(obj: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _columns(kind: Kind, crd: Object | None) -> list[Column]:
    if crd is None:
        return _COLUMNS.get(kind.kind, [_AGE])
    printed = next(
        (each.get("additionalPrinterColumns") for each in crd["spec"]["versions"] if each["name"] == kind.version), None
    )
    return [_printer_column(each) for each in printed] if printed else [_AGE]


def _printer_column(column: Object) -> Column:
    path, is_date = str(column["jsonPath"]), column.get("type") == "date"

    def cell(obj: Object, now: float) -> Any:
        found = _json_path(obj, path)
        return _age(found, now) if is_date else found

    return column["name"], int(column.get("priority") or 0), cell


def _json_path(obj: Object, path: str) -> Any:
    """Plain paths and the one filter that printer columns use: `.status.conditions[?(@.type=="Ready")].status`."""
    found = re.fullmatch(r"\.(.*?)\[\?\(@\.(\w+)\s*==\s*[\"'](\w+)[\"']\)\]\.(\w+)", path)
    if found is None:
        return dig(obj, *path.lstrip(".").split("."))
    items = dig(obj, *found[1].split("."))
    if not is_list(items):
        return None
    return next((item.get(found[4]) for item in items if is_map(item) and item.get(found[2]) == found[3]), None)


def _age(stamp: Any, now: float) -> str:
    if not isinstance(stamp, str):
        return "<unknown>"
    seconds = max(0, int(now - datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _pod_ready(pod: Object, _: float) -> str:
    statuses: list[Object] = items(pod, "status", "containerStatuses")
    return f"{sum(bool(each.get('ready')) for each in statuses)}/{len(pod['spec']['containers'])}"


def _pod_status(pod: Object, _: float) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for each in items(pod, "status", "containerStatuses"):
        for state in ("waiting", "terminated"):
            if reason := dig(each, "state", state, "reason"):
                return str(reason)
    return str(dig(pod, "status", "reason") or dig(pod, "status", "phase") or "Unknown")


def _node_status(node: Object, _: float) -> str:
    conditions: list[Object] = items(node, "status", "conditions")
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    text = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    return f"{text},SchedulingDisabled" if node["spec"].get("unschedulable") else text


def _job_status(job: Object, _: float) -> str:
    for each in items(job, "status", "conditions"):
        if each["status"] == "True":
            return str(each["type"])
    return "Running"


def _at(*path: str, absent: Any = "<none>") -> Cell:
    def cell(obj: Object, _: float) -> Any:
        found = dig(obj, *path)
        return absent if found is None else found

    return cell


def _of(count: tuple[str, ...], total: tuple[str, ...], default: int = 0) -> Cell:
    return lambda obj, _: f"{dig(obj, *count) or 0}/{dig(obj, *total) or default}"


_AGE: Column = ("Age", 0, lambda obj, now: _age(obj["metadata"].get("creationTimestamp"), now))
_REPLICAS = ("spec", "replicas")

_COLUMNS: dict[str, list[Column]] = {
    "Pod": [
        ("Ready", 0, _pod_ready),
        ("Status", 0, _pod_status),
        (
            "Restarts",
            0,
            lambda pod, _: sum(each.get("restartCount", 0) for each in items(pod, "status", "containerStatuses")),
        ),
        _AGE,
        ("IP", 1, _at("status", "podIP")),
        ("Node", 1, _at("spec", "nodeName")),
    ],
    "Node": [
        ("Status", 0, _node_status),
        ("Roles", 0, lambda _, __: "<none>"),
        _AGE,
        ("Version", 0, _at("status", "nodeInfo", "kubeletVersion", absent="")),
    ],
    "Namespace": [("Status", 0, _at("status", "phase")), _AGE],
    "Deployment": [
        ("Ready", 0, _of(("status", "readyReplicas"), _REPLICAS)),
        ("Up-to-date", 0, _at("status", "updatedReplicas", absent=0)),
        ("Available", 0, _at("status", "availableReplicas", absent=0)),
        _AGE,
    ],
    "StatefulSet": [("Ready", 0, _of(("status", "readyReplicas"), _REPLICAS)), _AGE],
    "ReplicaSet": [
        ("Desired", 0, _at("spec", "replicas", absent=0)),
        ("Current", 0, _at("status", "replicas", absent=0)),
        ("Ready", 0, _at("status", "readyReplicas", absent=0)),
        _AGE,
    ],
    "DaemonSet": [
        ("Desired", 0, _at("status", "desiredNumberScheduled", absent=0)),
        ("Current", 0, _at("status", "currentNumberScheduled", absent=0)),
        ("Ready", 0, _at("status", "numberReady", absent=0)),
        _AGE,
    ],
    "Job": [
        ("Status", 0, _job_status),
        ("Completions", 0, _of(("status", "succeeded"), ("spec", "completions"), 1)),
        _AGE,
    ],
    "Event": [
        ("Type", 0, _at("type")),
        ("Reason", 0, _at("reason")),
        (
            "Object",
            0,
            lambda event, _: (
                f"{str(dig(event, 'involvedObject', 'kind')).lower()}/{dig(event, 'involvedObject', 'name')}"
            ),
        ),
        ("Message", 0, _at("message")),
    ],
    "ConfigMap": [("Data", 0, lambda obj, _: len(mapping(obj, "data"))), _AGE],
    "Secret": [("Type", 0, _at("type")), ("Data", 0, lambda obj, _: len(mapping(obj, "data"))), _AGE],
    "Service": [("Type", 0, _at("spec", "type")), ("Cluster-IP", 0, _at("spec", "clusterIP")), _AGE],
    "PersistentVolume": [
        ("Capacity", 0, _at("spec", "capacity", "storage")),
        ("Reclaim Policy", 0, _at("spec", "persistentVolumeReclaimPolicy")),
        ("Status", 0, _at("status", "phase")),
        (
            "Claim",
            0,
            lambda obj, _: (
                f"{dig(obj, 'spec', 'claimRef', 'namespace') or ''}/{dig(obj, 'spec', 'claimRef', 'name') or ''}".strip(
                    "/"
                )
            ),
        ),
        _AGE,
    ],
    "PersistentVolumeClaim": [
        ("Status", 0, _at("status", "phase")),
        ("Volume", 0, _at("spec", "volumeName", absent="")),
        ("Capacity", 0, _at("status", "capacity", "storage", absent="")),
        _AGE,
    ],
    "CustomResourceDefinition": [("Created At", 0, _at("metadata", "creationTimestamp"))],
}
