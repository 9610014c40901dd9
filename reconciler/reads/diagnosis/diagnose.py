"""The subjects there are, and one diagnosis of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from reconciler.reads.diagnosis import cluster_creation, nccl, node_health, pending_pods, stuck_deletion
from reconciler.reads.diagnosis.facts import Facts, Focus, collect
from reconciler.reads.diagnosis.findings import DiagnosisFinding, DiagnosisView
from reconciler.reads.reads import Reads
from reconciler.reads.trimmed import PodFacts

Subject = Literal["cluster_creation", "node_health", "nccl", "stuck_deletion", "pending_pods"]
MOST: Final = 50
_MOST_EVIDENCE: Final = 8
_SURE: Final = ("certain", "likely", "possible")


@dataclass(frozen=True, kw_only=True)
class _How:
    """`live`: nodes, pods and events of Kubernetes are needed; `bodies`: pods that are read whole, with their log;
    `namespaces`: all of them."""

    diagnose: Callable[[Facts], Iterator[DiagnosisFinding]]
    looked_at: tuple[str, ...]
    live: bool = True
    namespaces: bool = False
    bodies: Callable[[PodFacts], bool] = lambda _pod: False


SUBJECTS: Final[dict[Subject, _How]] = {
    "cluster_creation": _How(diagnose=cluster_creation.diagnose, looked_at=cluster_creation.LOOKED_AT, live=False),
    "node_health": _How(diagnose=node_health.diagnose, looked_at=node_health.LOOKED_AT),
    "nccl": _How(
        diagnose=nccl.diagnose,
        looked_at=nccl.LOOKED_AT,
        bodies=lambda pod: bool(pod.gpus) and pod.phase in ("Running", "Failed"),
    ),
    "stuck_deletion": _How(diagnose=stuck_deletion.diagnose, looked_at=stuck_deletion.LOOKED_AT, namespaces=True),
    "pending_pods": _How(diagnose=pending_pods.diagnose, looked_at=pending_pods.LOOKED_AT),
}


def diagnose(reads: Reads, cluster: str, subject: Subject, focus: Focus) -> DiagnosisView:
    """Looks and says; changes nothing. Raises NotFound for a cluster or node that nobody knows."""
    how = SUBJECTS[subject]
    facts = collect(reads, cluster, focus, live=how.live, bodies=how.bodies, namespaces=how.namespaces)
    once = _together(how.diagnose(facts))
    once.sort(key=lambda one: _SURE.index(one.confidence))
    return DiagnosisView(
        cluster=cluster,
        subject=subject,
        at=facts.at,
        findings=tuple(once[:MOST]),
        left_out=max(0, len(once) - MOST),
        looked_at=how.looked_at,
        parts=facts.parts,
    )


def _together(found: Iterable[DiagnosisFinding]) -> list[DiagnosisFinding]:
    """What was found twice is told once, with all its evidence."""
    once: dict[tuple[str, str, str], DiagnosisFinding] = {}
    for one in found:
        name = (one.reason, one.subject, one.says)
        known = once.setdefault(name, one)
        more = tuple(each for each in one.evidence if each not in known.evidence)
        if more:
            once[name] = known.model_copy(update={"evidence": (*known.evidence, *more)[:_MOST_EVIDENCE]})
    return list(once.values())
