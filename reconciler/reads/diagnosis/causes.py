"""Known causes of failures, told by AWS in codes and sentences: which words mean what, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import Step


@dataclass(frozen=True, kw_only=True)
class Cause:
    """`words`: matched without case in messages and reasons. `command`: of the AWS command line, service and operation
    first; may name {cluster} and {hyperpod}. Without one, the status is what there is to look at."""

    reason: str
    words: re.Pattern[str]
    says: str
    next_step: str
    step: Step
    command: tuple[str, ...]

    def command_for(self, facts: Facts) -> str:
        if not self.command:
            return commands.status(facts.cluster)
        words = [word.format(cluster=facts.cluster, hyperpod=facts.hyperpod) for word in self.command]
        return commands.aws(words[0], words[1], "" if words[0] == "iam" else facts.region, *words[2:])


def _cause(reason: str, words: str, says: str, next_step: str, *command: str, step: Step = "investigate") -> Cause:
    compiled = re.compile(words, re.IGNORECASE)
    return Cause(reason=reason, words=compiled, says=says, next_step=next_step, command=command, step=step)


# In this order: who names a narrow cause comes before who names a wide one.
CREATION: Final = (
    _cause(
        "OperationRunning",
        r"another operation|operation is in progress|update is (?:already )?in progress|ConflictException.*progress",
        "another operation on it is not over",
        "wait: it is tried again when that one is over",
    ),
    _cause(
        "QuotaTooSmall",
        r"ResourceLimitExceeded|LimitExceeded|TooManyBuckets|QuotaTooSmall|service limit|quota",
        "a service quota does not allow it",
        "ask for a higher quota, or take fewer nodes or another instance type",
        "service-quotas",
        "list-service-quotas",
        "--service-code",
        "sagemaker",
        step="decide",
    ),
    _cause(
        "NoAddresses",
        r"InsufficientFreeAddresses|free (?:ip )?addresses|InsufficientCidrBlocks|SubnetTooSmall|TooFewAddresses",
        "a subnet has not enough free addresses",
        "scale other groups of the zone down, or use interface efaOnly in a new group",
        "ec2",
        "describe-subnets",
        "--filters",
        "Name=tag:instantstart:cluster,Values={cluster}",
    ),
    _cause(
        "LifecycleScriptFailed",
        r"life\s?cycle ?(?:scripts?|config)|LifecycleScriptFailed|on_create|\blcs\b",
        "the lifecycle script of a node failed",
        "read the node's log in CloudWatch, stream LifecycleConfig/GROUP/INSTANCE, and mend the script by a change",
        "logs",
        "describe-log-groups",
        "--log-group-name-prefix",
        "/aws/sagemaker/Clusters/{hyperpod}/",
    ),
    _cause(
        "TrainingPlanNotUsable",
        r"training ?plan",
        "the training plan cannot give these machines now",
        "look at its status, start, zone and instance type",
        "sagemaker",
        "list-training-plans",
    ),
    _cause(
        "NoCapacity",
        r"InsufficientCapacity|CapacityPending|capacity error|not enough capacity"
        r"|(?:in|not have |no )sufficient capacity",
        "AWS has no machines of this type in this zone now",
        "wait, or choose another zone, another instance type, or a training plan",
        "ec2",
        "describe-instance-type-offerings",
        "--location-type",
        "availability-zone-id",
        step="decide",
    ),
    _cause(
        "RoleNotUsable",
        r"AccessDenied|not authorized|AssumeRole|could not be assumed|execution role|UnauthorizedOperation"
        r"|RoleNotYetUsable|trust polic",
        "a role may not do what is needed, or may not be assumed",
        "look which action the message names, and compare the role's policies and trust",
        "iam",
        "list-roles",
        "--query",
        "Roles[?contains(RoleName, '{cluster}')].RoleName",
    ),
    _cause(
        "EndpointUnreachable",
        r"vpc ?endpoint|(?:could not|unable to) (?:connect|reach|download)|connect(?:ion)? timed? ?out|no route",
        "nodes do not reach an AWS endpoint",
        "check routes, the NAT gateway and the S3 gateway endpoint of the nodes' subnets",
        "ec2",
        "describe-vpc-endpoints",
    ),
    _cause(
        "ZoneNotOffered",
        r"ZoneNotOffered|TypeNotOffered|does not offer|InvalidAvailabilityZone"
        r"|not (?:offered|supported|available) in (?:the |this )?[a-z ]*zone",
        "the zone does not offer this instance type",
        "choose a zone that offers it (offerings), in a new group",
        "ec2",
        "describe-instance-type-offerings",
        "--location-type",
        "availability-zone-id",
        step="decide",
    ),
    _cause(
        "DependencyViolation",
        r"DependencyViolation|StillInUse|has dependencies|is (?:currently |still )?in use|mapped public address",
        "something that is not ours still uses it",
        "look what uses it; only its owner should remove it",
        "ec2",
        "describe-network-interfaces",
    ),
)


def cause_of(*texts: str) -> Cause | None:
    """The first known cause that one of the texts tells; what stands first is the surer word. A message says more than
    the code beside it."""
    return next((cause for text in texts for cause in CREATION if text and cause.words.search(text)), None)
