"""Every reading tool, asked where something was planted, and what of an answer is not marked as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

NODE = "i-0000000000000000a"


def reading(change: str, pod: str = "train-0", namespace: str = "default") -> dict[str, dict[str, Any]]:
    """Every reading tool, with arguments that reach what was planted."""
    prod = {"cluster": "prod"}
    pods = {**prod, "namespace": namespace, "pod": pod}
    return {
        "cluster_list": {},
        "cluster_get": prod,
        "cluster_drift": prod,
        "cluster_resources": prod,
        "cluster_timeline": prod,
        "cluster_events": prod,
        "cluster_plan": prod,
        "policy_get": {},
        "offerings_get": prod,
        "document_list": prod,
        "document_get": {**prod, "kind": "InstanceGroup", "name": "gpu"},
        "group_list": prod,
        "storage_contents": {**prod, "storage": "shared"},
        "node_list": prod,
        "node_get": {**prod, "node": NODE},
        "pod_list": prod,
        "object_list": {**prod, "api_version": "v1", "kind": "Pod", "namespace": namespace},
        "log_read": pods,
        "change_list": {},
        "change_get": {"change": change},
        "change_plan": {"change": change},
        "change_diff": {"change": change},
        "change_wait": {"change": change, "timeout_seconds": 0},
        "order_list": {},
        "diagnose_cluster_creation": prod,
        "diagnose_node_health": prod,
        "diagnose_nccl": prod,
        "diagnose_stuck_deletion": prod,
        "diagnose_pending_pods": prod,
    }


def trusted(value: Any, path: str = "") -> list[tuple[str, str]]:
    """Strings of an answer that are not marked as data."""
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, list):
        return [found for item in cast("Iterable[Any]", value) for found in trusted(item, path)]
    if isinstance(value, dict):
        return [
            found
            for name, item in cast("dict[str, Any]", value).items()
            if not name.endswith("_untrusted")
            for found in trusted(item, f"{path}.{name}")
        ]
    return []
