"""One sandbox for all tests of this folder; what EKS and HyperPod have is forgotten between tests."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator

import pytest

from reconciler.sandbox import embedded
from reconciler.sandbox.aws.kubernetes_seam import StandInHost
from reconciler.sandbox.aws.pace import Pace
from reconciler.sandbox.embedded import Sandbox
from tests.monitoring_agent import MONITORING_AGENT

_NUMBERS = itertools.count()  # names of roles must not meet


@pytest.fixture(scope="session")
def running() -> Iterator[Sandbox]:
    with embedded.running(kubernetes=StandInHost()) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running: Sandbox) -> Iterator[Sandbox]:
    """An empty account. EC2 and IAM keep what earlier tests made there: a new account costs half a second."""
    yield running
    running.cloud.forget()


@pytest.fixture
def network(sandbox: Sandbox) -> dict[str, str]:
    """A VPC with subnets a and b in two zones and a security group: vpc, a, b, group."""
    ec2 = sandbox.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = {"vpc": vpc}
    for zone, block in (("a", "10.0.0.0/20"), ("b", "10.0.16.0/20")):
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=f"us-west-2{zone}")["Subnet"]
        made[zone] = subnet["SubnetId"]
    made["group"] = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    return made


@pytest.fixture
def role(sandbox: Sandbox) -> Callable[..., str]:
    """Make a role that services trust; with wait, old enough to be used."""

    def make(name: str, *services: str, wait: bool = True) -> str:
        statement = {"Effect": "Allow", "Principal": {"Service": list(services)}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam = sandbox.client("iam")
        made = iam.create_role(RoleName=f"{name}-{next(_NUMBERS)}", AssumeRolePolicyDocument=document)
        arn: str = made["Role"]["Arn"]
        if wait:
            sandbox.pass_time(Pace().role_usable + 2)
        return arn

    return make


@pytest.fixture
def eks(sandbox: Sandbox, network: dict[str, str], role: Callable[..., str]) -> str:
    """The ARN of an ACTIVE EKS cluster named prod, without the HyperPod chart."""
    client = sandbox.client("eks")
    made = client.create_cluster(
        name="prod",
        roleArn=role("eks", "eks.amazonaws.com"),
        resourcesVpcConfig={"subnetIds": [network["a"], network["b"]]},
        accessConfig={"authenticationMode": "API"},
        version="1.34",
    )["cluster"]
    sandbox.until(lambda: client.describe_cluster(name="prod")["cluster"]["status"], lambda s: s == "ACTIVE")
    return str(made["arn"])


@pytest.fixture
def chart(sandbox: Sandbox, eks: str) -> str:
    """The same cluster with the chart's sign of life in it."""
    kubernetes = sandbox.cloud.world.eks[sandbox.account, sandbox.region]["prod"].kubernetes
    assert kubernetes is not None
    kubernetes.put(MONITORING_AGENT)
    return eks
