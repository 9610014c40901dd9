"""Many objects at once: in which order they go, and what it means when some fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from reconciler.live.errors import CallError, CallRefused, CallRejected, NotFound, ReplyLost
from reconciler.live.kube.comparison import dropped
from reconciler.live.kube.errors import NOT_SENT
from reconciler.live.kube.kinds import ObjectKey, gvk_of
from reconciler.live.redaction import presentable
from schemas.errors import InstantStartError
from schemas.values import JsonObject

# What others stand on goes first; what looks at all others goes last.
WAVES: dict[str, int] = {
    "Namespace": 0,
    "CustomResourceDefinition": 0,
    "PriorityClass": 0,
    "StorageClass": 0,
    "RuntimeClass": 0,
    "ServiceAccount": 1,
    "ClusterRole": 1,
    "ClusterRoleBinding": 1,
    "Role": 1,
    "RoleBinding": 1,
    "ConfigMap": 1,
    "Secret": 1,
    "PersistentVolume": 1,
    "PersistentVolumeClaim": 1,
    "Service": 1,
    "LimitRange": 1,
    "ResourceQuota": 1,
    "NetworkPolicy": 1,
    "ValidatingWebhookConfiguration": 3,
    "MutatingWebhookConfiguration": 3,
    "ValidatingAdmissionPolicy": 3,
    "ValidatingAdmissionPolicyBinding": 3,
    "APIService": 3,
}
COMMON_WAVE = 2

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """The outcome for one object: `live` or `error`. `dropped`: JSON pointers sent but not stored (C29)."""

    key: ObjectKey
    live: JsonObject | None = None
    error: CallError | None = None
    dropped: tuple[str, ...] = field(default=())


class Spread(Protocol):
    def __call__(self, work: Callable[[T], R], items: Iterable[T], /) -> list[R]: ...


def apply_in_waves(
    objects: Sequence[JsonObject],
    send: Callable[[JsonObject], JsonObject],
    key_of: Callable[[JsonObject], ObjectKey],
    spread: Spread,
) -> list[Applied]:
    """One outcome per object, in order. When the cluster cannot be reached, the rest is not sent."""
    outcomes: dict[int, Applied] = {}
    unreachable = threading.Event()

    def one(index: int) -> Applied:
        body = objects[index]
        if unreachable.is_set():
            error = CallRefused("not sent: the cluster could not be reached", reason="NotConnected")
            return Applied(key=_named(body), error=error)
        try:
            key = key_of(body)
            live = send(body)
        except (CallRefused, ReplyLost, CallRejected, NotFound) as error:
            if error.reason in NOT_SENT:
                unreachable.set()
            return Applied(key=_named(body), error=error)
        except InstantStartError as error:
            return Applied(key=_named(body), error=CallRefused(error.message, reason=error.reason))
        return Applied(key=key, live=live, dropped=tuple(dropped(body, live)))

    for wave in _waves(objects):
        outcomes.update(zip(wave, spread(one, wave), strict=True))
    return [outcomes[index] for index in range(len(objects))]


def results(outcomes: Sequence[Applied]) -> list[JsonObject]:
    """The live objects, or the weightiest error: lost before refused before rejected."""
    failed = [(o, o.error) for o in outcomes if o.error is not None]
    if not failed:
        return [o.live or {} for o in outcomes]
    outcome, worst = min(failed, key=lambda pair: _weight(pair[1]))
    if len(failed) == 1 and len(outcomes) == 1:
        raise worst
    text = presentable(f"{len(failed)} of {len(outcomes)} objects: {outcome.key}: {worst.message}")
    kind = type(worst)
    # Each class takes a reason; what the server said stays reachable as the cause.
    raise kind(text, reason=worst.reason).told(
        code=worst.code, operation=worst.operation, status=worst.status
    ) from worst


def _weight(error: CallError) -> int:
    if isinstance(error, ReplyLost):
        return 0
    return 2 if isinstance(error, CallRejected) else 1


def _waves(objects: Sequence[JsonObject]) -> list[list[int]]:
    waves: dict[int, list[int]] = {}
    for index, body in enumerate(objects):
        waves.setdefault(WAVES.get(str(body.get("kind")), COMMON_WAVE), []).append(index)
    return [waves[wave] for wave in sorted(waves)]


def _named(body: Mapping[str, Any]) -> ObjectKey:
    meta: Mapping[str, Any] = body.get("metadata") or {}
    return ObjectKey(*gvk_of(body), str(meta.get("namespace") or ""), str(meta.get("name") or ""))
