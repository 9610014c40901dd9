"""A02: HyperPod clusters that Slurm orchestrates, beside a cluster of ours and under its very name."""

from __future__ import annotations

from functools import partial
from typing import Any

from schemas.journal import Condition
from tests.adoption.byhand import ByHand, until
from tests.engine_support import Site, group_yaml

BESIDE = "research"


def state(hand: ByHand, name: str) -> list[Any]:
    """Everything that one could touch of a cluster."""
    sagemaker = hand.client("sagemaker")
    live = sagemaker.describe_cluster(ClusterName=name)
    assert "Orchestrator" not in live
    nodes = sagemaker.list_cluster_nodes(ClusterName=name)["ClusterNodeSummaries"]
    shown = {key: value for key, value in live.items() if key != "ResponseMetadata"}
    return [shown, sagemaker.list_tags(ResourceArn=live["ClusterArn"])["Tags"], sorted(n["InstanceId"] for n in nodes)]


def full(hand: ByHand, name: str) -> bool:
    groups = hand.client("sagemaker").describe_cluster(ClusterName=name)["InstanceGroups"]
    return all(group["CurrentCount"] == group["TargetCount"] for group in groups)


def test_a_slurm_cluster_is_never_touched_nor_taken_for_ours(site: Site, hand: ByHand) -> None:
    hand.network()
    for name in (BESIDE, site.cluster):
        hand.slurm(name)
        until(partial(full, hand, name), True)
    before = {name: state(hand, name) for name in (BESIDE, site.cluster)}

    status = site.applied("make", cluster=site.cluster_yaml(), groups=group_yaml("workers", count=1))
    assert (status.condition, status.reason) == (Condition.STALLED, "NotOurs"), status.msg
    assert "orchestrated by Slurm" in status.msg and "choose another name" in status.msg
    assert "adopt" not in status.msg
    site.idle(3)
    assert {name: state(hand, name) for name in before} == before
    plan = site.engine.observe(site.cluster).plan
    assert plan is not None and not [a for a in plan.actions if a.key.startswith("hyperpod.")]

    _taken_down_while_the_name_is_taken(site, hand, before)
    _made_when_the_name_is_free(site, hand)
    assert state(hand, BESIDE) == before[BESIDE]


def _taken_down_while_the_name_is_taken(site: Site, hand: ByHand, before: dict[str, list[Any]]) -> None:
    site.applied("let go", cluster=site.cluster_yaml("  deletionProtection: false\n"))
    revision = site.remove_folder()
    status = site.settle(revision=revision)
    if status.condition is Condition.STALLED:  # that revision never got Ready, so a person has to say it
        for key in [key for key, hold in status.holds.items() if hold.state == "held"]:
            site.order("release", key)
        status = site.settle(Condition.GONE, revision=revision)
    assert status.condition is Condition.GONE, status.msg
    assert site.client("eks").list_clusters()["clusters"] == []
    assert {name: state(hand, name) for name in before} == before


def _made_when_the_name_is_free(site: Site, hand: ByHand) -> None:
    sagemaker = hand.client("sagemaker")
    sagemaker.delete_cluster(ClusterName=site.cluster)
    until(lambda: [c["ClusterName"] for c in sagemaker.list_clusters()["ClusterSummaries"]], [BESIDE])
    opened = site.cluster_yaml("  deletionProtection: false\n")
    status = site.applied("make", cluster=opened, groups=group_yaml("workers", count=1))
    assert status.condition is Condition.READY, status.msg
    assert "Eks" in site.hyperpod()["Orchestrator"]
    assert site.settle(revision=site.remove_folder()).condition is Condition.GONE
    assert [c["ClusterName"] for c in sagemaker.list_clusters()["ClusterSummaries"]] == [BESIDE]
