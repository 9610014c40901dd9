"""What an engineer has before InstantStart: a network, an EKS cluster and a HyperPod cluster, made by boto3 alone."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import EksTokens
from tests.engine_support import Sandbox
from tests.monitoring_agent import MONITORING_AGENT

VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
EDIT = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
ADDONS = ("vpc-cni", "coredns", "kube-proxy", "aws-ebs-csi-driver")
OLD_COREDNS = "v1.11.4-eksbuild.2"
EKS, HYPERPOD = "hand-eks", "hand-pod"
TAGS = {"owner": "platform", "cost-center": "42"}


@dataclass(kw_only=True)
class Made:
    """Ids and names of what was made."""

    vpc: str = ""
    subnets: dict[str, str] = field(default_factory=dict[str, str])
    nodes: str = ""  # security group
    eks_role: str = ""
    node_role: str = ""
    eks: str = ""
    issuer: str = ""
    hyperpod: str = ""
    bucket: str = ""


class ByHand:
    """Makes one thing after another in one account."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.made = Made()
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self.sandbox.client(service)
        return self._clients[service]

    @property
    def account(self) -> str:
        return self.sandbox.account

    @property
    def researchers(self) -> str:
        return f"arn:aws:iam::{self.account}:role/researchers"

    def all(self, *, classic: bool = False) -> Made:
        self.network()
        self.control_plane()
        self.hyperpod(classic=classic)
        return self.made

    def network(self) -> None:
        """A VPC with a public and two private subnets, a gateway, a NAT and their routes."""
        ec2, made = self.client("ec2"), self.made
        made.vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16", TagSpecifications=_tagged("vpc"))["Vpc"]["VpcId"]
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=made.vpc)
        for name, zone, block in (
            ("public", "usw2-az2", "10.77.0.0/24"),
            ("a", "usw2-az2", "10.77.16.0/20"),
            ("b", "usw2-az1", "10.77.32.0/20"),
        ):
            made.subnets[name] = ec2.create_subnet(VpcId=made.vpc, CidrBlock=block, AvailabilityZoneId=zone)["Subnet"][
                "SubnetId"
            ]
        address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        nat = ec2.create_nat_gateway(SubnetId=made.subnets["public"], AllocationId=address)["NatGateway"]
        until(
            lambda: ec2.describe_nat_gateways(NatGatewayIds=[nat["NatGatewayId"]])["NatGateways"][0]["State"],
            "available",
        )
        for target, names in (({"GatewayId": gateway}, ("public",)), ({"NatGatewayId": nat["NatGatewayId"]}, "ab")):
            table = ec2.create_route_table(VpcId=made.vpc)["RouteTable"]["RouteTableId"]
            ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", **target)
            for name in names:
                ec2.associate_route_table(RouteTableId=table, SubnetId=made.subnets[name])

    def control_plane(
        self,
        *,
        name: str = EKS,
        version: str = "1.33",
        mode: str = "API_AND_CONFIG_MAP",
        addons: tuple[str, ...] = ADDONS,
        chart: bool = True,
    ) -> None:
        """An EKS cluster with access entries, add-ons and an identity provider."""
        made, eks, iam = self.made, self.client("eks"), self.client("iam")
        made.eks_role = self._role(f"{name}-role", "eks.amazonaws.com")
        first = not made.eks
        until(lambda: self._try_eks(name, version, mode), "made")
        until(lambda: eks.describe_cluster(name=name)["cluster"]["status"], "ACTIVE")
        cluster = eks.describe_cluster(name=name)["cluster"]
        if not first:
            return
        made.eks, made.issuer = cluster["arn"], cluster["identity"]["oidc"]["issuer"]
        iam.create_open_id_connect_provider(Url=made.issuer, ClientIDList=["sts.amazonaws.com", "another"])
        if mode != "CONFIG_MAP":
            self._role("researchers", "ec2.amazonaws.com")
            eks.create_access_entry(clusterName=name, principalArn=self.researchers, tags=TAGS)
            for policy in (VIEW, EDIT):
                eks.associate_access_policy(
                    clusterName=name, principalArn=self.researchers, policyArn=policy, accessScope={"type": "cluster"}
                )
        for addon in addons:
            old = {"addonVersion": OLD_COREDNS} if addon == "coredns" else {}
            eks.create_addon(clusterName=name, addonName=addon, tags=TAGS, **old)
        if chart:
            self.kube(name).apply([_NAMESPACE, MONITORING_AGENT], op="by-hand")

    def hyperpod(self, *, classic: bool = False, groups: tuple[dict[str, Any], ...] = ()) -> None:
        """A HyperPod cluster with groups of odd shapes."""
        made = self.made
        self._for_nodes()
        asked: dict[str, Any] = {
            "ClusterName": HYPERPOD,
            "Orchestrator": {"Eks": {"ClusterArn": made.eks}},
            "VpcConfig": {"Subnets": [made.subnets["a"]], "SecurityGroupIds": [made.nodes]},
            "NodeRecovery": "None",
            "Tags": [{"Key": key, "Value": value} for key, value in TAGS.items()],
            "InstanceGroups": list(groups or self.odd_groups(classic=classic)),
        }
        if not classic:
            asked["NodeProvisioningMode"] = "Continuous"
        until(lambda: self._try_hyperpod(asked), "made")
        until(lambda: self.describe()["ClusterStatus"], "InService")
        until(lambda: all(g["CurrentCount"] == g["TargetCount"] for g in self.describe()["InstanceGroups"]), True)

    def slurm(self, name: str) -> None:
        """A HyperPod cluster of the older kind: no orchestrator is named, so Slurm it is."""
        made, sagemaker = self.made, self.client("sagemaker")
        if not made.nodes:
            self._for_nodes()
        groups = [self.group("controller", "ml.c5.2xlarge", 1), self.group("workers", "ml.m5.2xlarge", 2)]
        asked: dict[str, Any] = {
            "ClusterName": name,
            "VpcConfig": {"Subnets": [made.subnets["a"]], "SecurityGroupIds": [made.nodes]},
            "Tags": [{"Key": key, "Value": value} for key, value in TAGS.items()],
            "InstanceGroups": groups,
        }
        until(lambda: self._try_hyperpod(asked), "made")
        until(lambda: sagemaker.describe_cluster(ClusterName=name)["ClusterStatus"], "InService")

    def odd_groups(self, *, classic: bool = False) -> list[dict[str, Any]]:
        elsewhere = {"Subnets": [self.made.subnets["b"]], "SecurityGroupIds": [self.made.nodes]}
        plain = self.group("plain", "ml.m5.2xlarge", 2)
        labelled = self.group("labelled", "ml.c5.2xlarge", 1) | {
            "KubernetesConfig": {
                "Labels": {"team": "a"},
                "Taints": [{"Key": "dedicated", "Value": "x", "Effect": "NoSchedule"}],
            },
            "OverrideVpcConfig": elsewhere,
            "ThreadsPerCore": 1,
        }
        gpu = self.group("gpu", "ml.g5.8xlarge", 1) | {
            "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
            "NetworkInterface": {"InterfaceType": "efa"},
        }
        if classic:
            return [plain, labelled, gpu]
        spot: dict[str, Any] = self.group("spot", "ml.g5.xlarge", 1) | {
            "CapacityRequirements": {"Spot": {}},
            "MinInstanceCount": 1,
        }
        flexible = {k: v for k, v in self.group("flexible", "", 1).items() if k != "InstanceType"}
        flexible["InstanceRequirements"] = {"InstanceTypes": ["ml.g5.xlarge", "ml.g6.xlarge"]}
        return [plain, labelled, gpu, spot, self.group("idle", "ml.t3.large", 0), flexible]

    def group(self, name: str, kind: str, count: int) -> dict[str, Any]:
        return {
            "InstanceGroupName": name,
            "InstanceType": kind,
            "InstanceCount": count,
            "ExecutionRole": self.made.node_role,
            "LifeCycleConfig": {"SourceS3Uri": f"s3://{self.made.bucket}/scripts/v7", "OnCreate": "go.sh"},
        }

    # What is live

    def describe(self) -> dict[str, Any]:
        return dict(self.client("sagemaker").describe_cluster(ClusterName=HYPERPOD))

    def groups(self) -> dict[str, dict[str, Any]]:
        return {group["InstanceGroupName"]: group for group in self.describe()["InstanceGroups"]}

    def tags(self) -> dict[str, dict[str, str]]:
        """The tags of everything that was made by hand and can be adopted."""
        eks, made = self.client("eks"), self.made
        listed = self.client("sagemaker").list_tags(ResourceArn=self.describe()["ClusterArn"])["Tags"]
        arn = f"arn:aws:iam::{self.account}:oidc-provider/{made.issuer.removeprefix('https://')}"
        found = {
            "vpc": _map(self.client("ec2").describe_vpcs(VpcIds=[made.vpc])["Vpcs"][0].get("Tags")),
            "eks": eks.describe_cluster(name=EKS)["cluster"]["tags"],
            "hyperpod": _map(listed),
            "provider": _map(self.client("iam").get_open_id_connect_provider(OpenIDConnectProviderArn=arn)["Tags"]),
            "researchers": eks.describe_access_entry(clusterName=EKS, principalArn=self.researchers)["accessEntry"][
                "tags"
            ],
        }
        for addon in eks.list_addons(clusterName=EKS)["addons"]:
            found[addon] = eks.describe_addon(clusterName=EKS, addonName=addon)["addon"]["tags"]
        return found

    def kube(self, name: str = EKS) -> KubeCluster:
        session = AwsAccounts().session(self.account, self.sandbox.region)
        cluster = self.client("eks").describe_cluster(name=name)["cluster"]
        authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
        return KubeCluster(cluster["endpoint"], authority, EksTokens(session, name))

    def _for_nodes(self) -> None:
        """What nodes run as, in and with."""
        made, s3 = self.made, self.client("s3")
        made.node_role = self._role("hand-nodes", "sagemaker.amazonaws.com")
        made.nodes = self.client("ec2").create_security_group(
            GroupName="hand-nodes", Description="nodes", VpcId=made.vpc
        )["GroupId"]
        made.bucket = f"sagemaker-by-hand-{self.account}"
        s3.create_bucket(Bucket=made.bucket, CreateBucketConfiguration={"LocationConstraint": self.sandbox.region})
        s3.put_object(Bucket=made.bucket, Key="scripts/v7/go.sh", Body=b"#!/bin/bash\n")

    def _role(self, name: str, service: str) -> str:
        trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": ["sts:AssumeRole", "sts:TagSession"]}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        return str(self.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"])

    def _try_eks(self, name: str, version: str, mode: str) -> str:
        eks = self.client("eks")
        try:
            eks.create_cluster(
                name=name,
                version=version,
                roleArn=self.made.eks_role,
                resourcesVpcConfig={"subnetIds": [self.made.subnets["a"], self.made.subnets["b"]]},
                accessConfig={"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True},
                bootstrapSelfManagedAddons=False,
                tags=TAGS,
            )
        except eks.exceptions.ClientError as error:
            return str(error)  # a role is usable some seconds after it was made
        return "made"

    def _try_hyperpod(self, asked: Mapping[str, Any]) -> str:
        sagemaker = self.client("sagemaker")
        try:
            sagemaker.create_cluster(**asked)
        except sagemaker.exceptions.ClientError as error:
            return str(error)
        return "made"


def until(look: Callable[[], Any], wanted: Any, limit: float = 300.0) -> None:
    """Look until it is as wanted."""
    end = time.monotonic() + limit
    while (seen := look()) != wanted:
        assert time.monotonic() < end, f"{seen}, not {wanted}, in {limit} s"
        time.sleep(0.02)


def _tagged(kind: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in TAGS.items()]}]


def _map(tags: Any) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in tags or ()}


_NAMESPACE: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "aws-hyperpod"}}
