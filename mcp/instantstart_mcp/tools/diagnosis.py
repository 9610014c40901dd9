"""Diagnoses: what is wrong, how sure that is, on what evidence, and what to do next."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from instantstart_mcp.api import Json, rows
from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.tools.live import Namespace
from instantstart_mcp.words import Answer, ClusterName, Part, Word, unseen

_MOST = 30
PodName = Annotated[str, Field(max_length=253, description="Only this pod")]


class Evidence(Answer):
    source: str
    about_untrusted: str = ""
    text_untrusted: str = ""
    at: str = ""


class Finding(Answer):
    """`step`: investigate, restart, replace, or decide (a person's word is missing)."""

    reason: Word
    subject_untrusted: str
    says_untrusted: str = ""
    confidence: str
    step: str
    next_step: str
    command_untrusted: str = ""
    evidence: tuple[Evidence, ...] = ()


class Diagnosis(Answer):
    cluster: str
    findings: tuple[Finding, ...]
    findings_left_out: int = 0
    looked_at: tuple[str, ...] = ()
    unseen: tuple[Part, ...] = ()


async def diagnose_cluster_creation(call: Call, cluster: ClusterName) -> Diagnosis:
    """Why a cluster is not Ready: documents, holds, failed operations, quotas, capacity, addresses, lifecycle script,
    roles, endpoints. With something in unseen, no finding is no proof."""
    return await _diagnosed(call, cluster, "cluster_creation")


async def diagnose_node_health(
    call: Call,
    cluster: ClusterName,
    node: Annotated[str, Field(max_length=253, description="Only this node: i-… or its name")] = "",
) -> Diagnosis:
    """Which nodes are not well and what to do, in the order investigate, restart, replace: HyperPod status, labels,
    faults, deep checks, kubelet, recovery history."""
    return await _diagnosed(call, cluster, "node_health", node=node)


async def diagnose_nccl(call: Call, cluster: ClusterName, namespace: Namespace = "", pod: PodName = "") -> Diagnosis:
    """Why GPUs of several nodes do not talk, or slowly: EFA requested and there, security group, placement,
    environment, patterns in logs."""
    return await _diagnosed(call, cluster, "nccl", namespace=namespace, pod=pod)


async def diagnose_stuck_deletion(call: Call, cluster: ClusterName) -> Diagnosis:
    """Why something does not go: protection, holds, what still uses it, operations that fail, pods that cannot end."""
    return await _diagnosed(call, cluster, "stuck_deletion")


async def diagnose_pending_pods(
    call: Call, cluster: ClusterName, namespace: Namespace = "", pod: PodName = ""
) -> Diagnosis:
    """Why pods do not run: GPUs, EFA, taints, labels, volumes, images, configuration."""
    return await _diagnosed(call, cluster, "pending_pods", namespace=namespace, pod=pod)


async def _diagnosed(call: Call, cluster: str, subject: str, **focus: str) -> Diagnosis:
    told = await call.api.get("clusters", cluster, "diagnoses", subject, **focus)
    found = rows(told, "findings")
    return Diagnosis(
        cluster=cluster,
        findings=tuple(Finding.model_validate(one) for one in found[:_MOST]),
        findings_left_out=max(0, len(found) - _MOST) + _count(told),
        looked_at=tuple(told["looked_at"]),
        unseen=unseen(told.get("parts")),
    )


def _count(told: Json) -> int:
    return int(told.get("left_out") or 0)


TOOLS = (
    reads(diagnose_cluster_creation, outside=True),
    reads(diagnose_node_health, outside=True),
    reads(diagnose_nccl, outside=True),
    reads(diagnose_stuck_deletion, outside=True),
    reads(diagnose_pending_pods, outside=True),
)
