"""A whole cluster made by hand is adopted, changed by commits, and let go of."""

from __future__ import annotations

import re
from pathlib import Path

from schemas.journal import Condition
from schemas.plan import Verb
from tests.adoption.byhand import EKS, HYPERPOD, OLD_COREDNS, ByHand
from tests.adoption.documents import CLUSTER_ACCESS, EXTRA, cluster, groups
from tests.engine_support import Site
from tests.golden import check

GOLDEN = Path(__file__).with_name("golden")
MARKS = ("instantstart:cluster", "instantstart:key", "instantstart:op", "instantstart:adopted")


def planned(site: Site) -> str:
    """The plan in lines, ids of this run replaced: what a golden file holds."""
    plan = site.engine.observe("prod").plan
    assert plan is not None
    lines = [
        *(f"{a.verb.value} {a.key} {' '.join(s['op'] + s['path'] for s in a.patch)}".strip() for a in plan.actions),
        *(f"note {a.key}: {note}" for a in plan.actions for note in a.notes),
        *(f"refused {r.key} {r.reason}: {r.message}. Way out: {r.way_out}" for r in plan.refusals),
        *(f"{f.severity.value} {f.reason}: {f.message}" for f in plan.findings),
        *(f"not ours {thing.key}: {thing.message}" for thing in plan.unmanaged),
    ]
    told = "\n".join(lines).replace(site.sandbox.account, "111122223333") + "\n"
    return re.sub(r"researchers-[0-9a-f]{8}", "researchers-12345678", told)  # the digest of an ARN with an account


def test_adopt_change_and_let_go(site: Site, hand: ByHand) -> None:
    """The plan of the adoption is marks alone, and so is what it does; then commits work as for a cluster of our own;
    at the end the marks are taken off and everything stays, what was made meanwhile for it included."""
    hand.all()
    before, tags = hand.groups(), hand.tags()
    document = cluster(hand, vpc="adopt", extra=CLUSTER_ACCESS.format(principal=hand.researchers))
    revision = site.commit("adopt", cluster=document, groups=groups())
    check(planned(site), GOLDEN / "adopt.txt")

    status = site.settle(revision=revision)
    assert status.condition is Condition.READY, (status.reason, status.msg)
    sent = site.mutations()
    assert {entry["operation"] for entry in sent} <= {
        *("CreateTags", "TagResource", "AddTags", "TagOpenIDConnectProvider"),
    }, "marks and nothing else"
    intents = {line["op"]: line for line in site.lines if line.get("phase") == "intent"}
    assert [intents[entry["op"]]["verb"] for entry in sent] == ["adopt"] * len(sent), "each with its intent"
    assert len(sent) == len({intents[entry["op"]]["key"] for entry in sent}), "each mark once"
    assert hand.groups() == before, "the groups are as they were"
    coredns = hand.client("eks").describe_addon(clusterName=EKS, addonName="coredns")["addon"]
    assert coredns["addonVersion"] == OLD_COREDNS, "a version that nobody wrote is shown and not fought over"
    for name, now in hand.tags().items():
        assert {key: value for key, value in now.items() if key not in MARKS} == tags[name], name
        adopted = name != "aws-ebs-csi-driver"
        assert (now.get("instantstart:adopted") == "true") is adopted, name
    lines = len(site.lines)
    site.idle()
    assert (len(site.mutations()), len(site.lines)) == (len(sent), lines), "the next plan is empty"

    _changed(site, hand)
    _only_used(site, hand, tags)
    _let_go(site, hand, tags)


def _changed(site: Site, hand: ByHand) -> None:
    """A new group, another count, another label."""
    document = cluster(hand, vpc="adopt", extra=CLUSTER_ACCESS.format(principal=hand.researchers))
    before = hand.groups()
    revision = site.commit("grow", cluster=document, groups=groups(plain=3, team="b") + EXTRA)
    check(planned(site), GOLDEN / "grow.txt")
    status = site.settle(revision=revision)
    assert status.condition is Condition.READY, (status.reason, status.msg)
    now = hand.groups()
    assert {name: g["CurrentCount"] for name, g in now.items()} == {
        **{name: g["CurrentCount"] for name, g in before.items()},
        "plain": 3,
        "extra": 1,
    }
    assert now["labelled"]["KubernetesConfig"]["CurrentLabels"] == {"team": "b"}
    assert (
        now["labelled"]["KubernetesConfig"]["CurrentTaints"] == before["labelled"]["KubernetesConfig"]["CurrentTaints"]
    )
    for name in ("labelled", "gpu", "spot", "idle"):
        same = ("LifeCycleConfig", "ExecutionRole", "OverrideVpcConfig", "InstanceStorageConfigs", "ThreadsPerCore")
        assert {key: now[name].get(key) for key in same} == {key: before[name].get(key) for key in same}
    made = now["extra"]
    assert made["ExecutionRole"].endswith("role/instantstart/prod/prod-execution")
    (subnet,) = hand.client("ec2").describe_subnets(SubnetIds=made["OverrideVpcConfig"]["Subnets"])["Subnets"]
    assert (subnet["VpcId"], subnet["AvailabilityZoneId"]) == (hand.made.vpc, "usw2-az2")

    # A group's document goes: that needs an approval, whatever the policy says.
    status = site.applied("less", groups=groups(plain=3, team="b", spot=False) + EXTRA)
    assert (status.condition, status.reason) == (Condition.STALLED, "NeedsApproval")
    assert "hyperpod.InstanceGroup/prod/spot" in status.msg and "approve, or put its document back" in status.msg
    assert "spot" in hand.groups()
    site.order("approve", "hyperpod.InstanceGroup/prod/spot")
    status = site.settle(Condition.READY)
    assert "spot" not in hand.groups()


def _only_used(site: Site, hand: ByHand, tags: dict[str, dict[str, str]]) -> None:
    """A VPC that was adopted and is only named from then on loses our marks, and nothing else is done; and back."""
    extra = CLUSTER_ACCESS.format(principal=hand.researchers)
    for vpc, operation in (
        ("use", "DeleteTags"),
        ("adopt", "CreateTags"),
        ("use", "DeleteTags"),
        ("adopt", "CreateTags"),
    ):
        sent = len(site.mutations())
        status = site.applied(f"{vpc} the VPC", cluster=cluster(hand, vpc=vpc, extra=extra))
        assert status.condition is Condition.READY, (vpc, status.reason, status.msg)
        did = [entry["operation"] for entry in site.mutations()[sent:]]
        assert did == [operation], (vpc, did)
        now = hand.tags()["vpc"]
        assert {key: value for key, value in now.items() if key not in MARKS} == tags["vpc"]
        assert (now.get("instantstart:adopted") == "true") is (vpc == "adopt")


def _let_go(site: Site, hand: ByHand, tags: dict[str, dict[str, str]]) -> None:
    before = hand.groups()
    extra = "  deletionProtection: false\n" + CLUSTER_ACCESS.format(principal=hand.researchers)
    site.applied("unprotect", cluster=cluster(hand, vpc="adopt", extra=extra))
    sent = len(site.mutations())
    revision = site.remove_folder()
    plan = site.engine.observe("prod").plan
    assert plan is not None
    assert {action.verb for action in plan.actions} == {Verb.RELEASE}, [(a.verb, a.key) for a in plan.actions]
    status = site.settle(revision=revision)
    assert status.condition is Condition.GONE, (status.reason, status.msg)
    for name in (hand.made.vpc, EKS, HYPERPOD):
        assert name in status.msg, "what was released is named"
    assert not any(
        entry["operation"].startswith(("Delete", "Terminate", "Update"))
        and not entry["operation"].endswith(("Tags", "Tagging"))
        for entry in site.mutations()[sent:]
    )
    assert hand.groups() == before, "every group stays, also the one that was made meanwhile"
    assert hand.tags() == tags, "and everything is as it was"
