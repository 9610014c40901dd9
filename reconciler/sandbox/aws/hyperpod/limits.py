"""Quotas of a request, and pages of an answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

from reconciler.sandbox.aws import quotas
from reconciler.sandbox.aws.calls import Call, Json, part
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.hyperpod.records import HyperPodCluster, invalid
from reconciler.sandbox.aws.world import World

_PAGE = 100


def check(world: World, call: Call, cluster: HyperPodCluster | None, groups: list[Json]) -> None:
    """Refuse what would lift the account's targets over a quota."""
    wanted: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    replaced = {str(group["InstanceGroupName"]) for group in groups}
    for other in world.hyperpod.get((call.account, call.region), {}).values():
        for group in other.groups.values():
            name = quotas.usage_name(group.types[0], spot=group.spot)
            wanted[name] += 0 if other is cluster and group.name in replaced else group.target
            asked[name] -= group.target if other is cluster and group.name in replaced else 0
    in_use = Counter(wanted)
    for spec in groups:
        kind = spec.get("InstanceType") or spec["InstanceRequirements"]["InstanceTypes"][0]
        name = quotas.usage_name(kind, spot="Spot" in (part(spec, "CapacityRequirements")))
        wanted[name] += int(spec["InstanceCount"])
        asked[name] += int(spec["InstanceCount"])
    for name, count in wanted.items():
        limit = world.quotas.value(call.account, call.region, name)
        if count > limit and asked[name] > 0:
            raise _exceeded(name, limit, in_use[name], asked[name])
    total = world.quotas.value(call.account, call.region, quotas.TOTAL)
    if sum(wanted.values()) > total and sum(asked.values()) > 0:
        raise _exceeded(quotas.TOTAL, total, sum(in_use.values()), sum(asked.values()))


def paged(items: list[Json], member: str, params: Json) -> Json:
    """Pages of 1..100 items; the token is a position, as opaque as the real one to whoever obeys the rules."""
    size = int(params.get("MaxResults") or _PAGE)
    start = _position(params.get("NextToken"))
    answer: Json = {member: items[start : start + size]}
    if start + size < len(items):
        answer["NextToken"] = f"page-{start + size}"
    return answer


def _position(token: Any) -> int:
    if not token:
        return 0
    number = str(token).removeprefix("page-")
    if not number.isdigit():
        raise invalid("Invalid pagination token.")
    return int(number)


def _exceeded(name: str, limit: int, current: int, delta: int) -> AwsError:
    return AwsError(
        "ResourceLimitExceeded",
        f"The account-level service limit '{name}' is {limit} Instances, with current utilization of {current} "
        f"Instances and a request delta of {delta} Instances. Please use Service Quotas to request an increase.",
    )
