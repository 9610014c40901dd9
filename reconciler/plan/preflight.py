"""What a person should know before saying yes to machines: are they offered, allowed, and is there room. Pure.

Facts come from whoever can look; what is not known is never claimed. Findings block nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from schemas import instance_types
from schemas.plan import Action, Finding, Plan, Severity, Verb
from schemas.resource import Observed, Ref, Resource
from schemas.values import JsonObject, JsonValue

GROUP = "hyperpod.InstanceGroup"
RESERVED = 5  # addresses of every subnet that AWS keeps
QUOTA_PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
QUOTA_TOTAL = "Total number of instances allowed across SageMaker HyperPod clusters"

# Pods that the add-ons put on every node, and pods that stand once somewhere. The chart's own are counted with it.
_ON_EVERY_NODE = {"vpc-cni": 1, "kube-proxy": 1, "eks-pod-identity-agent": 1, "aws-mountpoint-s3-csi-driver": 1}
_ONCE = {"coredns": 2, "cert-manager": 3, "aws-mountpoint-s3-csi-driver": 1}
_CHART_ON_EVERY_NODE = 1  # the health monitoring agent; device plugins come on top
_CHART_ONCE = 2  # operators for training and MPI


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`zones`: zone ids that offer an instance type, by type. `quotas`: by the quota's name. A missing key is
    "not known"."""

    zones: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    quotas: Mapping[str, int] = field(default_factory=dict[str, int])


def growing(plan: Plan, observed: Mapping[str, Observed]) -> list[Action]:
    """The actions that ask for machines."""
    found: list[Action] = []
    for action in plan.actions:
        if action.type != GROUP or action.verb not in (Verb.CREATE, Verb.UPDATE, Verb.REPLACE):
            continue
        if action.verb is not Verb.UPDATE or ("count" in action.fields and _more(action, observed) > 0):
            found.append(action)
    return found


def quota_name(spec: Mapping[str, Any]) -> str | None:
    """The quota that a group counts against; None for a training plan, which has its own."""
    capacity: Mapping[str, Any] = spec.get("capacity") or {}
    if "trainingPlan" in capacity:
        return None
    return f"{spec.get('instanceType')} for cluster {'spot ' if 'spot' in capacity else ''}usage"


def findings(
    plan: Plan, desired: Mapping[str, Resource], observed: Mapping[str, Observed], facts: Facts
) -> list[Finding]:
    """All findings about the machines that this plan asks for; none where it asks for none."""
    machines = growing(plan, observed)
    if not machines:
        return []
    groups = {key: resource for key, resource in desired.items() if resource.type == GROUP}
    return [
        *_offers(machines, desired, observed, facts),
        *_quotas(groups.values(), facts),
        *_side_by_side(plan, machines, observed, facts),
        *_addresses(machines, desired, observed),
        *_pods(groups.values(), desired),
        *_device_plugins(groups.values(), desired),
    ]


# Offered and allowed -------------------------------------------------------------------------------------------------


def _offers(
    machines: Iterable[Action], desired: Mapping[str, Resource], observed: Mapping[str, Observed], facts: Facts
) -> Iterator[Finding]:
    for action in machines:
        kind = str(action.want.get("instanceType"))
        zone = _zone(action, desired, observed)
        offered = facts.zones.get(kind)
        if zone is None or offered is None or zone in offered:
            continue
        if offered:
            yield _error(action, "TypeNotOffered", f"zone {zone} does not offer {kind}; {_listed(offered)} do")
        else:
            yield _warning(action, "TypeNotOffered", f"no zone of this Region is known to offer {kind}")


def _quotas(groups: Iterable[Resource], facts: Facts) -> Iterator[Finding]:
    asked: Counter[str] = Counter()
    first: dict[str, Resource] = {}
    total = 0
    for group in groups:
        count = int(group.spec.get("count") or 0)
        total += count
        name = quota_name(group.spec)
        if name is not None:
            asked[name] += count
            first.setdefault(name, group)
    for name, count in sorted(asked.items()):
        allowed = facts.quotas.get(name)
        if allowed is not None and count > allowed:
            text = f"this cluster asks for {count}, the quota {name!r} allows {allowed}"
            yield _error(first[name], "QuotaTooSmall", text)
    for name in (QUOTA_PER_CLUSTER, QUOTA_TOTAL):
        allowed = facts.quotas.get(name)
        if allowed is not None and total > allowed:
            text = f"this cluster asks for {total} instances, the quota {name!r} allows {allowed}"
            yield Finding(severity=Severity.ERROR, reason="QuotaTooSmall", message=text)


def _side_by_side(
    plan: Plan, machines: Iterable[Action], observed: Mapping[str, Observed], facts: Facts
) -> Iterator[Finding]:
    """A renamed group: the new one is made before the old one goes, so that work can move; for a while both count."""
    machines = list(machines)
    new = {name: action for action in machines if (name := _pool(action.want)) and action.verb is Verb.CREATE}
    old: dict[str, list[Action]] = {}
    for action in plan.actions:
        seen = observed.get(action.key)
        if action.type == GROUP and action.verb is Verb.DELETE and seen is not None:
            old.setdefault(_pool(seen.spec) or "", []).append(action)
    for name, action in sorted(new.items()):
        going = old.get(name, [])
        if not going:
            continue
        count = sum(int(observed[each.key].spec.get("count") or 0) for each in going)
        count += sum(_more(each, observed) for each in machines if _pool(each.want) == name)
        names = _listed(each.name for each in going)
        allowed = facts.quotas.get(name)
        if allowed is not None and count > allowed:
            text = f"{count} of its type together with {names}, the quota {name!r} allows {allowed}"
            yield _error(action, "QuotaTooSmall", f"{text}: delete {names} in a commit before")
        else:
            where = name if quota_name(action.want) is None else "of its type"
            text = f"runs beside {names} until that is deleted: room for {count} {where} is needed"
            yield _warning(action, "SideBySide", f"{text}, or delete {names} in a commit before")


def _pool(spec: Mapping[str, Any]) -> str | None:
    """What groups of one kind share and can use up: their quota, or the machines of their training plan."""
    plan = spec.get("trainingPlan")
    return quota_name(spec) or (None if plan is None else f"in training plan {str(plan).rpartition('/')[2]}")


# Room for them -------------------------------------------------------------------------------------------------------


def _addresses(
    machines: Iterable[Action], desired: Mapping[str, Resource], observed: Mapping[str, Observed]
) -> Iterator[Finding]:
    """Free addresses of a subnet against what new nodes take. Nodes that are there have theirs already."""
    needed: Counter[str] = Counter()
    first: dict[str, Action] = {}
    for action in machines:
        subnet = _subnet(action)
        each = instance_types.addresses(str(action.want.get("instanceType")), efa=action.want.get("interface") == "efa")
        if subnet is not None and each is not None:
            needed[subnet] += each * _more(action, observed)
            first.setdefault(subnet, action)
    for subnet, number in sorted(needed.items()):
        free = _free(subnet, desired, observed)
        if free is not None and number > free:
            name = desired[subnet].name if subnet in desired else subnet
            text = f"new nodes take up to {number} addresses, subnet {name} has {free} free"
            yield _error(first[subnet], "TooFewAddresses", f"{text}: put groups into other zones")


def _free(subnet: str, desired: Mapping[str, Resource], observed: Mapping[str, Observed]) -> int | None:
    seen, wanted = observed.get(subnet), desired.get(subnet)
    if seen is not None and seen.present:
        return int(seen.attrs["freeAddresses"]) if "freeAddresses" in seen.attrs else None
    prefix = wanted.initial.get("prefix") if wanted is not None else None
    return None if prefix is None else 2 ** (32 - int(prefix)) - RESERVED


def _pods(groups: Iterable[Resource], desired: Mapping[str, Resource]) -> Iterator[Finding]:
    """Pods of add-ons against what all nodes take together. Tainted nodes take daemons only."""
    addons = {resource.name for resource in desired.values() if resource.type == "eks.Addon"}
    chart = any(resource.type == "helm.Release" for resource in desired.values())
    once = sum(_ONCE.get(name, 0) for name in addons) + chart * _CHART_ONCE
    daemons = sum(_ON_EVERY_NODE.get(name, 0) for name in addons) + chart * _CHART_ON_EVERY_NODE
    room, nodes = 0, 0
    for group in groups:
        kind, count = str(group.spec.get("instanceType")), int(group.spec.get("count") or 0)
        most = instance_types.max_pods(kind)
        if most is None:
            return
        plugins = int(instance_types.is_accelerated(kind)) + int(bool(instance_types.efa_interfaces(kind)))
        nodes += count
        if not group.spec.get("taints"):
            room += count * max(0, most - daemons - chart * plugins)
    if nodes and once >= room:
        text = f"add-ons have {once} pods beside those on every node, all nodes together take {room} such"
        yield Finding(
            severity=Severity.WARNING,
            reason="TooManyPods",
            message=f"{text}: pods stay Pending; take a larger type or one more node for the system",
        )


def _device_plugins(groups: Iterable[Resource], desired: Mapping[str, Resource]) -> Iterator[Finding]:
    """A device plugin's list of types in the chart's values against the groups: a type in it that has no such device
    (its pods crash for ever), and a group whose devices nobody would announce."""
    wanted = list(groups)
    for release in (r for r in desired.values() if r.type == "helm.Release"):
        for path, types in _type_lists(release.spec.get("values"), ""):
            device = next((name for word, name in _DEVICES.items() if word in path.lower()), None)
            if device is None:
                continue
            for group in wanted:
                kind = str(group.spec.get("instanceType"))
                has = _has(device, kind)
                if has is False and kind in types:
                    yield _warning(group, "DevicePluginMismatch", f"{path} lists {kind}, which has no {device} device")
                if has and kind not in types:
                    text = f"{path} does not list {kind}: its {device} devices are not announced"
                    yield _warning(group, "DevicePluginMismatch", text)


_DEVICES = {"efa": "EFA", "neuron": "Neuron", "nvidia": "GPU", "gpu": "GPU"}


def _has(device: str, kind: str) -> bool | None:
    if device == "EFA":
        interfaces = instance_types.efa_interfaces(kind)
        return None if interfaces is None else interfaces > 0
    return instance_types.is_accelerated(kind) and kind.startswith("ml.trn") == (device == "Neuron")


def _type_lists(value: JsonValue, path: str) -> Iterator[tuple[str, frozenset[str]]]:
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, Any]", value).items():
            yield from _type_lists(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        names = frozenset(str(item) for item in items if isinstance(item, str) and item.startswith("ml."))
        if names:
            yield path, names
        for inner in items:
            yield from _type_lists(inner, path)


# Reading actions -----------------------------------------------------------------------------------------------------


def _more(action: Action, observed: Mapping[str, Observed]) -> int:
    """Nodes that the action adds."""
    seen = observed.get(action.key)
    there = int(seen.attrs.get("current") or 0) if seen is not None and seen.present else 0
    return max(0, int(action.want.get("count") or 0) - there)


def _subnet(action: Action) -> str | None:
    subnets: list[Any] = action.want.get("subnets") or []
    first = subnets[0] if subnets else None
    return first.key if isinstance(first, Ref) else None


def _zone(action: Action, desired: Mapping[str, Resource], observed: Mapping[str, Observed]) -> str | None:
    """The zone's id, as far as anybody knows it."""
    subnet = _subnet(action)
    seen, wanted = observed.get(subnet or ""), desired.get(subnet or "")
    if seen is not None and seen.present:
        return str(seen.attrs.get("zoneId")) or None
    place = wanted.initial.get("zone") if wanted is not None else None
    if not isinstance(place, Ref):
        return None
    zones = observed.get(place.key)
    attrs: JsonObject = zones.attrs if zones is not None and zones.present else {}
    name = attrs.get(place.attr)
    return None if name is None else attrs.get(f"id:{name}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _error(about: Action | Resource, reason: str, message: str) -> Finding:
    text = f"{about.name}: {message}"
    return Finding(severity=Severity.ERROR, reason=reason, message=text, source=about.source, key=about.key)


def _warning(about: Action | Resource, reason: str, message: str) -> Finding:
    text = f"{about.name}: {message}"
    return Finding(severity=Severity.WARNING, reason=reason, message=text, source=about.source, key=about.key)
