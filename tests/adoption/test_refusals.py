"""What cannot be adopted is refused as a whole, with the reason and the way out, and nothing is marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from reconciler.plan.make import PlanInput, make
from schemas.plan import Plan, Verb
from schemas.resource import Bar, Mark, Observed, Presence, Resource, Source, Stage
from tests.adoption.byhand import EKS, HYPERPOD, ByHand
from tests.adoption.documents import cluster, group, groups
from tests.engine_support import Site

Finished = tuple[Site, ByHand]


@dataclass(frozen=True, kw_only=True)
class Case:
    """`write`: the Cluster document. The plan must hold one refusal of this reason that says all of `says`."""

    why: str
    write: Callable[[Site, ByHand], str]
    reason: str
    says: tuple[str, ...]


CASES = (
    Case(
        why="an EKS cluster that is not there",
        write=lambda site, hand: cluster(hand, eks="nobody"),
        reason="AdoptMissing",
        says=("nobody", "does not exist", "correct the name under spec.adopt"),
    ),
    Case(
        why="a HyperPod cluster that is not there",
        write=lambda site, hand: cluster(hand, hyperpod="nobody"),
        reason="AdoptMissing",
        says=("nobody", "does not exist"),
    ),
    Case(
        why="a VPC that is not there",
        write=lambda site, hand: cluster(hand, vpc="adopt").replace(hand.made.vpc, "vpc-0123456789abcdef0"),
        reason="AdoptMissing",
        says=("vpc-0123456789abcdef0", "does not exist"),
    ),
    Case(
        why="another Region: nothing of these names is there",
        write=lambda site, hand: cluster(hand).replace("us-west-2", "us-east-1"),
        reason="AdoptMissing",
        says=(EKS, "does not exist"),
    ),
    Case(
        why="the EKS cluster is in another VPC than said",
        write=lambda site, hand: cluster(hand, vpc=other_vpc(hand)),
        reason="Impossible",
        says=("the EKS cluster is in vpc-", "and the document says vpc-", "network.vpc or adopt.vpc"),
    ),
    Case(
        why="an older version than the live one: EKS does not go back",
        write=lambda site, hand: cluster(hand, version="1.32"),
        reason="Impossible",
        says=("Kubernetes 1.33 is live", "does not go back to 1.32", 'write kubernetesVersion: "1.33"'),
    ),
    Case(
        why="the HyperPod cluster runs on another EKS cluster",
        write=lambda site, hand: cluster(hand, eks="other"),
        reason="Impossible",
        says=("the HyperPod cluster runs on", f"/{EKS}", f"name {EKS} under adopt.eks"),
    ),
    Case(
        why="EKS lets nobody in by access entries",
        write=lambda site, hand: cluster(hand, eks="closed", hyperpod=None),
        reason="NoAccessEntries",
        says=("closed", "CONFIG_MAP", "aws eks update-cluster-config --name closed"),
    ),
)


def other_vpc(hand: ByHand) -> str:
    return str(hand.client("ec2").create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"])


def planned(site: Site, document: str, others: str = "") -> Plan:
    site.commit("try", cluster=document, groups=others or None)
    plan = site.engine.observe("prod").plan
    assert plan is not None
    return plan


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_what_cannot_be_adopted(finished: Finished, case: Case) -> None:
    site, hand = finished
    plan = planned(site, case.write(site, hand))
    told = [f"{r.message}. Way out: {r.way_out}" for r in plan.refusals if r.reason == case.reason]
    assert any(all(words in text for words in case.says) for text in told), plan.refusals
    assert not plan.actions, "all or nothing"


def test_another_account_is_looked_at_by_nobody(finished: Finished) -> None:
    site, hand = finished
    site.commit("try", cluster=cluster(hand).replace(site.sandbox.account, "999988887777"))
    scope = site.engine.observe("prod")
    assert scope.plan is None or not scope.plan.actions
    assert scope.blind is not None and scope.blind.reason == "WrongAccount"
    assert "999988887777" in scope.blind.message and site.sandbox.account in scope.blind.message


def test_the_mark_of_another_cluster(finished: Finished) -> None:
    """Two clusters of ours never share a thing that either of them manages; a VPC may be used by both."""
    site, hand = finished
    ec2, eks, sagemaker = (hand.client(service) for service in ("ec2", "eks", "sagemaker"))
    name, made = "instantstart:cluster", hand.made
    pod = hand.describe()["ClusterArn"]
    mark: list[dict[str, str]] = [{"Key": name, "Value": "elsewhere"}]
    cases: tuple[tuple[Callable[[], Any], Callable[[], Any], str, str], ...] = (
        (
            lambda: ec2.create_tags(Resources=[made.vpc], Tags=mark),
            lambda: ec2.delete_tags(Resources=[made.vpc], Tags=[{"Key": name}]),
            "ec2.Vpc/prod",
            "name it under network.vpc",
        ),
        (
            lambda: eks.tag_resource(resourceArn=made.eks, tags={name: "elsewhere"}),
            lambda: eks.untag_resource(resourceArn=made.eks, tagKeys=[name]),
            "eks.Cluster/prod",
            "let go of it there first",
        ),
        (
            lambda: sagemaker.add_tags(ResourceArn=pod, Tags=mark),
            lambda: sagemaker.delete_tags(ResourceArn=pod, TagKeys=[name]),
            "hyperpod.Cluster/prod",
            "let go of it there first",
        ),
    )
    for put, take, key, way_out in cases:
        put()
        try:
            plan = planned(site, cluster(hand, vpc="adopt"))
            (refusal,) = plan.refusals
            assert (refusal.key, refusal.reason, plan.actions) == (key, "OthersMark", ())
            assert "elsewhere" in refusal.message and way_out in refusal.way_out
            if key == "ec2.Vpc/prod":
                assert not planned(site, cluster(hand, vpc="use")).refusals
        finally:
            take()


def test_a_newer_version_is_an_upgrade_of_its_own(finished: Finished) -> None:
    """It is in the plan, beside the mark and after it."""
    site, hand = finished
    plan = planned(site, cluster(hand, version="1.34"))
    mine = [(a.verb, a.fields) for a in plan.actions if a.key == "eks.Cluster/prod"]
    assert mine == [(Verb.ADOPT, ()), (Verb.UPDATE, ("version",))]
    assert not plan.refusals


def test_a_group_that_is_not_as_its_document_says(finished: Finished) -> None:
    """Refused by itself: the cluster and its other groups go on."""
    site, hand = finished
    wrong = (
        group("plain", "ml.m5.4xlarge", 2)
        + group("labelled", "ml.c5.2xlarge", 1, "  zone: usw2-az2\n")
        + group("flexible", "ml.g5.xlarge", 1)
        + group("spot", "ml.g5.xlarge", 1, "  capacity:\n    onDemand: {}\n")
        + group("gpu", "ml.g5.8xlarge", 1)
    )
    plan = planned(site, cluster(hand), wrong)
    told = {r.key.rpartition("/")[2]: r.message for r in plan.refusals}
    assert set(told) == {"plain", "labelled", "flexible", "spot"}
    assert told["labelled"] == "zone cannot change from usw2-az1 to usw2-az2"
    assert {a.verb for a in plan.actions} == {Verb.ADOPT}
    assert not planned(site, cluster(hand), groups()).refusals


def test_a_slurm_cluster_is_not_adopted() -> None:
    """A02: the refusal says what to take out."""
    resource = Resource(
        key="hyperpod.Cluster/prod",
        type="hyperpod.Cluster",
        name=HYPERPOD,
        cluster="prod",
        stage=Stage.COMPUTE,
        lane="hyperpod/prod",
        source=Source("Cluster", "prod"),
        adopt=HYPERPOD,
    )
    seen = Observed(
        key=resource.key,
        type=resource.type,
        name=HYPERPOD,
        presence=Presence.PRESENT,
        mark=Mark.FOREIGN,
        bar=Bar("NotEks", "orchestrated by Slurm", "take it out of spec.adopt"),
    )
    given = PlanInput(cluster="prod", revision=None, desired={resource.key: resource}, observed={resource.key: seen})
    plan = make(given)
    assert ([r.reason for r in plan.refusals], plan.actions) == (["NotEks"], ())
