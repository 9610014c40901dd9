"""Error codes of AWS, in all the spellings its services use, grouped by what they mean to a caller."""

from __future__ import annotations


def _codes(words: str) -> frozenset[str]:
    return frozenset(words.split())


THROTTLED = _codes("""
    Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException
    TooManyRequestsException RequestLimitExceeded BandwidthLimitExceeded ProvisionedThroughputExceededException
    TransactionInProgressException LimitExceededDueToThrottling SlowDown PriorRequestNotComplete EC2ThrottledException
    429
""")
EXPIRED = _codes("""
    ExpiredToken ExpiredTokenException TokenRefreshRequired RequestExpired UnrecognizedClient
    UnrecognizedClientException InvalidClientTokenId InvalidAccessKeyId InvalidToken AuthFailure
    MissingAuthenticationToken MissingAuthenticationTokenException NotAuthorized 401
""")
SIGNATURE = _codes("""
    RequestTimeTooSkewed SignatureDoesNotMatch InvalidSignatureException InvalidSignature RequestInTheFuture
    IncompleteSignature
""")
DENIED = _codes("""
    AccessDenied AccessDeniedException AccessDeniedFault UnauthorizedOperation UnauthorizedAccess
    NotAuthorizedException Forbidden ForbiddenException AllAccessDisabled 403
""")
QUOTA = _codes("""
    ResourceLimitExceeded ResourceLimitExceededException LimitExceeded LimitExceededException TooManyBuckets
    ServiceQuotaExceeded ServiceQuotaExceededException ServiceLimitExceeded ServiceLimitExceededException
    QuotaExceeded QuotaExceededException
""")
MISSING = _codes("""
    ResourceNotFound ResourceNotFoundException NoSuchEntity NoSuchEntityException NoSuchBucket NoSuchKey
    NoSuchTagSet NoSuchTagSetError NoSuchPublicAccessBlockConfiguration NoSuchBucketPolicy
    NoSuchLifecycleConfiguration ServerSideEncryptionConfigurationNotFoundError
    NoSuchResourceException 404
""")
EXISTING = _codes("""
    EntityAlreadyExists EntityAlreadyExistsException AlreadyExists AlreadyExistsException BucketAlreadyExists
    BucketAlreadyOwnedByYou ResourceAlreadyExists ResourceAlreadyExistsException RouteAlreadyExists
    DuplicateRequest
""")
IN_USE = frozenset({"ResourceInUse", "ResourceInUseException"})  # a name taken for Create*, else a conflict
CONFLICT = _codes("""
    Conflict ConflictException ResourceInUse ResourceInUseException OperationAborted DependencyViolation
    DeleteConflict DeleteConflictException ConcurrentModification ConcurrentModificationException BucketNotEmpty
    IncorrectState IncorrectInstanceState InvalidRequestException OperationInProgress InvalidState
    InvalidStateException ResourceNotReady UpdateInProgress
""")
WRONG_REGION = frozenset({"PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException", "301", "307"})
LOST = _codes("""
    RequestTimeout RequestTimeoutException InternalFailure InternalError InternalServerError ServiceUnavailable
    ServiceUnavailableException ServerException Unavailable
""")
