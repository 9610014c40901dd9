"""An adoption whose process dies and whose replies are lost, and a document that forgets what it adopted.

The HyperPod cluster is a classic one: it takes one change at a time.
"""

from __future__ import annotations

from collections import Counter

from schemas.journal import Condition
from tests.adoption.byhand import EKS, HYPERPOD, TAGS, ByHand
from tests.adoption.documents import cluster, group
from tests.engine_support import Site

LOST = (("ec2", "CreateTags"), ("eks", "TagResource"), ("iam", "TagOpenIDConnectProvider"), ("sagemaker", "AddTags"))


def classic(*, plain: int = 2, team: str = "a") -> str:
    return group("plain", "ml.m5.2xlarge", plain) + group(
        "labelled", "ml.c5.2xlarge", 1, f"  labels:\n    team: {team}\n"
    )


def test_each_mark_is_written_once_and_not_forgotten(site: Site, hand: ByHand) -> None:
    hand.all(classic=True)
    before = hand.groups()
    document = cluster(hand, vpc="adopt")
    revision = site.commit("adopt", cluster=document, groups=classic())
    for service, operation in LOST:
        site.sandbox.post("/faults", {"match": {"service": service, "operation": operation}, "fault": "lost_reply"})
    for _ in range(60):
        site.restart()
        site.idle(1)
        if site.status.condition is Condition.READY:
            break
    assert (site.status.condition, site.status.rev) == (Condition.READY, revision), site.status.msg
    intents = {line["op"]: line["key"] for line in site.lines if line.get("phase") == "intent"}
    sent = site.mutations()
    assert set(Counter(intents[entry["op"]] for entry in sent).values()) == {1}, "each mark once"
    assert len(sent) == 7 and hand.groups() == before

    _forgets(site, hand, document)
    _loses_its_mark(site, hand)
    _goes_on(site, hand, before)


def _forgets(site: Site, hand: ByHand, document: str) -> None:
    """Without its `adopt` a document means another cluster: nothing at all is done, however often it is said."""
    sent = len(site.mutations())
    for text, key in (
        (cluster(hand, vpc="adopt", hyperpod=None), "adopt.hyperpod"),
        (cluster(hand, vpc="adopt", hyperpod=None, extra="  logging: [api]\n"), "adopt.hyperpod"),
        (cluster(hand, vpc="adopt", eks="renamed"), "adopt.eks"),
        (cluster(hand, vpc="adopt", eks=None, hyperpod=None), "adopt.eks"),
    ):
        status = site.applied("forget", cluster=text)
        assert status.condition is Condition.STALLED
        plan = site.engine.observe("prod").plan
        assert plan is not None and not plan.actions
        told = [r.way_out for r in plan.refusals if r.reason == "AdoptChanged"]
        assert any(f"put spec.{key}:" in way_out and "what was adopted stays" in way_out for way_out in told), told
    status = site.applied("remember", cluster=document)
    assert status.condition is Condition.READY, (status.reason, status.msg)
    assert len(site.mutations()) == sent


def _loses_its_mark(site: Site, hand: ByHand) -> None:
    """It is adopted again, not taken for one of our own."""
    keys = ["instantstart:cluster", "instantstart:key", "instantstart:op", "instantstart:adopted"]
    hand.client("eks").untag_resource(resourceArn=hand.made.eks, tagKeys=keys)
    site.idle()
    tags = hand.client("eks").describe_cluster(name=EKS)["cluster"]["tags"]
    assert tags["instantstart:adopted"] == "true" and tags.items() > TAGS.items()
    assert site.settle().condition is Condition.READY


def _goes_on(site: Site, hand: ByHand, before: dict[str, dict[str, object]]) -> None:
    status = site.applied("change", groups=classic(plain=1, team="b"))
    assert status.condition is Condition.READY, (status.reason, status.msg)
    now = hand.groups()
    assert now["plain"]["CurrentCount"] == 1
    assert now["labelled"]["KubernetesConfig"]["CurrentLabels"] == {"team": "b"}
    assert now["gpu"] == before["gpu"]
    described = hand.client("sagemaker").describe_cluster(ClusterName=HYPERPOD)
    assert "NodeProvisioningMode" not in described and described["NodeRecovery"] == "None"
