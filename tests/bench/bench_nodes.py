"""A look at a HyperPod cluster with 100 groups and 5,000 nodes, and the plan from it, against a scripted API.

The rest of a tick does not grow with the nodes: see the bench `tick` for that.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
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
from tests.bench.measuring import Run, median
from tests.bench.rows import Goal, Row, Size
from tests.live.aws_server import ACCOUNT, Answer, FakeAws, Seen

CLUSTER, REGION, PAGE = "prod", "us-west-2", 100
ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl"


def main(size: Size = Size.NORMAL) -> list[Row]:
    groups, each = (2, 100) if size is Size.TINY else (100, 50)
    fake, before = FakeAws(), dict(os.environ)
    try:
        os.environ.update({**SETTINGS, "AWS_ENDPOINT_URL": fake.url})
        fake.script = script(groups, each)
        with AwsAccounts() as accounts:
            return measured(fake, accounts, groups, groups * each)
    finally:
        os.environ.clear()
        os.environ.update(before)
        fake.close()


def measured(fake: FakeAws, accounts: AwsAccounts, groups: int, nodes: int) -> list[Row]:
    wanted = {key: r for key, r in resources(groups).items() if r.type.startswith("hyperpod.")}
    here = world(accounts, wanted)
    seen = list(look(here, list(wanted.values())))
    assert sum(o.present for o in seen) == groups + 1, [o for o in seen if not o.present][:2]
    assert len(seen[0].detail["nodes"]) == nodes
    before = len(fake.calls())

    def work() -> None:
        observed: dict[str, Observed] = {o.key: o for o in look(here, list(wanted.values()))}
        make(PlanInput(cluster=CLUSTER, revision="a" * 40, desired=wanted, previous=wanted, observed=observed))

    ours = median([of_this_thread(work) for _ in range(5)])
    calls = (len(fake.calls()) - before) / 5
    client: Any = plain_client()
    pages = client.get_paginator("list_cluster_nodes")

    def listing() -> None:
        list(pages.paginate(ClusterName=CLUSTER, PaginationConfig={"PageSize": PAGE}))

    plain = median([of_this_thread(listing) for _ in range(5)])
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
            note=f"wall {ours.wall:.2f} s to {plain.wall:.2f} s",
        ),
        Row(
            bench=f"{what}: calls",
            measured=calls,
            unit="calls",
            reference=nodes // PAGE + 2,
            against="pages of nodes, DescribeCluster, ListTags",
            goal=Goal.SAME,
        ),
    ]


def of_this_thread(work: Callable[[], object]) -> Run:
    """CPU of this thread alone: the scripted API answers from others of this process."""
    cpu, start = time.thread_time(), time.perf_counter()
    work()
    return Run(wall=time.perf_counter() - start, cpu=time.thread_time() - cpu)


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


def script(groups: int, each: int) -> Callable[[Seen], Answer]:
    """Answers of SageMaker, written once."""
    cluster = raw(
        ClusterArn=ARN,
        ClusterName=CLUSTER,
        ClusterStatus="InService",
        CreationTime=1790000000,
        NodeRecovery="Automatic",
        NodeProvisioningMode="Continuous",
        Orchestrator={"Eks": {"ClusterArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{CLUSTER}"}},
        VpcConfig={"Subnets": ["subnet-0a"], "SecurityGroupIds": ["sg-0a"]},
        InstanceGroups=[_group(n, each) for n in range(groups)],
    )
    marks = {"instantstart:cluster": CLUSTER, "instantstart:key": f"hyperpod.Cluster/{CLUSTER}"}
    tags = raw(Tags=[{"Key": key, "Value": value} for key, value in marks.items()])
    nodes = [_node(number, number // each) for number in range(groups * each)]
    pages = [nodes[at : at + PAGE] for at in range(0, len(nodes), PAGE)]
    more = [{"NextToken": f"page-{n + 1}"} if n + 1 < len(pages) else {} for n in range(len(pages))]
    told = [raw(ClusterNodeSummaries=page, **token) for page, token in zip(pages, more, strict=True)]

    def answer(seen: Seen) -> Answer:
        match seen.operation:
            case "DescribeCluster":
                return cluster
            case "ListTags":
                return tags
            case _:
                token = str(json.loads(seen.body).get("NextToken") or "page-0")
                return told[int(token.removeprefix("page-"))]

    return answer


def raw(**members: Any) -> Answer:
    return Answer(raw=json.dumps(members).encode())


def _group(number: int, count: int) -> dict[str, Any]:
    kind = ("ml.g5.8xlarge", "ml.p5.48xlarge", "ml.m5.2xlarge")[number % 3]
    return {
        "InstanceGroupName": f"group-{number}",
        "InstanceType": kind,
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


def _node(number: int, group: int) -> dict[str, Any]:
    return {
        "InstanceGroupName": f"group-{group}",
        "InstanceId": f"i-{number:017x}",
        "InstanceType": ("ml.g5.8xlarge", "ml.p5.48xlarge", "ml.m5.2xlarge")[group % 3],
        "LaunchTime": 1790000000,
        "InstanceStatus": {"Status": "Running"},
        "PrivateDnsHostname": f"ip-10-1-{number // 256}-{number % 256}",
        "CurrentImageReleaseVersion": "1.0.20",
        "ImageVersionStatus": "UpToDate",
    }


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
