"""Namespaces that do not go, in the words of their own conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Confidence, DiagnosisFinding, evidence

_SLACK: Final = timedelta(seconds=60)  # pods in it have their time to end
_KUBERNETES: Final = "kubernetes"  # the finalizer that every Namespace has


@dataclass(frozen=True, kw_only=True)
class _Why:
    """`condition`: of the Namespace; the first that is True is why, those behind it follow from it."""

    condition: str
    reason: str
    says: str
    next_step: str
    confidence: Confidence = "certain"
    is_of_api: bool = False


_UNANSWERED: Final = "find the APIService that is not Available: bring its server back, or remove it if it is gone"
_CONDITIONS: Final = (
    _Why(
        condition="NamespaceDeletionDiscoveryFailure",
        reason="DiscoveryFailed",
        says="an API of the cluster does not answer, so nobody can tell what is left in it",
        next_step=_UNANSWERED,
        is_of_api=True,
    ),
    _Why(
        condition="NamespaceDeletionGroupVersionParsingFailure",
        reason="DiscoveryFailed",
        says="an API of the cluster has a version that cannot be read, so nobody can tell what is left in it",
        next_step=_UNANSWERED,
        is_of_api=True,
    ),
    _Why(
        condition="NamespaceDeletionContentFailure",
        reason="ContentNotDeleted",
        says="something in it cannot be deleted",
        next_step="the evidence says what refuses: a webhook that does not answer is the usual one",
        confidence="likely",
    ),
    _Why(
        condition="NamespaceFinalizersRemaining",
        reason="FinalizersRemain",
        says="what is in it waits for finalizers, which their controllers take off",
        next_step="see that the controller of the finalizer runs; by hand it is taken off only when what it guards is "
        "surely gone",
    ),
    _Why(
        condition="NamespaceContentRemaining",
        reason="ContentRemains",
        says="there are still objects in it",
        next_step="look at what is left, and why it does not go",
        confidence="possible",
    ),
)


def stuck(facts: Facts) -> Iterator[DiagnosisFinding]:
    """Of those that are being deleted for longer than that takes."""
    for body in facts.namespaces:
        meta, spec = _part(body, "metadata"), _part(body, "spec")
        name, since = str(meta.get("name", "")), str(meta.get("deletionTimestamp") or "")
        if not since or not _is_late(since, facts.at):
            continue
        true = {str(one.get("type")): one for one in _rows(_part(body, "status"), "conditions") if _is_true(one)}
        why = next((one for one in _CONDITIONS if one.condition in true), None)
        others = [str(one) for one in (*_texts(meta, "finalizers"), *_texts(spec, "finalizers")) if one != _KUBERNETES]
        if why is not None:
            text = f"{why.condition}: {true[why.condition].get('message', '')}"
            yield _finding(name, why, text, since)
        elif others:
            yield _finding(name, _GUARDED, f"finalizers {', '.join(others)}", since)
        else:
            yield _finding(name, _ENDING, f"being deleted since {since}, and it does not say why", since)


_GUARDED: Final = _Why(
    condition="",
    reason="FinalizersRemain",
    says="it has finalizers of its own, which their controllers take off",
    next_step="see that the controller of the finalizer runs",
)
_ENDING: Final = _Why(
    condition="",
    reason="NamespaceEnding",
    says="it was told to go and has not yet",
    next_step="look at what is left in it",
    confidence="possible",
)


def _finding(name: str, why: _Why, text: str, since: str) -> DiagnosisFinding:
    return DiagnosisFinding(
        reason=why.reason,
        subject=f"Namespace/{name}",
        says=why.says,
        confidence=why.confidence,
        step="investigate",
        next_step=why.next_step,
        command=commands.shell("kubectl", "get", "apiservices")
        if why.is_of_api
        else commands.kubectl("get", "namespace", name, "", "-o", "yaml"),
        evidence=(evidence("kubernetes", f"Namespace/{name}", text, since),),
    )


def _is_late(since: str, now: str) -> bool:
    try:
        return datetime.fromisoformat(since) + _SLACK < datetime.fromisoformat(now)
    except ValueError:
        return False


def _is_true(condition: Mapping[str, Any]) -> bool:
    return condition.get("status") == "True"


def _part(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = told.get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _rows(told: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return list(cast("Iterable[Mapping[str, Any]]", told.get(name) or ()))


def _texts(told: Mapping[str, Any], name: str) -> list[object]:
    return list(cast("Iterable[object]", told.get(name) or ()))
