"""HyperPod from nothing to gone, over HTTP, with the real plan."""

from __future__ import annotations

import pytest

from reconciler.live.errors import CallRejected
from reconciler.resources.hyperpod.handler import HyperPod
from schemas.errors import LostReply
from schemas.plan import Verb
from schemas.resource import Health, Mark
from tests.resources_hyperpod.conftest import Ground
from tests.resources_support import operations

pytestmark = pytest.mark.sandbox
CHANGES = ("Create", "Update", "Delete", "Batch", "AddTags")


def of_hyperpod(ground: Ground) -> list[str]:
    return [name for name in operations(ground.place, *CHANGES) if "Cluster" in name][1:]  # the first makes EKS


def test_a_cluster_comes_grows_shrinks_and_goes(ground: Ground) -> None:
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("a", 1), ground.instances("b", 2))
    place.converge(handler)
    assert of_hyperpod(ground) == ["CreateCluster"]
    seen = place.observed["hyperpod.InstanceGroup/prod/b"]
    assert (seen.mark, seen.health, seen.progress) == (Mark.CHILD, Health.HEALTHY, "2/2")
    assert len(place.observed["hyperpod.Cluster/prod"].attrs["id"]) == 12

    place.want(
        ground.cluster(nodeRecovery="None"),
        ground.instances("a", 2, labels={"team": "a"}),
        ground.instances("b", 1),
        ground.instances("c", 1),
    )
    place.converge(handler)
    # recovery; b in one call (a re-spec and an add); then the scale-down
    assert of_hyperpod(ground)[1:] == ["UpdateCluster"] * 3
    counts = {g["InstanceGroupName"]: g["CurrentCount"] for g in ground.live()["InstanceGroups"]}
    assert counts == {"a": 2, "b": 1, "c": 1}

    place.want(ground.cluster(nodeRecovery="None"), ground.instances("a", 2, labels={"team": "a"}))
    place.converge(handler)
    assert [g["InstanceGroupName"] for g in ground.live()["InstanceGroups"]] == ["a"]

    place.want()
    place.converge(handler)
    assert of_hyperpod(ground)[4:] == ["UpdateCluster", "DeleteCluster"]
    assert not place.observed["hyperpod.Cluster/prod"].present


def test_removed_labels_go_and_a_hand_made_taint_stays(ground: Ground) -> None:
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("a", 1, labels={"team": "a"}))
    place.converge(handler)
    body = {
        "InstanceGroupName": "a",
        "InstanceType": "ml.m5.xlarge",
        "InstanceCount": 1,
        "ExecutionRole": ground.role,
        "LifeCycleConfig": {"SourceS3Uri": f"s3://{ground.bucket}/lifecycle", "OnCreate": "on_create.sh"},
        "OverrideVpcConfig": {"Subnets": [ground.subnet], "SecurityGroupIds": [ground.group]},
        "KubernetesConfig": {"Labels": {"team": "b"}, "Taints": [{"Key": "hand", "Effect": "NoSchedule"}]},
    }
    ground.sandbox.client("sagemaker").update_cluster(ClusterName="prod", InstanceGroups=[body])
    place.converge(handler)  # the label is ours and comes back
    config = ground.live()["InstanceGroups"][0]["KubernetesConfig"]
    assert config["DesiredLabels"] == {"team": "a"}
    assert config["DesiredTaints"] == [{"Key": "hand", "Effect": "NoSchedule"}]
    place.want(ground.cluster(), ground.instances("a", 1))
    place.converge(handler)
    config = ground.live()["InstanceGroups"][0]["KubernetesConfig"]
    assert (config["DesiredLabels"], config["DesiredTaints"]) == ({}, [{"Key": "hand", "Effect": "NoSchedule"}])


def test_one_bad_group_of_a_folded_call_is_named_and_the_others_go_on(ground: Ground) -> None:
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("a", 1))
    place.converge(handler)
    bad = ground.instances("bad", 1, labels={"kubernetes.io/role": "x"})
    place.want(ground.cluster(), ground.instances("a", 2), bad, ground.instances("c", 1))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    reply = handler.send(place.world(), call, "01TESTBAD")
    assert list(reply.failures) == ["bad"]
    assert "reserved" in reply.failures["bad"][1]
    counts = {g["InstanceGroupName"]: g["TargetCount"] for g in ground.live()["InstanceGroups"]}
    assert counts == {"a": 2, "c": 1}


def test_a_lost_reply_to_create_is_found_by_its_op_tag(ground: Ground) -> None:
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("a", 1))
    place.look(handler)
    (call,) = handler.calls(place.world(), place.plan().actions)
    ground.sandbox.post("/faults", {"match": {"operation": "CreateCluster"}, "fault": "lost_reply"})
    with pytest.raises(LostReply):
        handler.send(place.world(), call, "01TESTLOST")
    seen = place.look(handler)["hyperpod.Cluster/prod"]
    assert (seen.mark, seen.op) == (Mark.OURS, "01TESTLOST")
    place.converge(handler)
    assert of_hyperpod(ground) == ["CreateCluster"]


def test_no_capacity_is_progress_with_the_servers_words(ground: Ground) -> None:
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("a", 1))
    place.converge(handler)
    place.want(ground.cluster(), ground.instances("a", 1), ground.instances("gpu", 2, instanceType="ml.p5.48xlarge"))
    place.look(handler)
    plan = place.plan()
    assert [a.verb for a in plan.actions] == [Verb.CREATE]
    for call in handler.calls(place.world(), plan.actions):
        try:
            place.send(handler, call)
        except CallRejected as error:  # no quota for it either
            assert "limit" in error.message.lower() or "quota" in error.message.lower()
            return
    place.sandbox.until(
        lambda: place.look(handler)["hyperpod.InstanceGroup/prod/gpu"],
        lambda seen: seen.reason == "CapacityPending" and bool(seen.message),
    )
