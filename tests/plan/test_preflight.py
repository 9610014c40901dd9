"""Findings about the machines a plan asks for: offered, allowed, room for addresses and pods, devices."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.plan.make import PlanInput, make
from reconciler.plan.preflight import QUOTA_PER_CLUSTER, Facts, findings, quota_name
from schemas import instance_types
from schemas.plan import Finding, Severity
from schemas.resource import Health, Mark, Observed, Presence, Ref, Resource, Source, Stage, absent

ZONES = Ref("ec2.Zones/prod", "name:usw2-az2")
SUBNET = "ec2.Subnet/prod/compute-usw2-az2"
ADDONS = (
    "vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent", "cert-manager", "aws-mountpoint-s3-csi-driver"
)  # fmt: skip


def resource(key: str, spec: dict[str, Any], **more: Any) -> Resource:
    kind = key.split("/")[0]
    return Resource(
        key=key,
        type=kind,
        name=key.rsplit("/", 1)[-1],
        cluster="prod",
        stage=Stage.COMPUTE,
        lane="lane",
        spec=spec,
        source=Source("Cluster", "prod"),
        **more,
    )


def group(name: str, kind: str, count: int, **spec: Any) -> Resource:
    wanted: dict[str, Any] = {
        "instanceType": kind,
        "count": count,
        "subnets": [Ref(SUBNET)],
        "capacity": {"onDemand": {}},
        **spec,
    }
    return resource(f"hyperpod.InstanceGroup/prod/{name}", wanted)


def seen(key: str, **more: Any) -> Observed:
    return Observed(
        key=key,
        type=key.split("/")[0],
        name=key.rsplit("/", 1)[-1],
        presence=Presence.PRESENT,
        health=Health.HEALTHY,
        mark=Mark.OURS,
        **more,
    )


def found(*wanted: Resource, facts: Facts | None = None, observed: tuple[Observed, ...] = ()) -> list[Finding]:
    subnet = resource(SUBNET, {}, initial={"zone": ZONES, "prefix": 20})
    desired = {each.key: each for each in (subnet, *wanted)}
    zones = seen("ec2.Zones/prod", attrs={"name:usw2-az2": "us-west-2b", "id:us-west-2b": "usw2-az2"})
    world = {key: absent(each) for key, each in desired.items()}
    world |= {each.key: each for each in (zones, *observed)}
    plan = make(PlanInput(cluster="prod", revision=None, desired=desired, observed=world))
    return findings(plan, desired, world, facts or Facts())


def reasons(told: list[Finding]) -> list[tuple[Severity, str]]:
    return [(each.severity, each.reason) for each in told]


@pytest.mark.parametrize(
    ("reason", "offered", "told"),
    [
        ("the zone has it", {"usw2-az2"}, []),
        ("only another zone has it", {"usw2-az1"}, [(Severity.ERROR, "TypeNotOffered")]),
        ("EC2 lists it nowhere: perhaps it is new", set[str](), [(Severity.WARNING, "TypeNotOffered")]),
    ],
)
def test_types_are_asked_for_where_they_are_offered(reason: str, offered: set[str], told: list[Any]) -> None:
    """A17: before a cluster ends in a rollback for want of capacity."""
    facts = Facts(zones={"ml.m5.2xlarge": frozenset(offered)})
    assert reasons(found(group("a", "ml.m5.2xlarge", 2), facts=facts)) == told, reason


@pytest.mark.parametrize(
    ("reason", "groups", "told"),
    [
        ("as many as allowed", [group("a", "ml.m5.large", 4)], []),
        ("two groups share a quota", [group("a", "ml.m5.large", 3), group("b", "ml.m5.large", 2)], ["QuotaTooSmall"]),
        ("spot has its own", [group("a", "ml.m5.large", 5, capacity={"spot": {}})], []),
        ("a training plan has its own", [group("a", "ml.m5.large", 5, capacity={"trainingPlan": {}})], []),
        ("no quota known, no claim", [group("a", "ml.c5.large", 6)], []),
        ("more than a cluster may have", [group("a", "ml.c5.large", 9)], ["QuotaTooSmall"]),
    ],
)
def test_quotas(reason: str, groups: list[Resource], told: list[str]) -> None:
    facts = Facts(quotas={"ml.m5.large for cluster usage": 4, QUOTA_PER_CLUSTER: 8})
    assert [each.reason for each in found(*groups, facts=facts) if each.severity is Severity.ERROR] == told, reason


@pytest.mark.parametrize(
    ("reason", "wanted", "free", "told"),
    [
        ("81 addresses each in a /24", group("a", "ml.p5.48xlarge", 60, interface="efa"), 251, True),
        ("EFA alone carries no address", group("a", "ml.p5.48xlarge", 5, interface="efa-only"), 251, False),
        ("the same with addresses", group("a", "ml.p5.48xlarge", 5, interface="efa"), 251, True),
        ("a subnet that is not there yet is a /20", group("a", "ml.p5.48xlarge", 50, interface="efa"), None, False),
        ("even a /20 ends", group("a", "ml.p5.48xlarge", 51, interface="efa"), None, True),
        ("not known, not claimed", group("a", "ml.g4dn.xlarge", 9999), None, False),
    ],
)
def test_the_address_budget_of_a_subnet(reason: str, wanted: Resource, free: int | None, told: bool) -> None:
    """A20: summed over all groups of the subnet, new nodes only."""
    subnet = (
        () if free is None else (seen(SUBNET, attrs={"id": "subnet-1", "freeAddresses": free, "zoneId": "usw2-az2"}),)
    )
    assert ("TooFewAddresses" in [each.reason for each in found(wanted, observed=subnet)]) is told, reason


def test_nodes_that_are_there_have_their_addresses_already() -> None:
    """A20: and the groups of one subnet are added up."""
    subnet = seen(SUBNET, attrs={"id": "subnet-1", "freeAddresses": 251, "zoneId": "usw2-az2"})
    wanted = group("a", "ml.p5.48xlarge", 10, interface="efa")
    there = seen(wanted.key, spec={**wanted.spec, "count": 8, "subnets": []}, attrs={"current": 8, "target": 8})
    plain = group("b", "ml.m5.large", 9)
    assert found(wanted, observed=(subnet, there)) == []
    (both,) = found(wanted, plain, group("c", "ml.m5.large", 1), observed=(subnet,))
    assert "810" in both.message or "910" in both.message


@pytest.mark.parametrize(
    ("reason", "groups", "told"),
    [
        ("one small GPU node for all add-ons", [group("a", "ml.g5.xlarge", 1)], ["TooManyPods"]),
        ("two have room", [group("a", "ml.g5.xlarge", 2)], []),
        ("one large one has", [group("a", "ml.m5.4xlarge", 1)], []),
        ("nodes with taints take no add-ons", [group("a", "ml.m5.4xlarge", 4, taints=[{"key": "x"}])], ["TooManyPods"]),
        ("no node is no surprise", [group("a", "ml.m5.large", 0)], []),
        ("a type nobody counted", [group("a", "ml.g4dn.xlarge", 1)], []),
    ],
)
def test_pods_of_addons_against_what_the_nodes_take(reason: str, groups: list[Resource], told: list[str]) -> None:
    """A19"""
    addons = [resource(f"eks.Addon/prod/{name}", {}) for name in ADDONS]
    chart = resource("helm.Release/prod/hyperpod-dependencies", {"values": {}})
    assert [each.reason for each in found(*groups, *addons, chart)] == told, reason


EFA, GPU = "aws-efa-k8s-device-plugin", "nvidia-device-plugin"


@pytest.mark.parametrize(
    ("reason", "plugin", "types", "kind", "word"),
    [
        ("no EFA on that type", EFA, ["ml.g5.2xlarge"], "ml.g5.2xlarge", "no EFA"),
        ("no GPU on that type", GPU, ["ml.m5.large"], "ml.m5.large", "no GPU"),
        ("a chip is no GPU", GPU, ["ml.trn1.32xlarge"], "ml.trn1.32xlarge", "no GPU"),
        ("devices nobody announces", EFA, ["ml.p4d.24xlarge"], "ml.p5.48xlarge", "not announced"),
        ("both fit", EFA, ["ml.p5.48xlarge"], "ml.p5.48xlarge", None),
        ("listed but no group has it", EFA, ["ml.g5.2xlarge", "ml.p5.48xlarge"], "ml.p5.48xlarge", None),
        ("a list of something else", "other", ["ml.g5.2xlarge"], "ml.g5.2xlarge", None),
        ("no list at all", EFA, [], "ml.g5.2xlarge", None),
    ],
)
def test_device_plugins_against_types(reason: str, plugin: str, types: list[str], kind: str, word: str | None) -> None:
    """A04: the pair (plugin, type) is told at plan."""
    values = {plugin: {"supportedInstanceLabels": {"values": types}}}
    told = found(group("a", kind, 1), resource("helm.Release/prod/hyperpod-dependencies", {"values": values}))
    texts = [each.message for each in told if each.reason == "DevicePluginMismatch"]
    assert len(texts) == (word is not None), (reason, texts)
    assert word is None or (word in texts[0] and kind in texts[0])


@pytest.mark.parametrize(
    ("reason", "quota", "new_type", "told"),
    [
        ("room for both", 16, "ml.p5.48xlarge", [(Severity.WARNING, "SideBySide")]),
        ("it cannot fit", 12, "ml.p5.48xlarge", [(Severity.ERROR, "QuotaTooSmall")]),
        ("nobody knows", None, "ml.p5.48xlarge", [(Severity.WARNING, "SideBySide")]),
        ("another type has a quota of its own", 8, "ml.p4d.24xlarge", []),
    ],
)
def test_a_renamed_group_runs_beside_the_old_one(
    reason: str, quota: int | None, new_type: str, told: list[Any]
) -> None:
    """B16: the plan shows a create and a delete, and says what both need together."""
    facts = Facts(quotas={} if quota is None else {"ml.p5.48xlarge for cluster usage": quota})
    was = group("old", "ml.p5.48xlarge", 8)
    there = seen(was.key, spec={**was.spec, "subnets": []}, attrs={"current": 8, "target": 8})
    said = found(group("new", new_type, 8), facts=facts, observed=(there,))
    assert reasons(said) == told, reason
    assert all("old" in each.message and "16" in each.message for each in said)


def test_two_groups_that_share_a_training_plan_for_a_while() -> None:
    """B16: its machines are counted by nobody's quota, and the old group has them."""
    arn = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-may"
    reserved: dict[str, Any] = {"capacity": {"trainingPlan": {}}, "trainingPlan": arn}
    was = group("old", "ml.p5.48xlarge", 8, **reserved)
    there = seen(was.key, spec={**was.spec, "subnets": []}, attrs={"current": 8, "target": 8})
    (said,) = found(group("new", "ml.p5.48xlarge", 8, **reserved), observed=(there,))
    assert (said.severity, said.reason) == (Severity.WARNING, "SideBySide")
    assert "room for 16 in training plan p5-may" in said.message and "delete old in a commit before" in said.message
    other = group("new", "ml.p5.48xlarge", 8, **reserved | {"trainingPlan": arn.replace("may", "june")})
    assert found(other, observed=(there,)) == []


def test_nothing_is_told_where_no_machine_is_asked_for() -> None:
    facts = Facts(zones={"ml.m5.2xlarge": frozenset({"usw2-az9"})}, quotas={"ml.m5.2xlarge for cluster usage": 0})
    wanted = group("a", "ml.m5.2xlarge", 2)
    there = seen(wanted.key, spec={**wanted.spec, "count": 5, "subnets": []}, attrs={"current": 5, "target": 5})
    assert found(wanted, facts=facts, observed=(there,)) == [], "a scale-down"


def test_every_type_has_numbers_that_make_sense() -> None:
    for name in instance_types.NAMES:
        pods, plain, efa = (
            instance_types.max_pods(name),
            instance_types.addresses(name, efa=False),
            instance_types.addresses(name, efa=True),
        )
        assert pods is None or 3 <= pods <= 49
        assert plain is None or efa is None or 0 < plain <= efa <= 81
    assert instance_types.addresses("ml.p5.48xlarge", efa=True) == 81
    assert quota_name({"instanceType": "ml.m5.large", "capacity": {"spot": {}}}) == "ml.m5.large for cluster spot usage"
