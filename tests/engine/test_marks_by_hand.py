"""Somebody takes our marks off, by hand and past the engine, from what we made: it is known by its id from
the journal, nothing is made twice, and the plan is the marks and nothing else. What took its place meanwhile is not
ours, whatever it is called."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from schemas.journal import Condition
from schemas.plan import Plan, Verb
from tests.engine_support import STORAGE, Sandbox, Site, group_yaml, make_site
from tests.waiting import until

pytestmark = pytest.mark.behaviour("Product: what we made is known by its id when its mark was taken off")

OURS = ("instantstart:cluster", "instantstart:key", "instantstart:op")
VOLUME = Gvk("v1", "PersistentVolume")
CLAIM = Gvk("v1", "PersistentVolumeClaim")
SECRET = Gvk("v1", "Secret")
LABEL = "instantstart.dev/cluster"


@pytest.fixture(scope="module")
def site(
    engine_cloud: Sandbox, chart: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """A cluster that is Ready. Each test leaves it so."""
    with pytest.MonkeyPatch.context() as patch:
        made = make_site(engine_cloud, chart, tmp_path_factory.mktemp("marks"), patch)
        status = made.applied("a cluster", cluster=made.cluster_yaml(), groups=group_yaml("system"), storage=STORAGE)
        assert status.condition is Condition.READY, (status.reason, status.msg)
        yield made
        made.close()


def seen(site: Site) -> tuple[Plan, dict[str, str]]:
    """The plan of now; key → identity of all that is seen of the cluster."""
    scope = site.engine.observe("prod")
    assert scope.plan is not None
    return scope.plan, {key: one.identity for key, one in scope.observed.items() if one.present and one.identity}


def kube(site: Site) -> KubeCluster:
    scope = site.engine.observe("prod")
    assert scope.world is not None
    return scope.world.kube()


# By hand -------------------------------------------------------------------------------------------------------------


def _ids(site: Site) -> dict[str, str]:
    return {key: str(id_) for key, id_ in site.status.refs.items()}


def _off_ec2(key: str) -> Callable[[Site], None]:
    def off(site: Site) -> None:
        site.client("ec2").delete_tags(Resources=[_ids(site)[key]], Tags=[{"Key": name} for name in OURS])

    return off


def _off_eks(site: Site) -> None:
    eks = site.client("eks")
    eks.untag_resource(resourceArn=eks.describe_cluster(name="prod")["cluster"]["arn"], tagKeys=list(OURS))


def _off_hyperpod(site: Site) -> None:
    site.client("sagemaker").delete_tags(ResourceArn=site.hyperpod()["ClusterArn"], TagKeys=list(OURS))


def _role(site: Site) -> str:
    seen = site.engine.observe("prod").observed["iam.Role/prod/execution"]
    return seen.name


def _off_role(site: Site) -> None:
    site.client("iam").untag_role(RoleName=_role(site), TagKeys=list(OURS))


def _off_bucket(site: Site) -> None:
    site.client("s3").delete_bucket_tagging(Bucket=_ids(site)["s3.Bucket/prod/lifecycle"])


def _off_claim(site: Site) -> None:
    path = "/metadata/labels/" + LABEL.replace("/", "~1")
    kube(site).patch_json(CLAIM, "default", "shared", [{"op": "remove", "path": path}], op="by-hand")


def _off_release(site: Site) -> None:
    path = "/metadata/labels/" + LABEL.replace("/", "~1")
    cluster = kube(site)
    for secret in cluster.list(SECRET, "kube-system", f"owner=helm,{LABEL}=prod"):
        name = secret["metadata"]["name"]
        cluster.patch_json(SECRET, "kube-system", name, [{"op": "remove", "path": path}], op="by-hand")


TAKEN_OFF: dict[str, Callable[[Site], None]] = {
    "ec2.Vpc/prod": _off_ec2("ec2.Vpc/prod"),
    "ec2.Subnet/prod/private-1": _off_ec2("ec2.Subnet/prod/private-1"),
    "ec2.SecurityGroup/prod/nodes": _off_ec2("ec2.SecurityGroup/prod/nodes"),
    "ec2.NatGateway/prod": _off_ec2("ec2.NatGateway/prod"),
    "eks.Cluster/prod": _off_eks,
    "hyperpod.Cluster/prod": _off_hyperpod,
    "iam.Role/prod/execution": _off_role,
    "s3.Bucket/prod/lifecycle": _off_bucket,
    "Storage/prod/shared": _off_claim,
    "helm.Release/prod/hyperpod-dependencies": _off_release,
}


def marked_again(site: Site, keys: set[str]) -> None:
    """The plan is their marks; done, everything is what it was, and only marks were sent."""
    (plan, before), sent = seen(site), len(site.mutations())
    assert {(action.verb, action.key) for action in plan.actions} == {(Verb.MARK, key) for key in keys}
    assert (plan.refusals, plan.unknown) == ((), ())
    assert all(key not in keys for key in (thing.key for thing in plan.unmanaged))
    first = len(site.lines)
    site.idle(1)
    status = site.settle()
    assert status.condition is Condition.READY, (status.reason, status.msg)
    after, now = seen(site)
    assert (after.actions, now) == ((), before), "the same things, none beside them"
    intents = [line for line in site.lines[first:] if line.get("phase") == "intent"]
    assert {line["key"] for line in intents} == keys
    assert {line["verb"] for line in intents} == {"mark"}
    made = [one["operation"] for one in site.mutations()[sent:] if one["operation"].startswith(("Create", "Delete"))]
    assert [name for name in made if name != "CreateTags"] == []


@pytest.mark.parametrize("key", TAKEN_OFF)
def test_the_mark_of_one_thing_is_taken_off(site: Site, key: str) -> None:
    TAKEN_OFF[key](site)
    marked_again(site, {key})


def test_all_of_them_at_once_and_the_process_is_a_new_one(site: Site) -> None:
    """All that is remembered is the journal."""
    _, before = seen(site)
    for take_off in TAKEN_OFF.values():
        take_off(site)
    site.restart()
    site.idle(1)
    site.settle()
    status = site.status
    assert status.condition is Condition.READY, (status.reason, status.msg)
    after, now = seen(site)
    assert (after.actions, now) == ((), before), "the same things, none beside them"
    ec2, mine = site.client("ec2"), [{"Name": "tag:instantstart:cluster", "Values": ["prod"]}]
    assert len(ec2.describe_vpcs(Filters=mine)["Vpcs"]) == 1
    assert len(site.client("sagemaker").list_clusters()["ClusterSummaries"]) == 1


# Another one in its place --------------------------------------------------------------------------------------------


def test_a_role_of_that_name_that_somebody_else_made(site: Site) -> None:
    """The ARN is the same, and it is another role: it is not marked, not changed and not deleted, and it is told."""
    iam, name = site.client("iam"), _role(site)
    trust = iam.get_role(RoleName=name)["Role"]["AssumeRolePolicyDocument"]
    path = iam.get_role(RoleName=name)["Role"]["Path"]
    inline = {
        one: iam.get_role_policy(RoleName=name, PolicyName=one)["PolicyDocument"]
        for one in iam.list_role_policies(RoleName=name)["PolicyNames"]
    }
    managed = [one["PolicyArn"] for one in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]]
    _delete_role(iam, name)
    iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=json.dumps(trust))
    foreign = iam.get_role(RoleName=name)["Role"]["RoleId"]
    sent = len(site.mutations())
    site.idle(3)
    told = [stage.msg for stage in site.status.stages.values() if stage.reason == "NotOurs"]
    assert len(told) == 1 and name in told[0] and "not ours" in told[0], site.status
    assert site.status.condition is Condition.STALLED
    assert all(action.key != "iam.Role/prod/execution" for action in seen(site)[0].actions)
    assert iam.get_role(RoleName=name)["Role"]["RoleId"] == foreign
    assert "Tags" not in iam.get_role(RoleName=name)["Role"] or iam.get_role(RoleName=name)["Role"]["Tags"] == []
    assert site.mutations()[sent:] == [], "nothing was sent"

    _delete_role(iam, name)
    site.idle(1)
    status = site.settle(Condition.READY)
    ours = iam.get_role(RoleName=name)["Role"]
    assert ours["RoleId"] != foreign and status.refs["iam.Role/prod/execution"] == ours["RoleId"]
    assert set(inline) == set(iam.list_role_policies(RoleName=name)["PolicyNames"])
    assert managed == [one["PolicyArn"] for one in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]]


def _delete_role(iam: Any, name: str) -> None:
    for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=name, PolicyArn=policy["PolicyArn"])
    for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=name, PolicyName=policy)
    iam.delete_role(RoleName=name)


def test_a_thing_without_its_mark_that_is_called_something_else_now(site: Site) -> None:
    """A name is no mark: what we made is known by its id under any Name, and a foreign VPC under ours is nobody's."""
    ec2 = site.client("ec2")
    vpc = _ids(site)["ec2.Vpc/prod"]
    name = next(t["Value"] for t in ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["Tags"] if t["Key"] == "Name")
    TAKEN_OFF["ec2.Vpc/prod"](site)
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "Name", "Value": "somebody's"}])
    foreign = ec2.create_vpc(CidrBlock="10.98.0.0/16")["Vpc"]["VpcId"]
    ec2.create_tags(Resources=[foreign], Tags=[{"Key": "Name", "Value": name}])
    keys = {action.key for action in seen(site)[0].actions}
    assert keys == {"ec2.Vpc/prod"}
    site.idle()
    assert site.settle().condition is Condition.READY
    tags = {one["VpcId"]: one.get("Tags", []) for one in ec2.describe_vpcs(VpcIds=[vpc, foreign])["Vpcs"]}
    assert {"Key": "instantstart:key", "Value": "ec2.Vpc/prod"} in tags[vpc]
    assert tags[foreign] == [{"Key": "Name", "Value": name}], "not touched"
    ec2.delete_vpc(VpcId=foreign)


def test_a_volume_of_that_name_that_somebody_else_made(site: Site) -> None:
    """By its uid: told as not ours, and not written to."""
    cluster = kube(site)
    volume = next(v for v in cluster.list(VOLUME) if v["spec"]["claimRef"]["name"] == "shared")
    name = volume["metadata"]["name"]
    cluster.delete(CLAIM, "default", "shared", op="by-hand")
    cluster.delete(VOLUME, None, name, op="by-hand")
    until(lambda: name not in {one["metadata"]["name"] for one in cluster.list(VOLUME)})
    foreign = {
        **volume,
        "metadata": {"name": name},
        "spec": {key: value for key, value in volume["spec"].items() if key != "claimRef"},
    }
    foreign.pop("status", None)
    cluster.create(foreign, op="by-hand")
    uid = cluster.get(VOLUME, None, name)["metadata"]["uid"]
    site.idle(3)
    told = [stage.msg for stage in site.status.stages.values() if stage.reason == "NotOurs"]
    assert told and "not ours" in told[0], site.status
    now = cluster.get(VOLUME, None, name)["metadata"]
    assert (now["uid"], now.get("labels")) == (uid, None)
    cluster.delete(VOLUME, None, name, op="by-hand")
    site.idle(1)
    assert site.settle(Condition.READY).condition is Condition.READY
    ours = cluster.get(VOLUME, None, name)["metadata"]
    assert (ours["labels"][LABEL], site.status.refs["Storage/prod/shared"]) == ("prod", ours["uid"])
