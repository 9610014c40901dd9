"""Laws over a whole sandbox: the plan after acting is empty, what is removed is gone, and what others take is told."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.journal import ClusterStatus, Condition
from tests.engine_support import POLICY, Site, group_yaml
from tests.resources_support import trust

pytestmark = pytest.mark.sandbox
RICH_CLUSTER = """  logging: [api]
  endpoint:
    private: false
    publicCidrs: [10.0.0.0/8]
  hyperpod:
    nodeRecovery: None
    tags:
      cost: research
  access:
  - principal: {people}
    policy: AmazonEKSViewPolicy
"""
RICH_GROUP = """  minCount: 1
  labels: {team: a}
  volume: {sizeGiB: 100}
"""


def good(site: Site, status: ClusterStatus) -> None:
    assert status.condition is Condition.READY, f"{status.reason}: {status.msg}"
    sent, lines = len(site.mutations()), len(site.lines)
    site.idle(1)
    plan = site.engine.memories["prod"].plan
    assert plan is not None and plan.empty
    assert (len(site.mutations()), len(site.lines)) == (sent, lines), "the next tick writes and sends nothing"


def shape(site: Site) -> dict[str, Any]:
    """What the documents decide, as AWS shows it."""
    eks = site.client("eks")
    cluster = eks.describe_cluster(name="prod")["cluster"]
    network = cluster["resourcesVpcConfig"]
    moving = ("CurrentCount", "InstanceTypeDetails", "ActiveOperations", "KubernetesConfig")
    groups = {n: {k: v for k, v in g.items() if k not in moving} for n, g in site.groups().items()}
    labels = {n: g.get("KubernetesConfig", {}).get("DesiredLabels", {}) for n, g in site.groups().items()}
    return {
        "logging": cluster["logging"],
        "endpoint": {name: network[name] for name in network if name.startswith(("endpoint", "public"))},
        "tags": {name: value for name, value in cluster["tags"].items() if not name.startswith("instantstart:")},
        "access": sorted(eks.list_access_entries(clusterName="prod")["accessEntries"]),
        "recovery": site.hyperpod()["NodeRecovery"],
        "groups": groups,
        "labels": labels,
    }


def test_everything_that_is_written_and_removed_again_leaves_nothing(site: Site) -> None:
    """Laws 4 and 5. E12: endpoint, logging and version go one after another, and the note says which is next."""
    plain = group_yaml("system")
    good(site, site.applied("a cluster", cluster=site.cluster_yaml(), groups=plain))
    before = shape(site)

    made = site.client("iam").create_role(RoleName="people", AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
    rich = site.cluster_yaml(RICH_CLUSTER.format(people=made["Role"]["Arn"])).replace('"1.33"', '"1.34"')
    good(site, site.applied("much", cluster=rich, groups=group_yaml("system", extra=RICH_GROUP)))
    between = shape(site)
    assert {name for name in before if before[name] != between[name]} == set(before)
    steps = [x["say"] for x in site.lines if x["t"] == "op" and x["say"].startswith("Update EKS cluster")]
    assert steps == [
        "Update EKS cluster prod: endpoint, then logging, version",
        "Update EKS cluster prod: logging, then version",
        "Update EKS cluster prod: version 1.34",
    ]

    site.restart()
    later = site.cluster_yaml().replace('"1.33"', '"1.34"')
    good(site, site.applied("nothing of it", cluster=later, groups=plain))
    assert shape(site) == before

    # A26: a node that somebody took away outside is drift; the policy says what then, and a commit settles it.
    hold = POLICY + "  drift:\n    counts: hold\n"
    site.commit_paths({"clusters/policy.yaml": hold.encode()})
    nodes = site.client("sagemaker").list_cluster_nodes(ClusterName="prod")["ClusterNodeSummaries"]
    site.client("sagemaker").batch_delete_cluster_nodes(ClusterName="prod", NodeIds=[nodes[0]["InstanceId"]])
    site.idle(1)
    held = site.settle(Condition.STALLED)
    assert held.reason == "CountDrift" and "commit the live count" in held.msg
    assert site.groups()["system"]["TargetCount"] == 1
    good(site, site.applied("as it is", groups=group_yaml("system", count=1)))
