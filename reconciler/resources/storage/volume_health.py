"""How well a volume and its claim are. Pure: from the two live objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reconciler.resources.drafts import as_map
from schemas.resource import Health

PODS_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Condition:
    """In the words of `Observed`."""

    health: Health
    ready: bool = False
    reason: str = ""
    message: str = ""


def condition(
    volume: Mapping[str, Any] | None, claim: Mapping[str, Any] | None, users: Sequence[str] = ()
) -> Condition:
    """`users`: pods that still mount a claim that is to go."""
    if is_ending(claim) and users:
        named = ", ".join(users[:PODS_NAMED]) + (f" and {len(users) - PODS_NAMED} more" if users[PODS_NAMED:] else "")
        return Condition(
            health=Health.DELETING, reason="InUse", message=f"the claim goes when these pods have: {named}"
        )
    if is_ending(claim) or is_ending(volume):
        return Condition(health=Health.DELETING, reason="Deleting")
    if volume is None:
        return Condition(
            health=Health.PROGRESSING, reason="VolumeMissing", message="the claim is there, its volume is not"
        )
    if is_released(volume):
        said = "the volume was bound to a claim that is gone; it is made free again"
        return Condition(health=Health.PROGRESSING, reason="VolumeReleased", message=said)
    if claim is None:
        return Condition(health=Health.PROGRESSING, reason="ClaimMissing")
    phases = _phase(volume), _phase(claim)
    if phases == ("Bound", "Bound"):
        return Condition(health=Health.HEALTHY, ready=True)
    if "Failed" in phases or "Lost" in phases:
        said = str(as_map(volume.get("status")).get("message") or f"volume {phases[0]}, claim {phases[1]}")
        return Condition(health=Health.FAILED, reason="ClaimLost" if "Lost" in phases else "VolumeFailed", message=said)
    return Condition(
        health=Health.PROGRESSING, reason="Binding", message=f"volume {phases[0] or 'new'}, claim {phases[1] or 'new'}"
    )


def is_released(volume: Mapping[str, Any] | None) -> bool:
    """It remembers a claim that is gone, and waits for nobody else."""
    if volume is None or _phase(volume) != "Released":
        return False
    return bool(as_map(as_map(volume.get("spec")).get("claimRef")).get("uid"))


def is_ending(found: Mapping[str, Any] | None) -> bool:
    return found is not None and bool(as_map(found.get("metadata")).get("deletionTimestamp"))


def _phase(found: Mapping[str, Any]) -> str:
    return str(as_map(found.get("status")).get("phase") or "")
