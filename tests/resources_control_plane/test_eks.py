"""EKS cluster, access entries and add-ons against the sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reconciler.live.kube.cluster import KubeCluster
from reconciler.resources.control_plane.access import AccessEntryHandler
from reconciler.resources.control_plane.addons import AddonHandler
from reconciler.resources.control_plane.clusters import ClusterHandler
from reconciler.resources.handler import Verdict
from schemas.errors import Refused
from schemas.journal import OpRecord, Phase
from schemas.plan import Plan, Verb
from schemas.resource import Health, Mark, Resource
from tests.resources_support import Place, operations, resource, trust

LONG = 6000.0  # simulated seconds
KEY = "eks.Cluster/prod"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
LANE = "eks/prod"


@pytest.fixture
def spec(place: Place) -> dict[str, Any]:
    """What an EKS cluster needs, made by hand."""
    ec2 = place.sandbox.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"us-west-2{zone}")["Subnet"][
            "SubnetId"
        ]
        for n, zone in enumerate("ab")
    ]
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    made = place.sandbox.client("iam").create_role(RoleName="eks", AssumeRolePolicyDocument=trust("eks.amazonaws.com"))
    place.sandbox.pass_time(15)
    return {
        "version": "1.31",
        "endpoint": {"public": True, "private": True, "publicCidrs": ["0.0.0.0/0"]},
        "logging": ["api", "audit"],
        "authenticationMode": "API",
        "role": made["Role"]["Arn"],
        "subnets": list(reversed(subnets)),
        "securityGroups": [group],
    }


def cluster(spec: dict[str, Any], **change: Any) -> Resource:
    return resource(KEY, {**spec, **change}, lane=LANE)


def addon(name: str, **spec: Any) -> Resource:
    return resource(f"eks.Addon/prod/{name}", spec, name=name, lane=LANE, after=(KEY,))


def entry(person: str, **policies: Any) -> Resource:
    spec = {"principal": person, "policies": {VIEW: policies}}
    return resource("eks.AccessEntry/prod/researchers", spec, name=person, lane=LANE, after=(KEY,))


def test_tags_of_a_live_cluster_follow_the_document(place: Place, spec: dict[str, Any]) -> None:
    """A32: by TagResource and UntagResource, with what others tagged left alone."""
    handler = ClusterHandler()
    place.want(cluster(spec, tags={"cost": "a", "team": "t"}))
    place.converge(handler)
    eks = place.sandbox.client("eks")
    arn = place.observed[KEY].attrs["arn"]
    eks.tag_resource(resourceArn=arn, tags={"scanner": "seen"})
    place.want(cluster(spec, tags={"cost": "b"}))
    before = len(operations(place, "TagResource", "UntagResource", "UpdateCluster"))
    assert place.converge(handler).empty
    calls = operations(place, "TagResource", "UntagResource", "UpdateCluster")[before:]
    assert list(calls) == ["TagResource", "UntagResource"]
    tags = eks.describe_cluster(name="prod")["cluster"]["tags"]
    assert {k: v for k, v in tags.items() if not k.startswith("instantstart:")} == {"cost": "b", "scanner": "seen"}


def test_creation_is_followed_until_it_serves(place: Place, spec: dict[str, Any]) -> None:
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    assert (call.call, call.cls, call.closes_on_reply) == ("eks:CreateCluster", "token", False)
    op = place.send(handler, call)
    seen = place.look(handler)[KEY]
    assert (seen.health, seen.ready, seen.reason, seen.op) == (Health.PROGRESSING, False, "EksCreating", op.op)
    assert "endpoint" not in seen.attrs
    assert place.settle(handler, op).verdict is Verdict.PENDING
    assert place.settle(handler, op.model_copy(update={"phase": Phase.INTENT})).verdict is Verdict.PENDING
    stranger = op.model_copy(update={"op": "01OTHER", "phase": Phase.INTENT})
    assert place.settle(handler, stranger).verdict is Verdict.TAKEN, "another op's cluster has the name"
    assert place.converge(handler).empty
    assert place.settle(handler, op).verdict is Verdict.HAPPENED
    attrs = place.observed[KEY].attrs
    assert attrs["endpoint"].startswith("https://") and attrs["issuer"] == f"https://{attrs['issuerHost']}"


def test_the_same_token_does_not_make_two(place: Place, spec: dict[str, Any]) -> None:
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    for _ in range(2):
        handler.send(place.world(), call, "01SAMEOP")
    assert place.sandbox.client("eks").list_clusters()["clusters"] == ["prod"]


def test_three_kinds_of_change_go_one_after_another(place: Place, spec: dict[str, Any]) -> None:
    """E12: logging, endpoint and two minor versions in one commit; each step is followed by its update id."""
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.converge(handler)
    before = len(operations(place))
    endpoint = {"public": False, "private": True}
    place.want(cluster(spec, version="1.33", logging=["api"], endpoint=endpoint))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    assert call.say == "Update EKS cluster prod: endpoint, then logging, version"
    assert place.converge(handler).empty
    sent = [name for name in operations(place)[before:] if name.startswith("Update")]
    assert sent == ["UpdateClusterConfig", "UpdateClusterConfig", "UpdateClusterVersion", "UpdateClusterVersion"]
    assert all(op.ref and op.ref["update"] for op in place.ops if op.verb == Verb.UPDATE)


def test_an_update_during_another_is_not_sent(
    place: Place, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """E10: it waits, and a conflict that happens all the same is "later", not a failure."""
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.converge(handler)
    place.want(cluster(spec, logging=["api"]))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    world = place.sandbox.cloud.world
    monkeypatch.setattr(world, "pace", replace(world.pace, eks_update=LONG))  # it must not end while we look
    op = place.send(handler, call)
    with pytest.raises(Refused):
        handler.send(place.world(), call, "01SECOND")
    place.look(handler)
    assert place.observed[KEY].ready, "others may build on it meanwhile"
    assert handler.calls(place.world(), place.plan().actions) == []
    assert place.settle(handler, op).verdict is Verdict.PENDING
    lost = op.model_copy(update={"ref": None, "phase": Phase.INTENT})
    assert place.settle(handler, lost).verdict is Verdict.PENDING, "an update under way may be the lost one"
    place.sandbox.pass_time(LONG)
    assert place.converge(handler).empty
    assert place.settle(handler, lost).verdict is Verdict.HAPPENED


def test_an_update_that_failed_says_the_root_reason_and_deletes_nothing(place: Place, spec: dict[str, Any]) -> None:
    """A34, E13."""
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.converge(handler)
    place.want(cluster(spec, logging=["api"]))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    op = place.send(handler, call)
    assert op.ref is not None
    update = place.sandbox.cloud.world.eks[place.sandbox.account, "us-west-2"]["prod"].updates[op.ref["update"]]
    # The sandbox has no failing updates of its own: its record is told to have failed.
    update.status = "Failed"
    place.look(handler)
    settled = place.settle(handler, op)
    assert settled.verdict is Verdict.FAILED
    assert Verb.DELETE not in {a.verb for a in place.plan().actions}


def test_a_role_that_is_too_young_is_later_an_old_one_is_an_error(place: Place, spec: dict[str, Any]) -> None:
    """E07."""
    bad = "arn:aws:iam::111122223333:role/not-there"
    handler = ClusterHandler()
    place.want(cluster(spec, role=bad))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    place.roles[bad] = place.clock.now().timestamp() + 3600  # the clock runs fast here
    with pytest.raises(Refused) as caught:
        handler.send(place.world(), call, "01YOUNG")
    assert caught.value.reason == "RoleNotYetUsable"
    place.roles[bad] = place.clock.now().timestamp() - 500_000
    with pytest.raises(Exception, match="role") as old:
        handler.send(place.world(), call, "01OLD")
    assert not isinstance(old.value, Refused)


def test_deleting_is_followed_until_it_is_gone(place: Place, spec: dict[str, Any]) -> None:
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.converge(handler)
    place.want()
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    op = place.send(handler, call)
    place.look(handler)
    assert place.settle(handler, op).verdict is Verdict.PENDING
    assert place.settle(handler, op.model_copy(update={"phase": Phase.INTENT})).verdict is Verdict.PENDING
    place.converge(handler, until=lambda plan: not place.observed[KEY].present)
    assert place.settle(handler, op).verdict is Verdict.HAPPENED


def test_a_cluster_that_was_there_is_adopted_and_released(place: Place, spec: dict[str, Any]) -> None:
    eks = place.sandbox.client("eks")
    eks.create_cluster(
        name="old",
        roleArn=spec["role"],
        version="1.33",
        accessConfig={"authenticationMode": "API"},
        resourcesVpcConfig={"subnetIds": spec["subnets"]},
    )
    place.sandbox.until(lambda: eks.describe_cluster(name="old")["cluster"]["status"], lambda s: s == "ACTIVE")
    place.want(resource(KEY, {"version": "1.33"}, name="old", adopt="old", lane=LANE))
    handler = ClusterHandler()
    assert place.converge(handler).empty
    assert place.observed[KEY].mark is Mark.ADOPTED
    place.want()
    place.converge(handler, until=lambda plan: plan.empty)
    described = eks.describe_cluster(name="old")["cluster"]
    assert described["status"] == "ACTIVE" and described["tags"] == {}


def test_access_is_given_changed_and_taken(place: Place, spec: dict[str, Any]) -> None:
    """Entries that we did not mark are shown as foreign and stay."""
    handlers = (ClusterHandler(), AccessEntryHandler())
    iam = place.sandbox.client("iam")
    made = iam.create_role(RoleName="Researchers", AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
    person = made["Role"]["Arn"]
    place.want(cluster(spec), entry(person, type="namespace", namespaces=["b", "a"]))
    assert place.converge(*handlers).empty
    foreign = [s for s in place.observed.values() if s.type == "eks.AccessEntry" and s.mark is Mark.FOREIGN]
    assert len(foreign) == 1 and "left alone" in foreign[0].message, "the creator's own entry"
    place.want(cluster(spec), entry(person, type="cluster"))
    assert place.converge(*handlers).empty
    place.want(cluster(spec))
    place.converge(*handlers, until=lambda plan: plan.empty)
    left = place.sandbox.client("eks").list_access_entries(clusterName="prod")["accessEntries"]
    assert left == [foreign[0].name]


def test_addons_wait_for_the_first_node_and_hold_nothing_back(place: Place, spec: dict[str, Any]) -> None:
    handlers = (ClusterHandler(), AddonHandler())
    place.want(cluster(spec), addon("coredns"), addon("vpc-cni"))
    place.converge(*handlers, until=lambda plan: plan.empty and place.observed["eks.Addon/prod/coredns"].present)
    place.sandbox.pass_time(600)
    seen = place.look(*handlers)["eks.Addon/prod/coredns"]
    assert (seen.health, seen.ready, seen.reason, seen.mark) == (
        Health.PROGRESSING,
        True,
        "WaitingForNodes",
        Mark.OURS,
    )


def conflicts(place: Place) -> str:
    """How the next creation of coredns would resolve conflicts."""
    handler = AddonHandler()
    place.look(ClusterHandler(), handler)
    (call,) = handler.calls(place.world(), [a for a in place.plan().actions if a.type == "eks.Addon"])
    return str(call.params["steps"][0].params["resolveConflicts"])


def test_an_installation_by_hand_is_not_overwritten(place: Place, spec: dict[str, Any]) -> None:
    """B49: create and update modes are kept apart, and EKS reports the fields that conflict."""
    place.want(cluster(spec))
    place.converge(ClusterHandler())
    place.want(cluster(spec), addon("coredns"))
    assert conflicts(place) == "OVERWRITE", "nothing stands"
    pods = {"metadata": {"labels": {"app": "dns"}}, "spec": {"containers": [{"name": "dns", "image": "dns:1"}]}}
    by_hand = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"app": "dns"}}, "template": pods},
    }
    place.real_kube().create(by_hand, op="01BYHAND")
    assert conflicts(place) == "NONE", "a hand-made one stands"

    def unreachable() -> KubeCluster:
        raise Refused("not reachable", reason="NotConnected")

    place.kube = unreachable
    assert conflicts(place) == "NONE", "nobody can tell"


def test_values_of_an_addon_are_compared_as_objects_and_overlaid(place: Place, spec: dict[str, Any]) -> None:
    handlers = (ClusterHandler(), AddonHandler())
    place.want(cluster(spec), addon("vpc-cni", values={"env": {"A": "1", "B": "2"}}))

    def there(plan: Plan) -> bool:
        return plan.empty and place.observed["eks.Addon/prod/vpc-cni"].health is Health.HEALTHY

    place.converge(*handlers, until=there)
    eks = place.sandbox.client("eks")
    eks.update_addon(
        clusterName="prod", addonName="vpc-cni", configurationValues='env:\n  B: "2"\n  A: "1"\n  C: "3"\n'
    )
    place.sandbox.until(
        lambda: eks.describe_addon(clusterName="prod", addonName="vpc-cni")["addon"]["status"], lambda s: s == "ACTIVE"
    )
    place.look(*handlers)
    assert place.plan().empty, "another spelling, and a value that somebody else added"
    place.want(cluster(spec), addon("vpc-cni", values={"env": {"A": "9", "B": "2"}}))
    place.converge(*handlers, until=there)
    assert place.observed["eks.Addon/prod/vpc-cni"].spec["values"] == {"env": {"A": "9", "B": "2", "C": "3"}}
    place.want(cluster(spec), addon("vpc-cni", values={"env": {"A": "8"}}))
    place.converge(*handlers, until=there)
    left = place.observed["eks.Addon/prod/vpc-cni"].spec["values"]
    assert left == {"env": {"A": "8", "C": "3"}}, "what git wrote and gave up goes, what others wrote stays"


def test_an_addon_of_somebody_else_is_foreign_until_adopted(place: Place, spec: dict[str, Any]) -> None:
    handlers = (ClusterHandler(), AddonHandler())
    place.want(cluster(spec))
    place.converge(*handlers)
    place.sandbox.client("eks").create_addon(clusterName="prod", addonName="kube-proxy")
    seen = place.look(*handlers)["eks.Addon/prod/kube-proxy"]
    assert seen.mark is Mark.FOREIGN and "somebody else" in seen.message
    place.want(cluster(spec), addon("kube-proxy"))
    place.look(*handlers)
    assert [r.reason for r in place.plan().refusals] == ["NotOurs"]


def test_no_cluster_no_addons_and_an_unseen_cluster_is_no_answer(place: Place) -> None:
    """Unknown is not absent."""
    handler = AddonHandler()
    place.want(addon("coredns"))
    place.look(ClusterHandler(), handler)
    assert not place.observed["eks.Addon/prod/coredns"].present
    (seen,) = handler.look(place.world(), list(place.desired.values()))
    assert seen.presence.value in ("absent", "unknown")
    place.observed = {}
    (seen,) = handler.look(place.world(), list(place.desired.values()))
    assert (seen.presence.value, seen.reason) == ("unknown", "ClusterUnknown")


def test_an_op_nobody_knows_settles_by_looking(place: Place, spec: dict[str, Any]) -> None:
    """The reply of a creation was lost and nothing came of it: absent, so that it may be sent again."""
    handler = ClusterHandler()
    place.want(cluster(spec))
    place.look(handler)
    lost = OpRecord.model_validate(
        {"op": "01LOST", "phase": Phase.INTENT, "key": KEY, "verb": "create", "lane": LANE, "class": "token"}
    )
    assert place.settle(handler, lost).verdict is Verdict.ABSENT
