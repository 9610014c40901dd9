"""The life of one cluster: made, grown, changed, rebooted, given back. Every kind of call that we have occurs in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schemas.journal import Condition
from tests.engine import fakes
from tests.engine_support import GPU, STORAGE, Site, group_yaml

MORE = group_yaml("more", "ml.m5.xlarge", 1)
LABELLED = group_yaml("system", count=1, extra="  labels:\n    team: a\n")
TAGS = "  hyperpod:\n    tags: {cost: a}\n  logging: [audit]\n"
OPEN = "  deletionProtection: false\n"


@dataclass(frozen=True, kw_only=True)
class Step:
    """`commit` writes what is wanted next and returns the revision."""

    name: str
    commit: Callable[[Site], str]
    end: Condition = Condition.READY


def _made(site: Site) -> str:
    return site.commit("make", cluster=site.cluster_yaml(), groups=group_yaml("system") + GPU, storage=STORAGE)


def _grown(site: Site) -> str:
    more = STORAGE.replace("name: shared", "name: more")
    return site.commit("grow", groups=group_yaml("system", count=3) + GPU + MORE, more=more)


def _changed(site: Site) -> str:
    return site.commit("change", cluster=site.cluster_yaml(TAGS), groups=LABELLED + GPU, more=None)


def _rebooted(site: Site) -> str:
    nodes = site.client("sagemaker").list_cluster_nodes(ClusterName=site.cluster)["ClusterNodeSummaries"]
    node = next(n["InstanceId"] for n in nodes if n["InstanceGroupName"] == "gpu")
    return site.commit("reboot", operation=reboot_yaml("a", node), storage=None)


def _opened(site: Site) -> str:
    return site.commit("let go", cluster=site.cluster_yaml(OPEN))


LIFE = (
    Step(name="make", commit=_made),
    Step(name="grow", commit=_grown),
    Step(name="change", commit=_changed),
    Step(name="reboot", commit=_rebooted),
    Step(name="let go", commit=_opened),
    Step(name="take down", commit=Site.remove_folder, end=Condition.GONE),
)


def reboot_yaml(name: str, *nodes: str) -> str:
    return fakes.reboot_yaml(name, *nodes, expires="2036-01-01T00:00:00Z")


def nothing_left(site: Site) -> list[str]:
    """What of a cluster that is Gone still stands in its account."""
    ec2, iam = site.client("ec2"), site.client("iam")
    ours = [{"Name": "tag:instantstart:cluster", "Values": [site.cluster]}]
    named = {"eks": site.client("eks").list_clusters()["clusters"]}
    named["hyperpod"] = site.client("sagemaker").list_clusters()["ClusterSummaries"]
    named["vpc"] = ec2.describe_vpcs(Filters=ours)["Vpcs"]
    named["address"] = ec2.describe_addresses(Filters=ours)["Addresses"]
    named["role"] = [r for r in iam.list_roles()["Roles"] if r["RoleName"].startswith(f"{site.cluster}-")]
    named["provider"] = iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]
    named["bucket"] = site.client("s3").list_buckets()["Buckets"]
    return [f"{kind} {found}" for kind, found in named.items() if found]
