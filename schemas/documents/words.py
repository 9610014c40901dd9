"""The words of documents: texts with a form, and the sentence that says what was expected.

A pattern is checked by pydantic's own engine; `expected_for` finds the sentence when it does not match.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from schemas import instance_types, limits, quantities

WORD_ERROR: Final = "word"

_EXPECTED: Final[dict[str, tuple[str, str]]] = {}


def expected_for(pattern: str) -> tuple[str, str]:
    """What a text of this pattern is called, and a hint."""
    return _EXPECTED.get(pattern, (f"text like {pattern}", ""))


def form(pattern: str, expected: str, longest: int, hint: str = "") -> Any:
    _EXPECTED[pattern] = (expected, hint)
    return StringConstraints(pattern=pattern, min_length=1, max_length=longest)


def refused(expected: str, hint: str = "") -> PydanticCustomError:
    """The error of a word that is checked by a function."""
    return PydanticCustomError(WORD_ERROR, "expected {expected}", {"expected": expected, "hint": hint})


# Names

CLUSTER_NAME: Final = r"^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$"
_LABEL: Final = r"^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$"

ClusterName: TypeAlias = Annotated[
    str, form(CLUSTER_NAME, "a cluster name: a-z, 0-9 and '-', at most 40 characters", longest=40)
]
GroupName: TypeAlias = Annotated[
    str,
    form(
        limits.pattern("instanceGroupName"),
        "an instance group name: letters, digits and '-', at most 63 characters",
        longest=limits.largest("instanceGroupName"),
        hint="no underscores, no dots",
    ),
]
ObjectName: TypeAlias = Annotated[
    str, form(_LABEL, "a Kubernetes name: a-z, 0-9 and '-', at most 63 characters", longest=63)
]
EksName: TypeAlias = Annotated[
    str, form(limits.pattern("eksClusterName"), "an EKS cluster name", longest=limits.largest("eksClusterName"))
]
AddonName: TypeAlias = Annotated[
    str, form(r"^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$", "an EKS add-on name such as vpc-cni", longest=100)
]

# AWS

AccountId: TypeAlias = Annotated[
    str, form(r"^[0-9]{12}$", "an AWS account id: 12 digits as text", longest=12, hint='quote it, as in "111122223333"')
]
Region: TypeAlias = Annotated[
    str, form(r"^[a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]$", "an AWS Region such as us-west-2", longest=30)
]
Zone: TypeAlias = Annotated[
    str,
    form(
        r"^(?:[a-z]{3,6}[0-9]-az[0-9]{1,2}|[a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9][a-z])$",
        "a zone id such as usw2-az2, or a zone name such as us-west-2b",
        longest=40,
    ),
]
VpcId: TypeAlias = Annotated[str, form(r"^vpc-[0-9a-f]{8,17}$", "a VPC id such as vpc-0a1b2c3d", longest=21)]
NodeId: TypeAlias = Annotated[
    str,
    form(
        limits.pattern("nodeId"),
        "an instance id such as i-0123456789abcdef0",
        longest=19,
        hint="name the instance: a node's other names may already belong to a healthy new machine",
    ),
]
PrincipalArn: TypeAlias = Annotated[
    str,
    form(
        r"^arn:aws[a-z-]*:iam::[0-9]{12}:(?:role|user)/[A-Za-z0-9_+=,.@/-]{1,512}$",
        "the ARN of an IAM role or user",
        longest=600,
        hint="of an assumed role, give the role itself",
    ),
]
TrainingPlanArn: TypeAlias = Annotated[
    str,
    form(limits.pattern("trainingPlanArn"), "the ARN of a training plan", longest=limits.largest("trainingPlanArn")),
]
KmsKeyId: TypeAlias = Annotated[
    str, form(limits.pattern("kmsKeyId"), "a KMS key id or ARN", longest=limits.largest("kmsKeyId"))
]
TagKey: TypeAlias = Annotated[
    str, form(limits.pattern("tagKey"), "a tag: letters, digits, spaces and _.:/=+-@", longest=128)
]
TagValue: TypeAlias = Annotated[str, StringConstraints(pattern=limits.pattern("tagValue"), max_length=256)]
BucketName: TypeAlias = Annotated[
    str,
    form(r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", "an S3 bucket name: 3 to 63 of a-z, 0-9, '-' and '.'", longest=63),
]
KeyPrefix: TypeAlias = Annotated[
    str,
    form(
        r"^[A-Za-z0-9!_.*'()-][A-Za-z0-9!_.*'()/-]{0,1000}/$",
        "a key prefix such as datasets/",
        longest=1024,
        hint="no slash in front, one at the end",
    ),
]


def _instance_type(value: str) -> str:
    if instance_types.exists(value):
        return value
    hint = f"write ml.{value}" if instance_types.exists(f"ml.{value}") else ""
    raise refused("an instance type that HyperPod offers, such as ml.g5.8xlarge", hint)


InstanceType: TypeAlias = Annotated[
    str,
    AfterValidator(_instance_type),
    WithJsonSchema({"type": "string", "enum": list(instance_types.NAMES)}),
]


def _cidr(value: str) -> str:
    try:
        network = ipaddress.IPv4Network(value)
    except ValueError:
        raise refused("an IPv4 range such as 10.192.0.0/16", "the address must be the first of its range") from None
    if not 16 <= network.prefixlen <= 18:
        raise refused("a range between /16 and /18", "compute subnets of /20 are cut from it")
    private = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
    if not any(network.subnet_of(ipaddress.IPv4Network(block)) for block in private):
        raise refused("a private range", "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10")
    return value


VpcCidr: TypeAlias = Annotated[str, AfterValidator(_cidr)]


def _public_cidr(value: str) -> str:
    try:
        ipaddress.ip_network(value)
    except ValueError:
        raise refused("an address range such as 203.0.113.0/24", "the address must be the first of its range") from None
    if "/" not in value:
        raise refused("an address range with its length", f"for one address write {value}/32")
    return value


PublicCidr: TypeAlias = Annotated[str, AfterValidator(_public_cidr)]

# Kubernetes

_RESERVED_DOMAINS: Final = (
    "kubernetes.io",
    "k8s.io",
    "sagemaker.amazonaws.com",
    "eks.amazonaws.com",
    "k8s.aws",
    "karpenter.sh",
    "instantstart.dev",
)
_RESERVED_ENDS: Final = tuple(f".{domain}" for domain in _RESERVED_DOMAINS)


def _not_reserved(key: str) -> str:
    domain, slash, name = key.rpartition("/")
    if len(name) > 63 or len(domain) > 253:
        raise refused("a key whose name has at most 63 characters")
    if slash and f".{domain}".endswith(_RESERVED_ENDS):
        reserved = next(each[1:] for each in _RESERVED_ENDS if f".{domain}".endswith(each))
        raise refused(f"a key outside {reserved}/", "that prefix is reserved; use your own or none")
    return key


_KEY_SAYS: Final = "a label key: an optional DNS prefix and '/', then letters, digits and -_."
LabelKey: TypeAlias = Annotated[
    str, form(limits.pattern("labelKey"), _KEY_SAYS, longest=317), AfterValidator(_not_reserved)
]
LabelValue: TypeAlias = Annotated[
    str,
    form(
        limits.pattern("labelValue"),
        "a label value: 1 to 63 letters, digits and -_.",
        longest=limits.largest("labelValue"),
    ),
]
KubernetesVersion: TypeAlias = Annotated[
    str,
    form(
        r"^1\.(?:3[0-5])$",
        "a Kubernetes version that HyperPod runs on: 1.30, 1.31, 1.32, 1.33, 1.34 or 1.35",
        longest=4,
        hint='quote it, as in "1.33"',
    ),
]
AddonVersion: TypeAlias = Annotated[
    str,
    form(
        r"^v[0-9]+\.[0-9]+\.[0-9]+(?:-[a-z0-9.]+)?$",
        "an add-on version such as v1.20.4-eksbuild.1",
        longest=40,
        hint="leave it out to get the one EKS recommends; the plan shows which",
    ),
]
Bytes: TypeAlias = Annotated[
    str,
    form(
        quantities.BYTES_PATTERN,
        "an amount with its unit, such as 64Gi",
        longest=30,
    ),
]

# Paths, addresses, times

FilePath: TypeAlias = Annotated[
    str,
    form(
        r"^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$",
        "the path of a file in the cluster's folder, such as lifecycle/on_create.sh",
        longest=255,
        hint="relative, without '..'",
    ),
]
RepositoryUrl: TypeAlias = Annotated[
    str,
    form(
        r"^https://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/[A-Za-z0-9._~/-]{1,500}$",
        "an https address without a user or password",
        longest=800,
    ),
]
CommitId: TypeAlias = Annotated[
    str,
    form(
        r"^[0-9a-f]{40}$", "a commit id: 40 hex digits as text", longest=40, hint="a branch or tag may move; quote it"
    ),
]
Sentence: TypeAlias = Annotated[
    str,
    form(r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$", "one line of text", longest=300),
]

UTC_TIME: Final = r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?Z$"
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):", re.ASCII)


def _calendar(value: str) -> str:
    import datetime  # a calendar, not a clock

    try:
        datetime.datetime.fromisoformat(value)
    except ValueError:
        raise refused("a moment that exists in the calendar") from None
    return value


UtcTime: TypeAlias = Annotated[
    str,
    form(UTC_TIME, "a time in UTC such as 2026-09-01T18:00:00Z", longest=27, hint="RFC 3339, ending in Z"),
    AfterValidator(_calendar),
]
