"""IAM policy documents of the roles that we make, each no wider than what its owner does."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.values import JsonObject

_VERSION = "2012-10-17"


def partition(region: str) -> str:
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def managed(region: str, name: str) -> str:
    """ARN of an AWS managed policy."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"


def node_network(region: str, account: str) -> JsonObject:
    """What a HyperPod node's agents do beside the managed instance role policy: attach interfaces, pull images, get
    pod identity credentials."""
    interfaces = f"arn:{partition(region)}:ec2:*:{account}:network-interface/*"
    return {
        "Version": _VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Action": [
                    "ec2:AssignPrivateIpAddresses",
                    "ec2:AttachNetworkInterface",
                    "ec2:CreateNetworkInterface",
                    "ec2:CreateNetworkInterfacePermission",
                    "ec2:DeleteNetworkInterface",
                    "ec2:DeleteNetworkInterfacePermission",
                    "ec2:DescribeDhcpOptions",
                    "ec2:DescribeInstanceTypes",
                    "ec2:DescribeInstances",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeSecurityGroups",
                    "ec2:DescribeSubnets",
                    "ec2:DescribeTags",
                    "ec2:DescribeVpcs",
                    "ec2:DetachNetworkInterface",
                    "ec2:ModifyNetworkInterfaceAttribute",
                    "ec2:UnassignPrivateIpAddresses",
                    "ecr:BatchCheckLayerAvailability",
                    "ecr:BatchGetImage",
                    "ecr:GetAuthorizationToken",
                    "ecr:GetDownloadUrlForLayer",
                    "eks-auth:AssumeRoleForPodIdentity",
                ],
                "Resource": "*",
            },
            {"Effect": "Allow", "Action": "ec2:CreateTags", "Resource": interfaces},
        ],
    }


def read_bucket(region: str, bucket: str, prefix: str) -> JsonObject:
    """Read what lies under a prefix of one bucket."""
    arn = f"arn:{partition(region)}:s3:::{bucket}"
    return {
        "Version": _VERSION,
        "Statement": [
            {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": arn},
            {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"{arn}/{prefix}*"},
        ],
    }


def use_buckets(region: str, buckets: Iterable[str]) -> JsonObject:
    """Mountpoint for S3: list, read, write and delete in the buckets of the cluster's Storages."""
    arns = [f"arn:{partition(region)}:s3:::{bucket}" for bucket in sorted(set(buckets))]
    return {
        "Version": _VERSION,
        "Statement": [
            {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": arns},
            {
                "Effect": "Allow",
                "Action": ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
                "Resource": [f"{arn}/*" for arn in arns],
            },
        ],
    }
