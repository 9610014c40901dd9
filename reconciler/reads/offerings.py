"""What an account can have in a Region, before anything is chosen: zones × instance types, with GPUs, EFA, addresses,
quota headroom, training plans, capacity reservations, and Kubernetes versions.

Each part is asked for side by side and kept for a while, with the time at which it was seen. What cannot be asked is
not known, and is never made up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import Clock
from reconciler.reads import offers
from reconciler.reads.kept import Kept
from reconciler.reads.offers import (
    HardwareView,
    KubernetesVersionView,
    QuotasView,
    ReservationView,
    TrainingPlanView,
    UsageView,
    ZoneView,
)
from reconciler.reads.parts import PartView, View, seen, unseen
from schemas import instance_types
from schemas.errors import InstantStartError

T = TypeVar("T")
THREADS: Final = 8
# Each question, and for how many real seconds its answer is kept.
QUESTIONS: Final[dict[str, tuple[Callable[[AwsSession], Any], float]]] = {
    "zones": (offers.zones, 3600.0),
    "instance-types": (offers.offered, 3600.0),
    "hardware": (offers.hardware, 24 * 3600.0),
    "quotas": (offers.quotas, 600.0),
    "usage": (offers.usage, 30.0),
    "training-plans": (offers.training_plans, 120.0),
    "capacity-reservations": (offers.reservations, 120.0),
    "kubernetes-versions": (offers.versions, 3600.0),
}


class HeadroomView(View):
    """`limit`: the quota; `used`: what HyperPod clusters of the account have or want; `left`: how many more may be had.
    Null: not known."""

    limit: int | None = None
    used: int | None = None
    left: int | None = None


class AddressesView(View):
    """Addresses that a node takes from its subnet at most: without EFA, and with it (efaOnly takes as many as
    without). Null: not known."""

    plain: int | None = None
    efa: int | None = None


class TypeView(View):
    """An instance type. `zones`: ids of the zones that offer it; null: not known. `gpus`: GPUs or Trainium chips of one
    machine. `plans`, `reservations`: names of those that hold machines of this type."""

    instance_type: str
    accelerated: bool
    zones: tuple[str, ...] | None = None
    gpus: int | None = None
    gpu: str = ""
    gpu_memory_gib: float | None = None
    efa_interfaces: int | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    addresses: AddressesView
    on_demand: HeadroomView
    spot: HeadroomView
    training_plans: tuple[str, ...] | None = None
    reservations: tuple[str, ...] | None = None


class OfferingsView(View):
    """`instances`: headroom over all types. A list that is null is not known; `parts` say why and since when."""

    account: str
    region: str
    zones: tuple[ZoneView, ...] | None
    instance_types: tuple[TypeView, ...]
    instances: HeadroomView
    per_cluster: int | None
    training_plans: tuple[TrainingPlanView, ...] | None
    reservations: tuple[ReservationView, ...] | None
    kubernetes_versions: tuple[KubernetesVersionView, ...] | None
    observed_at: str | None
    parts: tuple[PartView, ...]


class Offerings:
    """Thread-safe. `close` ends its threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="offerings")
        self._kept: dict[str, Kept[tuple[str, Any]]] = {
            name: Kept(seconds, most=100) for name, (_, seconds) in QUESTIONS.items()
        }

    def of(self, aws: AwsSession) -> OfferingsView:
        """Of one account and Region. Raises nothing of ours: what cannot be seen is told in `parts`."""
        key = (aws.account, aws.region)
        names = list(QUESTIONS)
        answers = self._pool.map(self._ask, names, itertools.repeat(key), itertools.repeat(aws))
        found = dict(zip(names, answers, strict=True))
        return _view(aws, {name: answer for name, (answer, _) in found.items()}, tuple(p for _, p in found.values()))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, name: str, key: Hashable, aws: AwsSession) -> tuple[Any, PartView]:
        question = QUESTIONS[name][0]
        try:
            at, answer = self._kept[name].get(key, lambda: (self._clock.iso(), question(aws)))
        except InstantStartError as error:
            return None, unseen(name, error, since=self._clock.iso())
        return answer, seen(name, at)


def _view(aws: AwsSession, found: Mapping[str, Any], parts: tuple[PartView, ...]) -> OfferingsView:
    offered = cast("dict[str, tuple[str, ...]] | None", found["instance-types"])
    quotas = cast("QuotasView | None", found["quotas"])
    usage = cast("UsageView | None", found["usage"])
    # Without EC2's word every type that HyperPod has is shown, its zones not known: better than none.
    names = sorted(offered if offered is not None else instance_types.NAMES)
    times = [part.observed_at for part in parts if part.observed_at is not None]
    return OfferingsView(
        account=aws.account,
        region=aws.region,
        zones=found["zones"],
        instance_types=tuple(_type(name, offered, found, quotas, usage) for name in names),
        instances=_headroom(
            quotas.total if quotas is not None else None,
            None if usage is None else sum(usage.on_demand.values()) + sum(usage.spot.values()),
        ),
        per_cluster=quotas.per_cluster if quotas is not None else None,
        training_plans=found["training-plans"],
        reservations=found["capacity-reservations"],
        kubernetes_versions=found["kubernetes-versions"],
        observed_at=min(times) if len(times) == len(parts) else None,
        parts=parts,
    )


def _type(
    name: str,
    offered: Mapping[str, tuple[str, ...]] | None,
    found: Mapping[str, Any],
    quotas: QuotasView | None,
    usage: UsageView | None,
) -> TypeView:
    known = cast("Mapping[str, HardwareView] | None", found["hardware"])
    hardware = (known or {}).get(name, HardwareView())
    plans = cast("tuple[TrainingPlanView, ...] | None", found["training-plans"])
    reserved = cast("tuple[ReservationView, ...] | None", found["capacity-reservations"])
    return TypeView(
        instance_type=name,
        accelerated=instance_types.is_accelerated(name),
        zones=offered.get(name) if offered is not None else None,
        gpus=_first(instance_types.accelerators(name), hardware.gpus),
        gpu=hardware.gpu,
        gpu_memory_gib=hardware.gpu_memory_gib,
        efa_interfaces=_first(instance_types.efa_interfaces(name), hardware.efa_interfaces),
        vcpus=hardware.vcpus,
        memory_gib=hardware.memory_gib,
        addresses=AddressesView(
            plain=instance_types.addresses(name, efa=False), efa=instance_types.addresses(name, efa=True)
        ),
        on_demand=_of_type(name, quotas.on_demand if quotas else None, usage.on_demand if usage else None),
        spot=_of_type(name, quotas.spot if quotas else None, usage.spot if usage else None),
        training_plans=None if plans is None else tuple(p.name for p in plans if name in p.instance_types),
        reservations=None if reserved is None else tuple(r.id for r in reserved if r.instance_type == name),
    )


def _of_type(name: str, limits: Mapping[str, int] | None, used: Mapping[str, int] | None) -> HeadroomView:
    return _headroom((limits or {}).get(name), None if used is None else used.get(name, 0))


def _headroom(limit: int | None, used: int | None) -> HeadroomView:
    left = None if limit is None or used is None else max(0, limit - used)
    return HeadroomView(limit=limit, used=used, left=left)


def _first(one: int | None, other: int | None) -> int | None:
    return one if one is not None else other
