"""The sandbox's EKS with a Kubernetes API behind it, the sandbox's chart in a git repository, and a real helm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.resources.control_plane.clusters import ClusterHandler
from reconciler.resources.helm.binary import find_helm
from reconciler.sandbox.chart import make_chart_repository
from schemas.errors import StopUntilChange
from tests.resources_support import Place, clouds, place, resource, trust

__all__ = ["clouds", "place"]


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a helm binary, unpacked once for all tests."""
    try:
        return find_helm(str(tmp_path_factory.mktemp("helm")))
    except StopUntilChange as missing:
        pytest.skip(missing.message)


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The sandbox's HyperPod chart: repository, path and commit."""
    repository, path, commit = make_chart_repository(tmp_path_factory.mktemp("chart") / "repository")
    return {"repository": repository, "path": path, "commit": commit}


@pytest.fixture
def eks(place: Place, helm: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place with an ACTIVE EKS cluster, which was there before us."""
    monkeypatch.setenv("INSTANTSTART_HELM", helm)
    ec2, client = place.sandbox.client("ec2"), place.sandbox.client("eks")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"us-west-2{zone}")["Subnet"]
        for n, zone in enumerate("ab")
    ]
    role: Any = place.sandbox.client("iam").create_role(
        RoleName="eks", AssumeRolePolicyDocument=trust("eks.amazonaws.com")
    )
    place.sandbox.pass_time(15)
    client.create_cluster(
        name="prod",
        roleArn=role["Role"]["Arn"],
        resourcesVpcConfig={"subnetIds": [subnet["SubnetId"] for subnet in subnets]},
        accessConfig={"authenticationMode": "API"},
    )
    place.sandbox.until(lambda: client.describe_cluster(name="prod")["cluster"]["status"], lambda s: s == "ACTIVE")
    place.want(resource("eks.Cluster/prod", {}, adopt="prod", reference=True))
    place.look(ClusterHandler())
    yield place
