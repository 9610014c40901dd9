"""HyperPod from nothing to gone, over HTTP, with the real plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reconciler.resources.handler import Verdict
from reconciler.resources.hyperpod.handler import HyperPod
from reconciler.resources.hyperpod.reboot import Reboots
from schemas.errors import LostReply
from schemas.plan import Verb
from schemas.resource import Health, Mark, Stage
from tests.resources_hyperpod.cloud import action
from tests.resources_hyperpod.conftest import Ground
from tests.resources_support import operations, resource

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
    scarce = ground.instances("gpu", 3, instanceType="ml.c5.4xlarge", minCount=1)
    ground.sandbox.post("/capacity", {"type": "ml.c5.4xlarge", "zone": f"{ground.sandbox.region}a", "count": 2})
    place.want(ground.cluster(), ground.instances("a", 1), scarce)
    place.converge(handler, until=lambda plan: plan.empty and place.observed[scarce.key].progress == "2/3")
    seen = place.sandbox.until(lambda: place.look(handler)[scarce.key], lambda s: s.reason == "MinimumReached")
    assert (seen.health, seen.ready) == (Health.HEALTHY, True)
    assert "capacity" in seen.message.lower()
    # Nothing is sent again while it waits; when there is room the service goes on by itself.
    assert place.plan().empty
    assert of_hyperpod(ground) == ["CreateCluster"]
    ground.sandbox.post("/capacity", {"type": "ml.c5.4xlarge", "zone": f"{ground.sandbox.region}a", "count": None})
    place.sandbox.until(lambda: place.look(handler)[scarce.key], lambda s: s.progress == "3/3")


def test_a_script_that_keeps_failing_is_a_failure(ground: Ground) -> None:
    """Every further try is billed; the mended script is a change like any other."""
    place, handler = ground.place, HyperPod()
    lost = {"sourceS3Uri": f"s3://{ground.bucket}/nowhere", "onCreate": "on_create.sh"}
    group = ground.instances("b", 1, lifecycle=lost)
    place.want(ground.cluster(), ground.instances("a", 1), group)
    place.converge(handler, until=lambda plan: plan.empty)
    place.sandbox.until(lambda: place.look(handler)[group.key], lambda seen: seen.reason == "LifecycleScriptFailed")
    assert place.observed[group.key].health is Health.FAILED
    place.want(ground.cluster(), ground.instances("a", 1), ground.instances("b", 1))
    place.converge(handler)
    assert place.observed[group.key].health is Health.HEALTHY


def test_node_101_is_seen(ground: Ground) -> None:
    """E06: a page holds 100 nodes."""
    place, handler = ground.place, HyperPod()
    place.want(ground.cluster(), ground.instances("a", 101))
    place.converge(handler)
    assert len(place.observed["hyperpod.Cluster/prod"].detail["nodes"]) == 101


def test_a_node_reboots_once(ground: Ground) -> None:
    place, handlers = ground.place, (HyperPod(), Reboots())
    place.want(ground.cluster(), ground.instances("a", 1))
    place.converge(handlers[0])
    (node,) = place.observed["hyperpod.Cluster/prod"].detail["nodes"]
    reboot = replace(
        resource("hyperpod.Reboot/prod/x", {"instance": node}, name=node, lane=f"node/{node}", stage=Stage.OPERATIONS),
        key=f"Operation/reboot-a#{node}",
    )
    with ground.kube() as kube:
        place.kube = lambda: kube
        place.want(ground.cluster(), ground.instances("a", 1), reboot)
        place.look(*handlers)
        (call,) = handlers[1].calls(place.world(), [action(Verb.RUN, reboot)])
        op = place.send(handlers[1], call)
        assert place.settle(handlers[1], op).verdict is Verdict.PENDING

        def fate() -> Verdict:
            place.look(*handlers)
            return place.settle(handlers[1], op).verdict

        place.sandbox.until(fate, lambda verdict: verdict is Verdict.HAPPENED)
        assert place.look(*handlers)[reboot.key].attrs["bootId"] != op.before["bootId"]
