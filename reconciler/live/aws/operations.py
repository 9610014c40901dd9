"""Every AWS call of ours that changes something. What is not in this table cannot be sent.

A new handler adds its calls here and nowhere else, so that one page says what the product can do to an account.
Missing on purpose: BatchAddClusterNodes (counts are absolute), CreateTrainingPlan (a paid commitment), anything
that makes or reads credentials.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.live.errors import CallRejected

MUTATING: dict[str, frozenset[str]] = {
    "ec2": frozenset(
        {
            "CreateVpc",
            "ModifyVpcAttribute",
            "AssociateVpcCidrBlock",
            "DisassociateVpcCidrBlock",
            "DeleteVpc",
            "CreateSubnet",
            "ModifySubnetAttribute",
            "DeleteSubnet",
            "CreateInternetGateway",
            "AttachInternetGateway",
            "DetachInternetGateway",
            "DeleteInternetGateway",
            "AllocateAddress",
            "ReleaseAddress",
            "CreateNatGateway",
            "DeleteNatGateway",
            "CreateRouteTable",
            "AssociateRouteTable",
            "DisassociateRouteTable",
            "ReplaceRouteTableAssociation",
            "DeleteRouteTable",
            "CreateRoute",
            "ReplaceRoute",
            "DeleteRoute",
            "CreateSecurityGroup",
            "AuthorizeSecurityGroupIngress",
            "AuthorizeSecurityGroupEgress",
            "RevokeSecurityGroupIngress",
            "RevokeSecurityGroupEgress",
            "DeleteSecurityGroup",
            "CreateVpcEndpoint",
            "ModifyVpcEndpoint",
            "DeleteVpcEndpoints",
            "DeleteNetworkInterface",
            "CreateTags",
            "DeleteTags",
        }
    ),
    "iam": frozenset(
        {
            "CreateRole",
            "UpdateRole",
            "UpdateRoleDescription",
            "UpdateAssumeRolePolicy",
            "DeleteRole",
            "PutRolePolicy",
            "DeleteRolePolicy",
            "AttachRolePolicy",
            "DetachRolePolicy",
            "CreatePolicy",
            "CreatePolicyVersion",
            "DeletePolicyVersion",
            "DeletePolicy",
            "CreateOpenIDConnectProvider",
            "UpdateOpenIDConnectProviderThumbprint",
            "AddClientIDToOpenIDConnectProvider",
            "RemoveClientIDFromOpenIDConnectProvider",
            "DeleteOpenIDConnectProvider",
            "CreateServiceLinkedRole",
            "TagRole",
            "UntagRole",
            "TagPolicy",
            "UntagPolicy",
            "TagOpenIDConnectProvider",
            "UntagOpenIDConnectProvider",
        }
    ),
    "s3": frozenset(
        {
            "CreateBucket",
            "DeleteBucket",
            "PutObject",
            "DeleteObject",
            "DeleteObjects",
            "PutBucketTagging",
            "DeleteBucketTagging",
            "PutPublicAccessBlock",
            "PutBucketEncryption",
            "PutBucketVersioning",
            "PutBucketPolicy",
            "DeleteBucketPolicy",
            "PutBucketLifecycleConfiguration",
        }
    ),
    "eks": frozenset(
        {
            "CreateCluster",
            "UpdateClusterConfig",
            "UpdateClusterVersion",
            "DeleteCluster",
            "CreateNodegroup",
            "UpdateNodegroupConfig",
            "UpdateNodegroupVersion",
            "DeleteNodegroup",
            "CreateAddon",
            "UpdateAddon",
            "DeleteAddon",
            "CreateAccessEntry",
            "UpdateAccessEntry",
            "DeleteAccessEntry",
            "AssociateAccessPolicy",
            "DisassociateAccessPolicy",
            "CreatePodIdentityAssociation",
            "UpdatePodIdentityAssociation",
            "DeletePodIdentityAssociation",
            "TagResource",
            "UntagResource",
        }
    ),
    "sagemaker": frozenset(
        {
            "CreateCluster",
            "UpdateCluster",
            "UpdateClusterSoftware",
            "DeleteCluster",
            "BatchDeleteClusterNodes",
            "BatchRebootClusterNodes",
            "BatchReplaceClusterNodes",
            "StartClusterHealthCheck",
            "CreateComputeQuota",
            "UpdateComputeQuota",
            "DeleteComputeQuota",
            "CreateClusterSchedulerConfig",
            "UpdateClusterSchedulerConfig",
            "DeleteClusterSchedulerConfig",
            "CreateMlflowTrackingServer",
            "UpdateMlflowTrackingServer",
            "StartMlflowTrackingServer",
            "StopMlflowTrackingServer",
            "DeleteMlflowTrackingServer",
            "AddTags",
            "DeleteTags",
        }
    ),
    "fsx": frozenset({"CreateFileSystem", "UpdateFileSystem", "DeleteFileSystem", "TagResource", "UntagResource"}),
    "logs": frozenset({"CreateLogGroup", "PutRetentionPolicy", "DeleteLogGroup", "TagResource", "UntagResource"}),
}

READ_PREFIXES = ("Describe", "List", "Get", "Head", "Simulate", "Search", "BatchGet", "Filter", "Lookup")

CREDENTIAL_READS = frozenset(
    {
        ("secretsmanager", "GetSecretValue"),
        ("secretsmanager", "BatchGetSecretValue"),
        ("sts", "GetSessionToken"),
        ("sts", "GetFederationToken"),
        ("ecr", "GetAuthorizationToken"),
        ("s3", "GetObject"),  # bytes, not JSON: `AwsSession.object_bytes`
    }
)


def mutating_calls() -> Iterator[tuple[str, str]]:
    """All (service, operation) that change something, sorted."""
    for service in sorted(MUTATING):
        for operation in sorted(MUTATING[service]):
            yield service, operation


def is_mutating(service: str, operation: str) -> bool:
    return operation in MUTATING.get(service, ())


def require_mutating(service: str, operation: str) -> None:
    if not is_mutating(service, operation):
        raise _not_allowed(service, operation, "it is not in the table of changing calls")


def require_reading(service: str, operation: str) -> None:
    if is_mutating(service, operation) or not operation.startswith(READ_PREFIXES):
        raise _not_allowed(service, operation, "it is not a reading call")
    if (service, operation) in CREDENTIAL_READS:
        raise _not_allowed(service, operation, "it would bring a secret or raw bytes")


def _not_allowed(service: str, operation: str, why: str) -> CallRejected:
    name = f"{service}:{operation}"
    return CallRejected(f"{name} is not sent: {why}", reason="CallNotAllowed").told(code="", operation=name)
