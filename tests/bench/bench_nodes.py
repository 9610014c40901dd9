"""A look at a HyperPod cluster with 100 groups and 5,000 nodes, and the plan from it, against a scripted API.

The bench `tick` has the rest of a tick.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.live.errors import CallRefused
from reconciler.live.kube.cluster import KubeCluster
from reconciler.plan.make import PlanInput, make
from reconciler.resources.handler import World
from reconciler.resources.hyperpod.look import look
from schemas.resource import Observed, Resource
from tests.bench.bench_client import SETTINGS
from tests.bench.bench_plan import resources
from tests.bench.many_nodes import PAGE, Nodes, node, pages, served
from tests.bench.measuring import memory_now, repeated
from tests.bench.rows import Goal, Row, Size
from tests.live.aws_server import ACCOUNT, FakeAws

CLUSTER, REGION = "prod", "us-west-2"
ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl"
KINDS = ("ml.g5.8xlarge", "ml.p5.48xlarge", "ml.m5.2xlarge")


def main(size: Size = Size.NORMAL) -> list[Row]:
    groups, each = (2, 100) if size is Size.TINY else (100, 50)
    looks = {Size.TINY: 2, Size.NORMAL: 40, Size.FULL: 200}[size]
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), answers(groups, each)) as fake,
        asked_there(fake),
        AwsAccounts() as accounts,
    ):
        return measured(fake, accounts, groups, groups * each, looks)


def measured(fake: Nodes, accounts: AwsAccounts, groups: int, nodes: int, looks: int) -> list[Row]:
    wanted = {key: r for key, r in resources(groups).items() if r.type.startswith("hyperpod.")}
    here = world(accounts, wanted)
    seen = list(look(here, list(wanted.values())))
    assert sum(o.present for o in seen) == groups + 1, [o for o in seen if not o.present][:2]
    assert len(seen[0].detail["nodes"]) == nodes
    seen.clear()
    fake.asked()

    def work() -> dict[str, Observed]:
        observed: dict[str, Observed] = {o.key: o for o in look(here, list(wanted.values()))}
        make(PlanInput(cluster=CLUSTER, revision="a" * 40, desired=wanted, previous=wanted, observed=observed))
        return observed

    ours = repeated(work, 5)
    calls = sum(fake.asked().values()) / 5
    client: Any = plain_client()
    listing = client.get_paginator("list_cluster_nodes")
    plain = repeated(lambda: list(listing.paginate(ClusterName=CLUSTER, PaginationConfig={"PageSize": PAGE})), 5)

    before = memory_now()
    for _ in range(looks):
        work()
    grown = memory_now() - before
    against = "the same pages listed by plain boto3 in one thread"
    what = f"look and plan, {groups} groups, {nodes} nodes"
    return [
        Row(
            bench=f"{what}: CPU",
            measured=ours.cpu,
            unit="s",
            reference=plain.cpu,
            against=against,
            goal=Goal.AT_MOST,
            limit=0.5,
            note=f"{ours.cpu / plain.cpu:.2f} × it; wall {ours.wall:.2f} s to {plain.wall:.2f} s",
        ),
        Row(
            bench=f"{what}: calls",
            measured=calls,
            unit="calls",
            reference=nodes // PAGE + 2,
            against="pages of nodes, DescribeCluster, ListTags",
            goal=Goal.SAME,
        ),
        Row(
            bench=f"{what}: memory that {looks} of them leave behind",
            measured=max(grown, 0.01),
            unit="MB",
            goal=Goal.AT_MOST,
            limit=2,
            note=f"the process holds {before:.0f} MB, service models and all",
        ),
    ]


@contextmanager
def asked_there(fake: Nodes) -> Generator[None]:
    """STS answers from this process; nobody else is asked."""
    sts, before = FakeAws(), dict(os.environ)
    try:
        os.environ.update({**SETTINGS, "AWS_ENDPOINT_URL": sts.url, "AWS_ENDPOINT_URL_SAGEMAKER": fake.url})
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sts.close()


def plain_client() -> Any:
    untyped: Any = boto3
    return untyped.client("sagemaker", region_name=REGION)


def world(accounts: AwsAccounts, wanted: dict[str, Resource]) -> World:
    def no_kube() -> KubeCluster:
        raise CallRefused("there is none", reason="NotConnected")

    def no_file(path: str) -> bytes:
        raise KeyError(path)

    return World(
        cluster=CLUSTER,
        account=ACCOUNT,
        region=REGION,
        aws=accounts.session(ACCOUNT, REGION),
        kube=no_kube,
        clock=Clock(1.0),
        desired=wanted,
        previous={},
        observed={},
        file=no_file,
        cache_dir="",
    )


def answers(groups: int, each: int) -> dict[str, Any]:
    """What SageMaker says of this cluster."""
    marks = {"instantstart:cluster": CLUSTER, "instantstart:key": f"hyperpod.Cluster/{CLUSTER}"}
    return {
        "DescribeCluster": {
            "ClusterArn": ARN,
            "ClusterName": CLUSTER,
            "ClusterStatus": "InService",
            "CreationTime": 1790000000,
            "NodeRecovery": "Automatic",
            "NodeProvisioningMode": "Continuous",
            "Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{CLUSTER}"}},
            "VpcConfig": {"Subnets": ["subnet-0a"], "SecurityGroupIds": ["sg-0a"]},
            "InstanceGroups": [_group(n, each) for n in range(groups)],
        },
        "ListTags": {"Tags": [{"Key": key, "Value": value} for key, value in marks.items()]},
        "ListClusterNodes": pages([node(n, f"group-{n // each}", KINDS[n // each % 3]) for n in range(groups * each)]),
    }


def _group(number: int, count: int) -> dict[str, Any]:
    return {
        "InstanceGroupName": f"group-{number}",
        "InstanceType": KINDS[number % 3],
        "CurrentCount": count,
        "TargetCount": count,
        "MinCount": 0,
        "Status": "InService",
        "ThreadsPerCore": 2,
        "ExecutionRole": f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-execution",
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-prod/lifecycle/default", "OnCreate": "on_create.sh"},
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": False}}],
        "OverrideVpcConfig": {"Subnets": ["subnet-0b"], "SecurityGroupIds": ["sg-0a"]},
        "KubernetesConfig": {
            "CurrentLabels": {"team": "training", "purpose": "large-models", "example.com/owner": "platform"},
            "DesiredLabels": {"team": "training", "purpose": "large-models", "example.com/owner": "platform"},
        },
    }


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
