"""The subjects there are, and one diagnosis of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from reconciler.reads.diagnosis import cluster_creation, nccl, node_health, pending_pods, stuck_deletion
from reconciler.reads.diagnosis.facts import Facts, Focus, collect
from reconciler.reads.diagnosis.findings import DiagnosisFinding, DiagnosisView
from reconciler.reads.reads import Reads
from reconciler.reads.trimmed import PodFacts

Subject = Literal["cluster_creation", "node_health", "nccl", "stuck_deletion", "pending_pods"]
MOST: Final = 50
_SURE: Final = ("certain", "likely", "possible")


@dataclass(frozen=True, kw_only=True)
class _How:
    """`live`: nodes, pods and events of Kubernetes are needed; `bodies`: pods that are read whole, with their log."""

    diagnose: Callable[[Facts], Iterator[DiagnosisFinding]]
    looked_at: tuple[str, ...]
    live: bool = True
    bodies: Callable[[PodFacts], bool] = lambda _pod: False


SUBJECTS: Final[dict[Subject, _How]] = {
    "cluster_creation": _How(diagnose=cluster_creation.diagnose, looked_at=cluster_creation.LOOKED_AT, live=False),
    "node_health": _How(diagnose=node_health.diagnose, looked_at=node_health.LOOKED_AT),
    "nccl": _How(
        diagnose=nccl.diagnose,
        looked_at=nccl.LOOKED_AT,
        bodies=lambda pod: bool(pod.gpus) and pod.phase in ("Running", "Failed"),
    ),
    "stuck_deletion": _How(diagnose=stuck_deletion.diagnose, looked_at=stuck_deletion.LOOKED_AT),
    "pending_pods": _How(diagnose=pending_pods.diagnose, looked_at=pending_pods.LOOKED_AT),
}


def diagnose(reads: Reads, cluster: str, subject: Subject, focus: Focus) -> DiagnosisView:
    """Looks and says; changes nothing. Raises NotFound for a cluster that nobody knows."""
    how = SUBJECTS[subject]
    facts = collect(reads, cluster, focus, live=how.live, bodies=how.bodies)
    found = [one for one in how.diagnose(facts) if _is_wanted(one, focus)]
    once = list({(one.reason, one.subject): one for one in reversed(found)}.values())[::-1]
    once.sort(key=lambda one: _SURE.index(one.confidence))
    return DiagnosisView(
        cluster=cluster,
        subject=subject,
        at=reads.engine.clock.iso(),
        findings=tuple(once[:MOST]),
        left_out=max(0, len(once) - MOST),
        looked_at=how.looked_at,
        parts=facts.parts,
    )


def _is_wanted(found: DiagnosisFinding, focus: Focus) -> bool:
    return not focus.node or not found.subject.startswith("Node/") or focus.node in found.subject
