"""What must hold whenever and however often the engine died: of the journal, of the request log, of the effects."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from reconciler.journal.fold import fold_lines
from schemas.journal import Phase

Line = dict[str, Any]
Entry = dict[str, Any]

_EFFECT = re.compile(r"(\w+) (\S+) (.*?)(?:: (.*))?")
_LOWERED = re.compile(r"target (\d+)->(\d+)")
_ONCE = ("created", "deleted", "rebooted", "replaced")


def journal_problems(cluster: str, texts: Sequence[str]) -> list[str]:
    """A whole journal: it reads, every op has an end, and nothing follows an end."""
    found: list[str] = []
    status = fold_lines(cluster, texts)
    if status.broken is not None:
        found.append(f"the journal is broken: {status.broken}")
    lines = lines_of(texts)
    seqs = [line["seq"] for line in lines]
    if seqs != list(range(1, len(seqs) + 1)):
        found.append("the journal's seqs have gaps or repeat")
    phases: dict[str, list[str]] = {}
    for line in lines:
        if line["t"] == "op":
            phases.setdefault(line["op"], []).append(line["phase"])
    ended = {Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED, Phase.RESOLVED}
    for op, was in phases.items():
        if was[0] != "intent":
            found.append(f"{op} does not begin with an intent: {was}")
        if was[-1] not in {phase.value for phase in ended}:
            found.append(f"{op} has no end: {was}")
        if any(phase in {p.value for p in ended} for phase in was[:-1]):
            found.append(f"{op} goes on after its end: {was}")
    return found


def lines_of(texts: Iterable[str]) -> list[Line]:
    return sorted((json.loads(text) for text in texts), key=lambda line: int(line["seq"]))


def log_problems(entries: Sequence[Entry], lines: Sequence[Line]) -> list[str]:
    """Every request that changed something, or could have, joins with an intent that is older."""
    intents = {line["op"]: line for line in reversed(lines) if line["t"] == "op" and line["phase"] == "intent"}
    helm = min((_time(line["at"]) for line in intents.values() if line["call"].startswith("helm:")), default=None)
    found: list[str] = []
    for entry in entries:
        if not entry["mutating"]:
            continue
        what = f"{entry['service']}:{entry['operation']} by {entry['userAgent'][:30]}"
        if str(entry["userAgent"]).startswith("Helm/"):
            # Helm sends its own user agent, which nobody can add to: it is joined by coming after its intent.
            if helm is None or entry["at"] < helm:
                found.append(f"{what}: before any intent of helm")
        elif entry["op"] not in intents:
            found.append(f"{what}: op {entry['op']} has no intent")
        elif entry["at"] < _time(intents[entry["op"]]["at"]):
            found.append(f"{what}: older than its intent")
    return found


def effects(entries: Iterable[Entry], names: Mapping[str, str]) -> Counter[str]:
    """How often what was made, deleted, rebooted, or lowered: by key where it has one. Helm's own revisions are not
    counted: an interrupted one leaves another."""
    count: Counter[str] = Counter()
    for entry in entries:
        for verb, kind, identity, detail in _parts(entry):
            if kind == "kubernetes.secrets":
                continue
            lowered = _LOWERED.search(detail)
            if lowered is not None and int(lowered[2]) < int(lowered[1]):
                count[f"lowered {identity} {lowered[0]}"] += 1
            if verb in _ONCE:
                count[f"{verb} {kind} {_named(identity, detail, names)}"] += 1
    return count


def keys_of(entries: Iterable[Entry]) -> dict[str, str]:
    """Id of what was made -> its key."""
    found: dict[str, str] = {}
    for entry in entries:
        for verb, _, identity, detail in _parts(entry):
            if verb == "created" and detail.startswith("key="):
                found[identity] = detail.removeprefix("key=")
    return found


def _parts(entry: Entry) -> Iterable[tuple[str, str, str, str]]:
    """Verb, kind, identity and detail of each effect of a request."""
    for text in str(entry["effect"] or "").split("; "):
        found = _EFFECT.fullmatch(text)
        if found is not None:
            yield found[1], found[2], found[3], found[4] or ""


def _named(identity: str, detail: str, names: Mapping[str, str]) -> str:
    if detail.startswith("key="):
        return detail.removeprefix("key=")
    text = identity
    for known, key in names.items():
        text = text.replace(known, key)
    text = re.sub(r"/id/[0-9A-Z]{32}", "", text)
    return re.sub(r"\bi-[0-9a-f]{17}\b|\b\d{12}\b", "*", text)


def _time(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
