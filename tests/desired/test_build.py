"""Documents to resources: the sample cluster as golden files, and the rules that hold for every cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.desired.build import Desired, build
from reconciler.desired.names import Names, type_of
from reconciler.plan.make import PlanInput, make
from reconciler.plan.registry import RULES
from schemas.documents.load import load_cluster
from schemas.documents.records import SourceFile
from schemas.plan import Plan
from schemas.resource import STAGES, Health, Mark, Observed, Presence, absent, refs_in, resolve
from tests.golden import check

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
SCRIPT = b"#!/bin/bash\necho hello\n"


def desired(extra: dict[str, str] | None = None, replace: tuple[str, str] | None = None) -> Desired:
    """The sample cluster `demo`, with files added and one text replaced."""
    files = {
        str(path.relative_to(ROOT)): path.read_text()
        for path in sorted((ROOT / "clusters/demo").rglob("*"))
        if path.is_file()
    }
    files.update({f"clusters/demo/{name}": text for name, text in (extra or {}).items()})
    if replace is not None:
        files = {name: text.replace(*replace) for name, text in files.items()}
    loaded = load_cluster("demo", [SourceFile(path=n, data=t.encode()) for n, t in files.items()])
    assert loaded.problems == ()
    return build(loaded, SCRIPT)


def plan_of(made: Desired, observed: dict[str, Observed] | None = None) -> Plan:
    seen = {key: absent(resource) for key, resource in made.resources.items()}
    seen.update(observed or {})
    return make(PlanInput(cluster="demo", revision=None, desired=made.resources, observed=seen))


def as_text(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, default=lambda v: v.as_json()) + "\n"


def test_resources_of_the_sample_cluster() -> None:
    made = desired()
    shown = {
        key: {
            "name": r.name,
            "stage": r.stage.value,
            "lane": r.lane,
            "spec": r.spec,
            "initial": r.initial,
            "needs": list(r.needs()),
            "source": str(r.source),
        }
        for key, r in made.resources.items()
    }
    check(as_text(shown), GOLDEN / "demo.resources.json")


def test_first_plan_of_the_sample_cluster() -> None:
    lines = [f"{a.stage.value:14} {a.verb.value:7} {a.key}" for a in plan_of(desired()).actions]
    check("\n".join(lines) + "\n", GOLDEN / "demo.plan.txt")


def test_manifests_of_the_sample_storage() -> None:
    made = desired().resources["Storage/demo/shared"].spec["manifests"]
    writer: Any = yaml
    text = writer.safe_dump_all([made[kind] for kind in sorted(made)], sort_keys=True)
    check(text, GOLDEN / "demo.storage.yaml")


def test_every_ref_points_at_a_resource_and_every_type_has_a_rule() -> None:
    made = desired()
    for resource in made.resources.values():
        assert resource.type in RULES
        assert type_of(resource.key) == resource.type
        for ref in refs_in({"s": resource.spec, "i": resource.initial}):
            assert ref.key in made.resources, f"{resource.key} refers to {ref.key}"
        for need in resource.needs():
            assert need in made.resources
        assert set(resource.spec) <= set(RULES[resource.type].fields) | set(), resource.key


def test_the_order_of_stages_follows_from_needs() -> None:
    """A resource of an earlier stage never needs one of a later stage."""
    made = desired()
    for resource in made.resources.values():
        for need in resource.needs():
            assert STAGES.index(made.resources[need].stage) <= STAGES.index(resource.stage), f"{resource.key}: {need}"


def test_the_same_documents_give_the_same_digests_in_any_order() -> None:
    made = desired()
    again = desired()
    mixed = dict(reversed(list(again.resources.items())))
    one = [a.digest for a in plan_of(made).actions]
    two = make(
        PlanInput(cluster="demo", revision=None, desired=mixed, observed={k: absent(r) for k, r in mixed.items()})
    )
    assert [a.digest for a in two.actions] == one


def world(made: Desired) -> dict[str, Observed]:
    """Everything there, as wanted."""
    seen: dict[str, Observed] = {}
    for _ in range(3):  # attributes of one feed the specs of others
        for key, r in made.resources.items():
            attrs = {name: f"{key}.{name}" for name in ("id", "arn", "issuer", "issuerHost", "name")}
            seen[key] = Observed(
                key=key, type=r.type, name=r.name, presence=Presence.PRESENT, mark=Mark.OURS, health=Health.HEALTHY,
                spec=resolve(r.spec, seen), attrs=attrs, identity=key,
            )  # fmt: skip
    return seen


def test_a_world_as_wanted_gives_an_empty_plan() -> None:
    made = desired()
    assert plan_of(made, world(made)).empty


@pytest.mark.parametrize(
    ("find", "put", "actions", "refusals", "reason"),
    [
        ("count: 2\n  # By id", "count: 5\n  # By id", ["hyperpod.InstanceGroup/demo/train"], [], "a count"),
        ("ml.g5.8xlarge", "ml.g5.16xlarge", [], ["hyperpod.InstanceGroup/demo/train"], "a type never changes"),
        ('kubernetesVersion: "1.33"', 'kubernetesVersion: "1.34"', ["eks.Cluster/demo"], [], "an upgrade"),
        ("nodeRecovery: Automatic", "nodeRecovery: None", ["hyperpod.Cluster/demo"], [], "node recovery"),
        ("vpcCidr: 10.192.0.0/16", "vpcCidr: 10.200.0.0/16", [], ["ec2.Vpc/demo"], "a network is for life"),
        ("deletionProtection: true", "deletionProtection: false", [], [], "protection is no resource"),
    ],
)
def test_one_change_in_a_document_is_one_change_in_the_plan(
    find: str, put: str, actions: list[str], refusals: list[str], reason: str
) -> None:
    before = desired()
    after = desired(replace=(find, put))
    made = make(
        PlanInput(
            cluster="demo", revision=None, desired=after.resources, previous=before.resources, observed=world(before)
        )
    )
    assert [a.key for a in made.actions] == actions, reason
    assert [r.key for r in made.refusals] == refusals, reason
    assert all(r.way_out for r in made.refusals)


def test_a_group_that_names_no_zone_gets_a_subnet_all_the_same() -> None:
    group = (
        "apiVersion: instantstart/v1\nkind: InstanceGroup\nmetadata: {name: free}\n"
        "spec: {instanceType: ml.m5.large, count: 1}\n"
    )
    made = desired({"free.yaml": group})
    assert "ec2.Subnet/demo/compute-1" in made.resources


def test_an_existing_vpc_is_used_not_owned() -> None:
    made = desired(replace=("vpcCidr: 10.192.0.0/16", "vpc: vpc-0a1b2c3d"))
    vpc = made.resources["ec2.Vpc/demo"]
    assert (vpc.reference, vpc.spec) == (True, {})
    assert "ec2.NatGateway/demo" not in made.resources
    assert "ec2.InternetGateway/demo" not in made.resources


def test_long_names_keep_within_the_limits_of_aws() -> None:
    names = Names(cluster="a" * 40, account="111122223333", region="ap-southeast-2")
    assert len(names.bucket) <= 63
    assert names.bucket.startswith("sagemaker-")
    assert len(names.role("control-plane")) <= 64


def test_eks_lives_in_two_zones_whatever_the_groups_want() -> None:
    """A20: with all groups in one zone, and with a VPC of others."""
    for replace in (None, ("vpcCidr: 10.192.0.0/16", "vpc: vpc-0a1b2c3d")):
        made = desired(replace=replace).resources
        subnets = [made[ref.key] for ref in made["eks.Cluster/demo"].spec["subnets"]]
        zones = {subnet.initial["zone"].attr for subnet in subnets}
        assert len(subnets) == len(zones) == 2
