"""Known causes of failures, told by AWS in codes and sentences: which words mean what, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reconciler.reads.diagnosis.findings import Confidence, Step


@dataclass(frozen=True, kw_only=True)
class Cause:
    """`words`: matched without case in reasons and messages. `command` may name {cluster} and {region}."""

    reason: str
    words: re.Pattern[str]
    says: str
    next_step: str
    step: Step = "investigate"
    confidence: Confidence = "likely"
    command: str = ""


def _cause(
    reason: str, words: str, says: str, next_step: str, *, command: str = "", step: Step = "investigate"
) -> Cause:
    compiled = re.compile(words, re.IGNORECASE)
    return Cause(reason=reason, words=compiled, says=says, next_step=next_step, command=command, step=step)


CREATION: Final = (
    _cause(
        "QuotaTooSmall",
        r"ResourceLimitExceeded|LimitExceeded|QuotaTooSmall|service limit|quota",
        "a service quota does not allow it",
        "ask for a higher quota, or take fewer nodes or another instance type",
        command="aws service-quotas list-service-quotas --service-code sagemaker --region {region}",
        step="decide",
    ),
    _cause(
        "NoCapacity",
        r"InsufficientCapacity|insufficient capacity|CapacityPending|capacity error|not enough capacity",
        "AWS has no machines of this type in this zone now",
        "wait, or choose another zone, another instance type, or a training plan",
        command="aws ec2 describe-instance-type-offerings --location-type availability-zone-id --region {region}",
        step="decide",
    ),
    _cause(
        "NoAddresses",
        r"InsufficientFreeAddresses|free (?:ip )?addresses|InsufficientCidrBlocks|SubnetTooSmall|TooManyAddresses",
        "a subnet has not enough free addresses",
        "scale other groups of the zone down, or use interface efaOnly in a new group",
        command="aws ec2 describe-subnets --filters Name=tag:instantstart:cluster,Values={cluster} --region {region}",
    ),
    _cause(
        "LifecycleScriptFailed",
        r"lifecycle ?(?:script|config)|LifecycleScriptFailed|on_create|LifeCycle",
        "the lifecycle script of a node failed",
        "read the node's log in CloudWatch, mend the script by a change, and scale the group up again",
        command="aws logs tail /aws/sagemaker/Clusters/{cluster} --since 2h --region {region}",
    ),
    _cause(
        "RoleNotUsable",
        r"AccessDenied|not authorized|AssumeRole|execution role|UnauthorizedOperation|RoleNotYetUsable|trust polic",
        "a role may not do what is needed, or may not be assumed",
        "look which action the message names, and compare the role's policies and trust",
        command="aws iam list-roles --query \"Roles[?contains(RoleName, '{cluster}')].RoleName\"",
    ),
    _cause(
        "EndpointUnreachable",
        r"vpc ?endpoint|(?:could not|unable to) (?:connect|reach|download)|connect(?:ion)? timed? ?out|no route",
        "nodes do not reach an AWS endpoint",
        "check routes, the NAT gateway and the S3 gateway endpoint of the nodes' subnets",
        command="aws ec2 describe-vpc-endpoints --region {region}",
    ),
    _cause(
        "ZoneNotOffered",
        r"ZoneNotOffered|not (?:offered|supported|available) in (?:the |this )?[a-z ]*zone|Unsupported",
        "the zone does not offer this instance type",
        "choose a zone that offers it (offerings), in a new group",
        step="decide",
    ),
    _cause(
        "TrainingPlanNotUsable",
        r"training ?plan",
        "the training plan cannot give these machines now",
        "look at its status, start, zone and instance type",
        command="aws sagemaker list-training-plans --region {region}",
    ),
    _cause(
        "DependencyViolation",
        r"DependencyViolation|has dependencies|in use|ResourceInUse|mapped public address",
        "something that is not ours still uses it",
        "look what uses it; only its owner should remove it",
        command="aws ec2 describe-network-interfaces --region {region}",
    ),
)


def cause_of(*texts: str) -> Cause | None:
    """The first known cause that the words tell."""
    joined = " ".join(texts)
    return next((cause for cause in CREATION if cause.words.search(joined)), None)
