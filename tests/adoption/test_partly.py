"""Some of it was there and some of it is made: from a commit to Ready, and down to Gone."""

from __future__ import annotations

from typing import Any

from schemas.journal import Condition
from tests.adoption.byhand import EKS, TAGS, ByHand
from tests.adoption.documents import cluster, group
from tests.engine_support import CHART, STORAGE, Site

ADDONS = ("vpc-cni", "coredns", "kube-proxy")
UNPROTECTED = "  deletionProtection: false\n"
SYSTEM = group("system", "ml.m5.2xlarge", 1, "  zone: usw2-az2\n")


def chart(site: Site) -> str:
    path, commit = site.chart
    return f"  dependencies:\n    chart:\n      repository: {CHART}\n      path: {path}\n      commit: {commit}\n"


def up(site: Site, document: str, **others: str) -> None:
    status = site.applied("up", cluster=document, **others)
    assert status.condition is Condition.READY, (status.reason, status.msg)
    sent, lines = len(site.mutations()), len(site.lines)
    site.idle()
    assert (len(site.mutations()), len(site.lines)) == (sent, lines), "a second look finds nothing to do"


def down(site: Site, document: str) -> str:
    status = site.applied("unprotect", cluster=document + UNPROTECTED)
    assert status.condition is Condition.READY, (status.reason, status.msg)
    status = site.settle(Condition.GONE, revision=site.remove_folder())
    return status.msg


def network_of(hand: ByHand) -> dict[str, Any]:
    """The network of the account, without what changes by itself."""
    ec2 = hand.client("ec2")
    subnets = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [hand.made.vpc]}])["Subnets"]
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [hand.made.vpc]}])["RouteTables"]
    gateways = ec2.describe_nat_gateways(Filters=[{"Name": "vpc-id", "Values": [hand.made.vpc]}])["NatGateways"]
    return {
        "vpc": ec2.describe_vpcs(VpcIds=[hand.made.vpc])["Vpcs"][0],
        "subnets": sorted((s["SubnetId"], str(s.get("Tags"))) for s in subnets),
        "tables": sorted((t["RouteTableId"], str(t["Routes"]), str(t.get("Tags"))) for t in tables),
        "gateways": [(g["NatGatewayId"], g["State"]) for g in gateways],
    }


def test_a_vpc_that_was_there_and_everything_else_ours(site: Site, hand: ByHand) -> None:
    """A10: subnets are added to an adopted VPC; its own, its routes and gateways are never touched."""
    hand.network()
    before = network_of(hand)
    document = cluster(hand, vpc="adopt", eks=None, hyperpod=None, extra=chart(site))
    up(site, document, groups=SYSTEM)
    (vpc,) = hand.client("ec2").describe_vpcs(VpcIds=[hand.made.vpc])["Vpcs"]
    assert {tag["Key"] for tag in vpc["Tags"]} >= {"instantstart:adopted", *TAGS}
    assert site.hyperpod()["ClusterStatus"] == "InService"
    said = down(site, document)
    assert said == f"released, not deleted: ec2.Vpc/prod ({hand.made.vpc})"
    assert network_of(hand) == before
    assert hand.client("eks").list_clusters()["clusters"] == []


def test_an_eks_cluster_that_was_there_and_hyperpod_ours(site: Site, hand: ByHand) -> None:
    """The VPC is used, EKS with some of its add-ons adopted, what HyperPod needs beside them is made. At the end EKS
    stays with every add-on in it, and HyperPod, its chart and its network go."""
    hand.network()
    hand.control_plane(addons=ADDONS, chart=False)
    eks, before = hand.client("eks"), network_of(hand)
    document = cluster(hand, hyperpod=None, extra=chart(site))
    up(site, document, groups=SYSTEM, storage=STORAGE)
    addons = {name: eks.describe_addon(clusterName=EKS, addonName=name)["addon"] for name in _addons(hand)}
    assert {name for name, addon in addons.items() if "instantstart:adopted" in addon["tags"]} == set(ADDONS)
    assert {"cert-manager", "aws-mountpoint-s3-csi-driver"} < addons.keys()
    assert all(not addons[name].get("serviceAccountRoleArn") for name in ADDONS), "their roles are nobody's to change"
    security = site.hyperpod()["VpcConfig"]["SecurityGroupIds"]
    cluster_group = eks.describe_cluster(name=EKS)["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    assert cluster_group in security, "nodes reach a control plane that knows nothing of our group"

    said = down(site, document)
    assert f"eks.Cluster/prod ({EKS})" in said
    assert _addons(hand) == set(addons), "an add-on that serves a living cluster stays"
    for name in addons:
        tags = eks.describe_addon(clusterName=EKS, addonName=name)["addon"]["tags"]
        assert not any(key.startswith("instantstart:") for key in tags), name
    assert eks.describe_cluster(name=EKS)["cluster"]["tags"] == TAGS
    assert site.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    assert network_of(hand) == before
    roles = {role["RoleName"] for role in site.client("iam").list_roles()["Roles"]}
    assert "prod-s3-csi" in roles and "prod-execution" not in roles, "only the role of an add-on that stays"


def _addons(hand: ByHand) -> set[str]:
    return set(hand.client("eks").list_addons(clusterName=EKS)["addons"])
