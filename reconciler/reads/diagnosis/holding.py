"""What waits for a person's word, by what holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconciler.reads.clusters import HeldView
from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import DiagnosisFinding, evidence


def of(facts: Facts, held: Iterable[HeldView], noun: str = "actions") -> Iterator[DiagnosisFinding]:
    by_reason: dict[str, list[HeldView]] = {}
    for one in held:
        by_reason.setdefault(one.reason, []).append(one)
    for reason, same in by_reason.items():
        first = same[0]
        way = f": {first.way}" if first.way else ""
        yield DiagnosisFinding(
            reason=reason,
            subject=_about(facts, first),
            says=f"{len(same)} {noun} wait for a person's word",
            confidence="certain",
            step="decide",
            next_step=f"{first.who or 'a person'} decides{way}",
            command=_command(facts.cluster, first),
            evidence=tuple(evidence("journal", _about(facts, one), one.message, one.since) for one in same[:5]),
        )


def _command(cluster: str, held: HeldView) -> str:
    if held.order is not None:
        return commands.order(held.order, cluster, held.subject)
    return commands.shell("instantstart", "resume", cluster)


def _about(facts: Facts, held: HeldView) -> str:
    return held.key if held.key != "*" else f"Cluster/{facts.cluster}"
