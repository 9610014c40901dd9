"""The answers of a cloud that is told to refuse, in each service's own words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from reconciler.sandbox.aws.errors import AwsError

ANSWERS = ("throttle", "error500", "access_denied", "expired_token", "conflict", "quota", "invalid", "skewed")
_QUERY = ("ec2", "iam", "sts", "cloudformation")
SKEW = timedelta(minutes=20)


def error_of(kind: str, service: str, operation: str) -> AwsError | None:
    """The error that a fault of this kind answers with; None for faults of time and transport."""
    query = service in _QUERY
    match kind:
        case "throttle":
            code = "RequestLimitExceeded" if service == "ec2" else "Throttling" if query else "ThrottlingException"
            code = "SlowDown" if service == "s3" else code
            return AwsError(code, "Rate exceeded", 503 if service in ("ec2", "s3") else 400)
        case "error500":
            return AwsError("InternalError" if query or service == "s3" else "InternalFailure", "Internal failure", 500)
        case "access_denied":
            denied = _DENIED.get(service, "AccessDeniedException")
            return AwsError(denied, f"User is not authorized to perform: {service}:{operation}", 403)
        case "expired_token":
            code = "ExpiredToken" if query or service == "s3" else "ExpiredTokenException"
            return AwsError(code, "The security token included in the request is expired", 403)
        case "conflict":
            code, status = _CONFLICTS.get(service, ("ConflictException", 409))
            return AwsError(code, f"{operation} cannot be done now: another operation is in progress", status)
        case "quota":
            code, status = _QUOTAS.get(service, ("LimitExceededException", 400))
            noun = operation.removeprefix("Create").removeprefix("Allocate")
            code = f"{noun}LimitExceeded" if service == "ec2" else code
            return AwsError(code, "You have reached a service quota of this account.", status)
        case "invalid":
            code = _INVALID.get(service, "ValidationException")
            return AwsError(code, f"{operation} was not understood: a value is not valid", 400)
        case "skewed":
            error = AwsError("RequestTimeTooSkewed" if service == "s3" else "InvalidSignatureException", _EXPIRED, 403)
            error.headers = {"date": format_datetime(datetime.now(UTC) + SKEW, usegmt=True)}
            return error
        case _:
            return None


_DENIED = {"ec2": "UnauthorizedOperation", "iam": "AccessDenied", "sts": "AccessDenied", "s3": "AccessDenied"}
_CONFLICTS = {
    "eks": ("ResourceInUseException", 409),
    "ec2": ("IncorrectState", 400),
    "iam": ("ConcurrentModification", 409),
    "s3": ("OperationAborted", 409),
}
_QUOTAS = {
    "sagemaker": ("ResourceLimitExceeded", 400),
    "eks": ("ResourceLimitExceededException", 400),
    "iam": ("LimitExceeded", 409),
    "s3": ("TooManyBuckets", 400),
}
_INVALID = {
    "eks": "InvalidParameterException",
    "ec2": "InvalidParameterValue",
    "iam": "InvalidInput",
    "s3": "InvalidRequest",
}
_EXPIRED = "Signature expired: the time of the request is too far from that of this service"
