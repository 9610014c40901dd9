"""What nodes stand on and somebody changed: the way out, the endpoint of S3, the security group, roles. Only where
HyperPod's cluster stands: before, all of it is merely not made yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reconciler.engine.sight import Sight
from reconciler.reads.diagnosis import commands
from reconciler.reads.diagnosis.facts import Facts
from reconciler.reads.diagnosis.findings import DiagnosisFinding, evidence
from schemas.plan import Action, Verb

# By type: (reason, what it means for nodes, what to look at).
_TYPES: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "ec2.VpcEndpoint": (
        "EndpointMissing",
        "nodes do not reach S3 by its endpoint: lifecycle scripts are not downloaded",
        ("ec2", "describe-vpc-endpoints"),
    ),
    "ec2.RouteTable": ("NoWayOut", "nodes have no way out of their subnets", ("ec2", "describe-route-tables")),
    "ec2.NatGateway": ("NoWayOut", "nodes have no way out of their subnets", ("ec2", "describe-nat-gateways")),
    "ec2.InternetGateway": (
        "NoWayOut",
        "nodes have no way out of their subnets",
        ("ec2", "describe-internet-gateways"),
    ),
    "ec2.SecurityGroup": (
        "SecurityGroupChanged",
        "nodes may not talk to each other as they must",
        ("ec2", "describe-security-group-rules"),
    ),
    "iam.Role": (
        "RoleChanged",
        "a role lacks what it needs, or may not be assumed",
        ("iam", "get-role", "--role-name"),
    ),
    "s3.Objects": (
        "ScriptMissing",
        "lifecycle scripts are not as they should be",
        ("s3api", "list-objects-v2", "--bucket"),
    ),
}


def changed(facts: Facts) -> Iterator[DiagnosisFinding]:
    sight = facts.sight
    hyperpod = sight.observed.get(f"hyperpod.Cluster/{facts.cluster}") if sight is not None else None
    if sight is None or sight.plan is None or hyperpod is None or not hyperpod.present:
        return
    for action in sight.plan.actions:
        known = _TYPES.get(action.type)
        if known is None or not _was_there(action, sight):
            continue
        held = sight.held.get(action.digest)
        yield DiagnosisFinding(
            reason=known[0],
            subject=action.key,
            says=known[1],
            confidence="certain",
            step="investigate" if held is None else "decide",
            next_step="the next tick puts it back"
            if held is None
            else f"it is put back when the hold ends ({held.reason}: {held.way})",
            command=_command(facts, action, known[2]),
            evidence=(evidence("look", action.key, _difference(action), facts.view.observed_at or ""),),
        )


def _was_there(action: Action, sight: Sight) -> bool:
    """It stood as it should, and somebody changed or took it: git asks for nothing new."""
    if action.verb is Verb.CREATE:
        return action.key in sight.previous
    return action.verb is Verb.UPDATE and action.because == "drift"


def _difference(action: Action) -> str:
    if action.verb is Verb.CREATE:
        return f"{action.name} is gone"
    return f"{action.name} differs from what git says in {', '.join(sorted(action.fields))}"


def _command(facts: Facts, action: Action, words: tuple[str, ...]) -> str:
    """What ends with an option is asked about the thing itself; the objects of a bucket are named after it."""
    service, operation, *more = words
    own = (action.name.partition("/")[0],) if more else ()
    return commands.aws(service, operation, "" if service == "iam" else facts.region, *more, *own)
