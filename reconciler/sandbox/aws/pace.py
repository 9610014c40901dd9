"""How long things take, in simulated seconds. Sourced where a source is known, guesses otherwise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Pace:
    nat_create: float = 90
    nat_delete: float = 60
    endpoint_create: float = 60
    role_usable: float = 10

    eks_create: float = 540
    eks_update: float = 120
    eks_delete: float = 300
    addon_create: float = 75
    addon_delete: float = 30
    addon_settle: float = 15  # from the first node to ACTIVE
    addon_patience: float = 1200  # without a node, CREATING turns to DEGRADED
    nodegroup_create: float = 120
    nodegroup_delete: float = 120

    hyperpod_create: float = 180  # the cluster's own part
    node_boot: float = 240  # machine and image
    node_script: float = 120  # the lifecycle script
    node_reboot: float = 180
    node_replace: float = 60  # until the old machine is gone
    node_delete: float = 90
    deep_health_check: float = 4500
    group_delete: float = 120
    cluster_delete: float = 300
    interfaces_linger: float = 240  # after the nodes are gone
    rollback: float = 300
    capacity_retry: float = 120
    script_retry: float = 600
    min_count_timeout: float = 10800
    autoscaling_enable: float = 120
