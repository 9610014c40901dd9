"""What the codes of AWS mean to us: a table."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest
from botocore.exceptions import ClientError

from reconciler.live.aws.errors import translate
from reconciler.live.clock import real_now
from reconciler.live.errors import AlreadyExists, CallRefused, CallRejected, NotFound, ReplyLost

TABLE: list[tuple[str, str, int, type[Exception], str]] = [
    # operation, code, status, class, reason
    ("sagemaker:UpdateCluster", "ThrottlingException", 400, CallRefused, "Throttled"),
    ("s3:PutObject", "SlowDown", 503, CallRefused, "Throttled"),
    ("ec2:CreateVpc", "RequestLimitExceeded", 503, CallRefused, "Throttled"),
    ("sagemaker:UpdateCluster", "ConflictException", 400, CallRefused, "Conflict"),
    ("eks:UpdateClusterConfig", "ResourceInUseException", 409, CallRefused, "Conflict"),
    ("ec2:DeleteVpc", "DependencyViolation", 400, CallRefused, "Conflict"),
    ("ec2:DeleteSecurityGroup", "InvalidGroup.InUse", 400, CallRefused, "Conflict"),
    ("iam:DeleteRole", "DeleteConflict", 409, CallRefused, "Conflict"),
    ("sagemaker:CreateCluster", "ResourceInUse", 400, AlreadyExists, "AlreadyExists"),
    ("eks:CreateAddon", "ResourceInUseException", 409, AlreadyExists, "AlreadyExists"),
    ("iam:CreateRole", "EntityAlreadyExists", 409, AlreadyExists, "AlreadyExists"),
    ("s3:CreateBucket", "BucketAlreadyOwnedByYou", 409, AlreadyExists, "AlreadyExists"),
    ("ec2:AuthorizeSecurityGroupIngress", "InvalidPermission.Duplicate", 400, AlreadyExists, "AlreadyExists"),
    ("ec2:CreateRoute", "RouteAlreadyExists", 400, AlreadyExists, "AlreadyExists"),
    ("sagemaker:DescribeCluster", "ResourceNotFound", 400, NotFound, "NotFound"),
    ("eks:DescribeCluster", "ResourceNotFoundException", 404, NotFound, "NotFound"),
    ("iam:GetRole", "NoSuchEntity", 404, NotFound, "NotFound"),
    ("s3:HeadBucket", "404", 404, NotFound, "NotFound"),
    ("s3:GetBucketTagging", "NoSuchTagSet", 404, NotFound, "NotFound"),
    ("ec2:DescribeVpcs", "InvalidVpcID.NotFound", 400, NotFound, "NotFound"),
    ("ec2:DescribeSubnets", "InvalidSubnetID.NotFound", 400, NotFound, "NotFound"),
    ("ec2:DescribeNatGateways", "NatGatewayNotFound", 400, NotFound, "NotFound"),
    ("sagemaker:CreateCluster", "ValidationException", 400, CallRejected, "ValidationException"),
    ("eks:CreateCluster", "InvalidParameterException", 400, CallRejected, "InvalidParameterException"),
    ("sagemaker:CreateCluster", "ResourceLimitExceeded", 400, CallRejected, "ResourceLimitExceeded"),
    ("ec2:CreateVpc", "VpcLimitExceeded", 400, CallRejected, "ResourceLimitExceeded"),
    ("ec2:AllocateAddress", "AddressLimitExceeded", 400, CallRejected, "ResourceLimitExceeded"),
    ("sagemaker:CreateCluster", "AccessDeniedException", 403, CallRejected, "AccessDenied"),
    ("ec2:CreateVpc", "UnauthorizedOperation", 403, CallRejected, "AccessDenied"),
    ("s3:HeadBucket", "403", 403, CallRejected, "AccessDenied"),
    ("s3:HeadBucket", "301", 301, CallRejected, "WrongRegion"),
    ("eks:ListClusters", "ExpiredTokenException", 403, CallRefused, "ExpiredToken"),
    ("sts:GetCallerIdentity", "InvalidClientTokenId", 403, CallRefused, "ExpiredToken"),
    ("eks:ListClusters", "UnrecognizedClientException", 403, CallRefused, "ExpiredToken"),
    ("ec2:DescribeVpcs", "AuthFailure", 401, CallRefused, "ExpiredToken"),
    ("eks:ListClusters", "SomethingNew", 401, CallRefused, "ExpiredToken"),
    ("eks:ListClusters", "SignatureDoesNotMatch", 403, CallRefused, "SignatureRejected"),
    ("sagemaker:CreateCluster", "InternalFailure", 500, ReplyLost, "ServerError"),
    ("sagemaker:CreateCluster", "ServiceUnavailable", 503, ReplyLost, "ServerError"),
    ("s3:PutObject", "RequestTimeout", 400, ReplyLost, "ServerError"),
    ("eks:CreateCluster", "SomethingNew", 500, ReplyLost, "ServerError"),
    ("eks:CreateCluster", "SomethingNew", 400, CallRejected, "SomethingNew"),
    ("eks:CreateCluster", "SomethingNew", 409, CallRefused, "Conflict"),
]


def _answer(code: str, status: int, message: str = "said the server", **headers: str) -> ClientError:
    meta = {"HTTPStatusCode": status, "HTTPHeaders": headers}
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": meta}, "Operation")


@pytest.mark.parametrize(("operation", "code", "status", "kind", "reason"), TABLE)
def test_codes(operation: str, code: str, status: int, kind: type[Exception], reason: str) -> None:
    told = translate(_answer(code, status), operation)
    assert (type(told), told.reason) == (kind, reason)
    assert (told.code, told.operation, told.status) == (code, operation, status)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ValidationException", "Could not assume role arn:aws:iam::111122223333:role/x"),
        ("InvalidParameterException", "Error in role params"),
        ("ValidationException", "The role x is invalid or cannot be assumed"),
        ("MalformedPolicyDocument", "Invalid principal in policy: AWS: x"),
    ],
)
def test_a_role_that_is_too_new(code: str, message: str) -> None:
    """E07: named so that a caller who has just made the role can say "later"."""
    assert translate(_answer(code, 400, message), "eks:CreateCluster").reason == "RoleNotUsable"


def test_a_call_about_roles_is_not_about_a_role_that_is_too_new() -> None:
    told = translate(
        _answer("InvalidInput", 400, "CreateRole was not understood: a value is not valid"), "iam:CreateRole"
    )
    assert told.reason == "InvalidInput"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("RequestTimeTooSkewed", "The difference between the request time and the current time is too large."),
        ("InvalidSignatureException", "Signature expired: 20260101T000000Z is now earlier than"),
        ("AuthFailure", "AWS was not able to validate the provided access credentials"),
        ("SignatureDoesNotMatch", "Signature not yet current"),
    ],
)
def test_a_clock_that_is_wrong_is_called_by_its_name(code: str, message: str) -> None:
    """E09: twenty minutes off, measured from the server's own date."""
    theirs = format_datetime(real_now() - timedelta(minutes=20), usegmt=True)
    told = translate(_answer(code, 403, message, date=theirs), "ec2:DescribeVpcs")
    assert told.reason == "ClockSkew" and isinstance(told, CallRefused)
    assert "1200 s ahead" in told.message or "1201 s ahead" in told.message


def test_a_describe_that_says_not_found_in_words() -> None:
    told = translate(_answer("ValidationException", 400, "Could not find cluster"), "sagemaker:DescribeCluster")
    assert isinstance(told, NotFound)
    changed = translate(_answer("ValidationException", 400, "Could not find subnet"), "sagemaker:CreateCluster")
    assert isinstance(changed, CallRejected)


def test_a_message_is_redacted_before_it_is_cut() -> None:
    """D05."""
    text = "x" * 480 + " secret_access_key=" + "k" * 40 + " Bearer " + "b" * 60 + "y" * 900
    told = translate(_answer("ValidationException", 400, text), "eks:CreateCluster")
    assert len(told.message) <= 500 and "kkkk" not in told.message and "bbbb" not in told.message


def test_the_server_may_say_how_long_to_wait() -> None:
    told = translate(_answer("ThrottlingException", 429, "slow", **{"retry-after": "7"}), "eks:ListClusters")
    assert isinstance(told, CallRefused) and told.after == 7.0
