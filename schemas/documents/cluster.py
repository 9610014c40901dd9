"""Cluster: the account it must be in, its control plane, its HyperPod settings, and what it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from schemas.documents import words
from schemas.documents.dependencies import Dependencies
from schemas.documents.fields import documented, listed, shared
from schemas.documents.shapes import Broken, Metadata, Ruled, Shape
from schemas.plan import Cost

_ANEW: Final = "make a new cluster document, move the work, then delete this one"
_AWS_REFERENCE_CIDR: Final = "10.192.0.0/16"

AccessPolicy: TypeAlias = Literal[
    "AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy"
]
LogType: TypeAlias = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]
_ALL_LOGS: Final[tuple[LogType, ...]] = ("api", "audit", "authenticator", "controllerManager", "scheduler")


class Network(Ruled):
    """Where the cluster lives: a VPC of our own, or one that is there already."""

    also_known: ClassVar[dict[str, str]] = {"vpcId": "vpc", "cidr": "vpcCidr", "cidrBlock": "vpcCidr"}

    vpc_cidr: words.VpcCidr = documented(
        "Address range of the VPC that is made for this cluster, /16 to /18. Subnets are cut from it as needed.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default=_AWS_REFERENCE_CIDR,
    )
    vpc: words.VpcId | None = documented(
        "An existing VPC to live in. It is used, never owned: subnets are added, nothing else is changed.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default=None,
    )

    def rules(self) -> Iterator[Broken]:
        if self.vpc is not None and "vpc_cidr" in self.model_fields_set:
            yield Broken(
                fields=(("vpcCidr",), ("vpc",)),
                expected="either vpc or vpcCidr",
                found="both",
                hint="an existing VPC has its range already; remove vpcCidr",
            )


class Access(Shape):
    """One IAM principal's right in the cluster: an EKS access entry with one access policy."""

    also_known: ClassVar[dict[str, str]] = {"principalArn": "principal", "policyArn": "policy", "role": "principal"}

    principal: words.PrincipalArn = documented("The IAM role or user.", cost=Cost.IN_PLACE)
    policy: AccessPolicy = documented("The EKS access policy.", cost=Cost.IN_PLACE)
    namespaces: Annotated[tuple[words.ObjectName, ...], Field(min_length=1)] | None = listed(
        "Namespaces the right is limited to; absent: the whole cluster.",
        cost=Cost.IN_PLACE,
        default=None,
        unique_by=(),
    )


class Endpoint(Ruled):
    """Who may reach the Kubernetes API."""

    public: bool = documented("Reachable from the internet, by publicCidrs.", cost=Cost.IN_PLACE, default=True)
    private: bool = documented("Reachable inside the VPC.", cost=Cost.IN_PLACE, default=True)
    public_cidrs: Annotated[tuple[words.PublicCidr, ...], Field(min_length=1, max_length=40)] = listed(
        "Address ranges that may reach the public endpoint.",
        cost=Cost.IN_PLACE,
        default=("0.0.0.0/0",),
        unique_by=(),
    )

    def rules(self) -> Iterator[Broken]:
        if not self.public and not self.private:
            yield Broken(
                fields=(("public",), ("private",)),
                expected="public or private access",
                found="neither",
                hint="nobody could reach the cluster",
            )
        if not self.public and "public_cidrs" in self.model_fields_set:
            yield Broken(
                fields=(("publicCidrs",), ("public",)),
                expected="publicCidrs only with public: true",
                found="public: false",
                hint="remove publicCidrs",
            )


class HyperPod(Ruled):
    """Settings of the HyperPod cluster as a whole."""

    also_known: ClassVar[dict[str, str]] = {"enableNodeAutoRecovery": "nodeRecovery", "resilience": "nodeRecovery"}

    node_recovery: Literal["Automatic", "None"] = documented(
        "Whether the service reboots or replaces faulty nodes by itself.", cost=Cost.IN_PLACE, default="Automatic"
    )
    provisioning: Literal["Continuous"] = documented(
        "How nodes come: Continuous keeps partial results and retries. The classic all-or-nothing mode is not served.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default="Continuous",
    )
    tags: Annotated[Mapping[words.TagKey, words.TagValue], Field(max_length=40)] = documented(
        "Tags on the HyperPod and EKS clusters, for cost reports and the like.",
        cost=Cost.IN_PLACE,
        default_factory=dict[str, str],
    )

    def rules(self) -> Iterator[Broken]:
        for key in self.tags:
            if key.lower().startswith(("aws:", "instantstart:")) or key == "SageMaker":
                yield Broken(
                    fields=(("tags", key),),
                    expected="a tag key of your own",
                    found=f"the reserved key {key}",
                    hint="aws:, instantstart: and SageMaker are not yours to set",
                )


class Adopt(Shape):
    """Live things to take over. Adopting is planned like any action; what was adopted is released, never deleted."""

    vpc: words.VpcId | None = documented(
        "An existing VPC to mark as this cluster's; else like network.vpc.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default=None,
    )
    eks: words.EksName | None = documented(
        "The name of an existing EKS cluster. Add-ons and the identity provider that are there are adopted with it.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default=None,
    )
    hyperpod: words.GroupName | None = documented(
        "The name of an existing HyperPod cluster, on that EKS cluster. Its groups are those that have a document; of"
        " them only what is written there is compared.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default=None,
    )


class ClusterSpec(Ruled):
    """One HyperPod cluster on its own EKS cluster."""

    also_known: ClassVar[dict[str, str]] = {
        "accountId": "account",
        "awsAccount": "account",
        "awsRegion": "region",
        "version": "kubernetesVersion",
        "k8sVersion": "kubernetesVersion",
        "kubernetes": "kubernetesVersion",
        "vpc": "network",
        "addons": "dependencies",
        "accessEntries": "access",
        "logs": "logging",
        "nodeRecovery": "hyperpod",
        "tags": "hyperpod",
        "paused": "suspend",
    }

    account: words.AccountId = documented(
        "The AWS account this cluster is in. A guard: nothing is ever done in another one.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
    )
    region: words.Region = documented("The AWS Region, a guard like the account.", cost=Cost.REFUSED, way_out=_ANEW)
    kubernetes_version: words.KubernetesVersion = documented(
        "The EKS version. Explicit, so that a cluster is upgraded by a commit and by nothing else. Upgrades go one"
        " minor version at a time: control plane first, then the nodes' software.",
        cost=Cost.ROLLING,
    )
    network: Network = documented(
        "The network. Nothing is needed: ranges, subnets and routes are chosen for you.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default_factory=shared(Network()),
    )
    access: Annotated[tuple[Access, ...], Field(max_length=100)] = listed(
        "Who may use the Kubernetes API, beside this control plane.",
        cost=Cost.IN_PLACE,
        default=(),
        unique_by=("principal", "policy"),
    )
    endpoint: Endpoint = documented(
        "Who may reach the Kubernetes API.", cost=Cost.IN_PLACE, default_factory=shared(Endpoint())
    )
    logging: Annotated[tuple[LogType, ...], Field(max_length=5)] = listed(
        "Control plane logs that go to CloudWatch.", cost=Cost.IN_PLACE, default=_ALL_LOGS, unique_by=()
    )
    hyperpod: HyperPod = documented(
        "Settings of the HyperPod cluster.", cost=Cost.IN_PLACE, default_factory=shared(HyperPod())
    )
    dependencies: Dependencies = documented(
        "Add-ons and the chart that HyperPod needs in the cluster.",
        cost=Cost.IN_PLACE,
        default_factory=shared(Dependencies()),
    )
    lifecycle_script: words.FilePath | None = documented(
        "The script nodes run when they are made; its whole folder is uploaded. Absent: one that does nothing."
        " A change reaches new nodes only.",
        cost=Cost.IN_PLACE,
        default=None,
    )
    adopt: Adopt = documented(
        "Live things to take over instead of making them.",
        cost=Cost.REFUSED,
        way_out=_ANEW,
        default_factory=shared(Adopt()),
    )
    deletion_protection: bool = documented(
        "Deleting a cluster takes two commits: this set to false and applied, then the folder removed.",
        cost=Cost.IN_PLACE,
        default=True,
    )
    suspend: bool = documented(
        "While true nothing is changed; looking and following what was already sent goes on.",
        cost=Cost.IN_PLACE,
        default=False,
    )

    def rules(self) -> Iterator[Broken]:
        if self.network.vpc is not None and self.adopt.vpc is not None:
            yield Broken(
                fields=(("adopt", "vpc"), ("network", "vpc")),
                expected="the VPC either adopted or only used",
                found="both",
                hint="adopt.vpc makes it ours, network.vpc leaves it alone",
            )
        if self.adopt.hyperpod is not None and self.adopt.eks is None:
            yield Broken(
                fields=(("adopt", "hyperpod"),),
                expected="adopt.eks beside it",
                found="adopt.hyperpod alone",
                hint="a HyperPod cluster is bound to its EKS cluster: name that one under adopt.eks",
            )
        if self.adopt.eks is not None and self.network.vpc is None and self.adopt.vpc is None:
            yield Broken(
                fields=(("adopt", "eks"),),
                expected="the VPC in which the EKS cluster is",
                found="neither network.vpc nor adopt.vpc",
                hint="write network.vpc (it is only used) or adopt.vpc (it is marked as this cluster's)",
            )
        pairs = [(entry.principal, entry.policy) for entry in self.access]
        for index, pair in enumerate(pairs):
            if pair in pairs[:index]:
                yield Broken(
                    fields=(("access", index),),
                    expected="each principal and policy once",
                    found=f"{pair[1]} for {pair[0]} again",
                    hint="put the namespaces into one entry",
                )
        for index, kind in enumerate(self.logging):
            if kind in self.logging[:index]:
                yield Broken(fields=(("logging", index),), expected="each log once", found=f"{kind} again")


class ClusterMetadata(Metadata):
    """The cluster's name, which is also its folder's."""

    name: words.ClusterName = Field(description="The cluster's name, the same as its folder's.")


class Cluster(Shape):
    """The cluster of a folder; there is exactly one."""

    api_version: Literal["instantstart/v1"]
    kind: Literal["Cluster"]
    metadata: ClusterMetadata
    spec: ClusterSpec
