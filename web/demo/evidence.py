"""What the demo proves: the sandbox's request log joined with the journal, and how long each stage took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from reconciler.config_repo.repo import ConfigRepo
from reconciler.reads.journals import LineView, all_lines


def lines(repo: ConfigRepo, cluster: str) -> list[LineView]:
    return all_lines(repo.notes(cluster).entries)


def mutations(log: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests that changed something."""
    return [entry for entry in log if entry["mutating"] and entry["status"] < 400]


def unjoined(log: Iterable[dict[str, Any]], journal: Sequence[LineView]) -> list[str]:
    """Changes that no intent in the journal asked for. There must be none."""
    intents = [line for line in journal if line.t == "op" and line.raw.get("phase") == "intent"]
    asked = {line.raw["op"] for line in intents}
    helm = min((_time(line.at).timestamp() for line in intents if _is_helm(line)), default=math.inf)
    return sorted(
        {
            f"{entry['service']}:{entry['operation']} by {entry['userAgent'][:40]}"
            for entry in mutations(log)
            if entry["effect"] and entry["op"] not in asked and not _by_helm(entry, helm)
        }
    )


def _is_helm(intent: LineView) -> bool:
    return str(intent.raw.get("call", "")).startswith("helm:")


def _by_helm(entry: dict[str, Any], since: float) -> bool:
    """Helm sends its own user agent, which nobody can add to: it is joined by name, and by coming after its intent."""
    return str(entry["userAgent"]).startswith("Helm/") and entry["at"] >= since


def stage_seconds(journal: Sequence[LineView]) -> dict[str, dict[str, float]]:
    """Per stage of the first rollout: simulated seconds from its start to the first line, and to Ready."""
    first = next((line for line in journal if line.t == "rollout"), None)
    if first is None:
        return {}
    start, roll = _time(first.at), first.raw["roll"]
    found: dict[str, dict[str, float]] = {}
    for line in journal:
        if line.t != "stage" or line.raw["roll"] != roll:
            continue
        after = round((_time(line.at) - start).total_seconds(), 1)
        stage = found.setdefault(str(line.raw["stage"]), {"from": after})
        if line.raw["state"] == "Ready":
            stage["ready"] = after
    return found


def _time(at: str) -> datetime:
    return datetime.fromisoformat(at)
