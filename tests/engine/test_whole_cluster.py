"""A commit becomes a cluster, is changed, and goes again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reconciler.live.kube.tokens import eks_token
from schemas.journal import Condition
from tests.engine_support import GPU, STORAGE, Site, group_yaml

pytestmark = pytest.mark.behaviour("Product: a commit becomes a cluster, and two commits take it down")

KUBECTL = Path(sys.executable).with_name("kubectl")


def seen_by_kubectl(site: Site) -> None:
    """Everything made is a standard object: the real kubectl reads it."""
    scope = site.engine.observe("prod")
    assert scope.world is not None
    eks = scope.observed["eks.Cluster/prod"].attrs
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "clusters": [{"name": "prod", "cluster": {"server": eks["endpoint"], "certificate-authority-data": eks["ca"]}}],
        "users": [{"name": "us", "user": {"token": eks_token(scope.world.aws, "prod").value}}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "us"}}],
    }
    file = site.state / "kubeconfig.json"
    file.write_text(json.dumps(kubeconfig))

    def get(*what: str) -> list[dict[str, Any]]:
        command = [str(KUBECTL), "--kubeconfig", str(file), "get", *what, "-o", "json"]
        done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=120)
        return list(json.loads(done.stdout)["items"])

    types = sorted(node["metadata"]["labels"]["node.kubernetes.io/instance-type"] for node in get("nodes"))
    assert types == ["ml.g5.8xlarge", "ml.g5.8xlarge", "ml.m5.2xlarge", "ml.m5.2xlarge"]
    (claim,) = get("persistentvolumeclaims", "-n", "default")
    assert (claim["metadata"]["name"], claim["status"]["phase"]) == ("shared", "Bound")
    assert {d["metadata"]["name"] for d in get("daemonsets", "-A")} >= {"health-monitoring-agent"}


def test_a_commit_becomes_a_cluster_and_two_commits_take_it_down(site: Site) -> None:
    """The spine, end to end, and nothing of ours is left. B48: the order of removal is the reverse."""
    status = site.applied("a cluster", cluster=site.cluster_yaml(), groups=group_yaml("system") + GPU, storage=STORAGE)
    assert status.condition is Condition.READY, (status.reason, status.msg)
    assert all(stage.state.value == "Ready" for stage in status.stages.values())
    assert {name: group["CurrentCount"] for name, group in site.groups().items()} == {"system": 2, "gpu": 2}

    seen_by_kubectl(site)
    before = len(site.mutations())
    lines = len(site.lines)
    site.idle()
    assert len(site.mutations()) == before, "a second tick makes no mutation"
    assert len(site.lines) == lines, "and writes no line"

    open_door = site.applied("let go", cluster=site.cluster_yaml("  deletionProtection: false\n"))
    assert open_door.condition is Condition.READY
    gone = site.settle(Condition.GONE, revision=site.remove_folder())
    assert gone.condition is Condition.GONE
    ec2, iam = site.client("ec2"), site.client("iam")
    assert site.client("eks").list_clusters()["clusters"] == []
    assert site.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    ours = [{"Name": "tag:instantstart:cluster", "Values": ["prod"]}]
    assert ec2.describe_vpcs(Filters=ours)["Vpcs"] == []
    assert ec2.describe_addresses(Filters=ours)["Addresses"] == []
    assert [r["RoleName"] for r in iam.list_roles()["Roles"] if r["RoleName"].startswith("prod-")] == []
    assert iam.list_open_id_connect_providers()["OpenIDConnectProviderList"] == []
    assert site.client("s3").list_buckets()["Buckets"] == []
