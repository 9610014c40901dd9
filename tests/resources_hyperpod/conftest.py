"""A sandbox account with what a HyperPod cluster needs: network, roles, lifecycle script, EKS with the chart."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import EksTokens
from reconciler.sandbox.embedded import Sandbox
from schemas.resource import Resource, Stage
from tests.monitoring_agent import MONITORING_AGENT
from tests.resources_support import Place, clouds, place, resource, trust

__all__ = ["clouds", "place"]


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Ids of what stands before HyperPod, and resources that build on it."""

    place: Place
    eks: str
    role: str
    subnet: str
    group: str
    bucket: str

    @property
    def sandbox(self) -> Sandbox:
        return self.place.sandbox

    def cluster(self, **spec: Any) -> Resource:
        return resource(
            "hyperpod.Cluster/prod",
            {
                "eks": self.eks,
                "nodeRecovery": "Automatic",
                "provisioning": "Continuous",
                "subnets": [self.subnet],
                "securityGroups": [self.group],
                **spec,
            },
            name="prod",
            lane="hyperpod/prod",
            stage=Stage.COMPUTE,
        )

    def instances(self, name: str, count: int, **spec: Any) -> Resource:
        return resource(
            f"hyperpod.InstanceGroup/prod/{name}",
            {
                "instanceType": "ml.m5.xlarge",
                "count": count,
                "subnets": [self.subnet],
                "securityGroups": [self.group],
                "executionRole": self.role,
                "lifecycle": {"sourceS3Uri": f"s3://{self.bucket}/lifecycle", "onCreate": "on_create.sh"},
                "capacity": {"onDemand": {}},
                **spec,
            },
            name=name,
            lane="hyperpod/prod",
            stage=Stage.COMPUTE,
        )

    def live(self) -> dict[str, Any]:
        found: dict[str, Any] = self.place.aws.read("sagemaker", "DescribeCluster", ClusterName="prod")
        return found

    def kube(self) -> KubeCluster:
        """The product's own way into the cluster's Kubernetes API."""
        made = self.place.aws.read("eks", "DescribeCluster", name="prod")["cluster"]
        authority = base64.b64decode(made["certificateAuthority"]["data"]).decode()
        return KubeCluster(made["endpoint"], authority, EksTokens(self.place.aws, "prod"))

    def kubernetes(self) -> Any:
        """The same from inside, for what controllers would do."""
        return self.sandbox.cloud.world.eks[self.sandbox.account, self.sandbox.region]["prod"].kubernetes


@pytest.fixture
def ground(place: Place) -> Ground:
    sandbox = place.sandbox
    ec2, iam, s3, eks = (sandbox.client(service) for service in ("ec2", "iam", "s3", "eks"))
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets: list[str] = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=f"{sandbox.region}{zone}")["Subnet"]["SubnetId"]
        for zone, block in (("a", "10.0.0.0/20"), ("b", "10.0.16.0/20"))
    ]
    make_role: Callable[..., Any] = iam.create_role
    roles: dict[str, str] = {
        name: make_role(RoleName=name, AssumeRolePolicyDocument=trust(service))["Role"]["Arn"]
        for name, service in (("eks", "eks.amazonaws.com"), ("nodes", "sagemaker.amazonaws.com"))
    }
    bucket = f"sagemaker-prod-{sandbox.account}"
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": sandbox.region})
    s3.put_object(Bucket=bucket, Key="lifecycle/on_create.sh", Body=b"#!/bin/bash\n")
    security: str = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    sandbox.pass_time(sandbox.cloud.world.pace.role_usable * 2)
    made: str = eks.create_cluster(
        name="prod",
        roleArn=roles["eks"],
        resourcesVpcConfig={"subnetIds": subnets},
        accessConfig={"authenticationMode": "API"},
        version="1.34",
    )["cluster"]["arn"]
    sandbox.until(lambda: eks.describe_cluster(name="prod")["cluster"]["status"], lambda s: s == "ACTIVE")
    ground = Ground(place=place, eks=made, role=roles["nodes"], subnet=subnets[0], group=security, bucket=bucket)
    ground.kubernetes().put(MONITORING_AGENT)
    return ground
