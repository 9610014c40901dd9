"""What each kind accepts, and what is told at once where it does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest

from schemas.documents.kinds import KINDS
from schemas.documents.records import ParsedFile
from schemas.values import JsonObject

PLAN_ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-autumn"
ROLE_ARN = "arn:aws:iam::111122223333:role/engineers"


class ParseSpec(Protocol):
    def __call__(self, kind: str, changes: JsonObject, *, without: str = "", name: str = "demo") -> ParsedFile: ...


@dataclass(frozen=True, kw_only=True)
class Good:
    reason: str
    kind: str
    changes: JsonObject = field(default_factory=dict[str, Any])


GOOD = [
    *(Good(reason=f"the smallest {kind}", kind=kind) for kind in KINDS),
    Good(reason="A29: spot is chosen by empty braces", kind="InstanceGroup", changes={"capacity": {"spot": {}}}),
    Good(reason="a training plan", kind="InstanceGroup", changes={"capacity": {"trainingPlan": {"arn": PLAN_ARN}}}),
    Good(reason="count 0 keeps the group", kind="InstanceGroup", changes={"count": 0}),
    Good(reason="as many as the model allows", kind="InstanceGroup", changes={"count": 6758}),
    Good(reason="min equal to count", kind="InstanceGroup", changes={"minCount": 2}),
    Good(reason="a zone id", kind="InstanceGroup", changes={"zone": "usw2-az2"}),
    Good(reason="a zone name", kind="InstanceGroup", changes={"zone": "us-west-2b"}),
    Good(reason="a type with EFA", kind="InstanceGroup", changes={"interface": "efaOnly"}),
    Good(
        reason="of a type whose interfaces are not known nothing is claimed",
        kind="InstanceGroup",
        changes={"instanceType": "ml.g7.48xlarge", "interface": "efa"},
    ),
    Good(reason="deep checks on GPUs", kind="InstanceGroup", changes={"deepHealthChecks": ["InstanceStress"]}),
    Good(reason="a label with a domain", kind="InstanceGroup", changes={"labels": {"example.com/team": "a_b.c"}}),
    Good(
        reason="a domain that only ends like a reserved one",
        kind="InstanceGroup",
        changes={"labels": {"mykubernetes.io/x": "y"}},
    ),
    Good(
        reason="one key with two effects",
        kind="InstanceGroup",
        changes={"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoExecute"}]},
    ),
    Good(
        reason="R16: an entry without a value is absent", kind="InstanceGroup", changes={"labels": None, "volume": None}
    ),
    Good(reason="an existing VPC", kind="Cluster", changes={"network": {"vpc": "vpc-0a1b2c3d"}}),
    Good(reason="everything chosen for you", kind="Cluster", changes={"network": {}}),
    Good(reason="B22: an account with a leading zero, as text", kind="Cluster", changes={"account": "012345670123"}),
    Good(reason="no logs at all", kind="Cluster", changes={"logging": []}),
    Good(
        reason="two policies for one principal",
        kind="Cluster",
        changes={
            "access": [
                {"principal": ROLE_ARN, "policy": "AmazonEKSViewPolicy"},
                {"principal": ROLE_ARN, "policy": "AmazonEKSEditPolicy", "namespaces": ["default"]},
            ]
        },
    ),
    Good(
        reason="null has a meaning in values",
        kind="Cluster",
        changes={"dependencies": {"addons": {"coredns": {"values": {"corefile": None}}}}},
    ),
    Good(reason="an add-on of one's own", kind="Cluster", changes={"dependencies": {"addons": {"metrics-server": {}}}}),
    Good(
        reason="a default add-on switched off",
        kind="Cluster",
        changes={"dependencies": {"addons": {"cert-manager": {"enabled": False}}}},
    ),
    Good(reason="a bucket that is there", kind="Storage", changes={"s3": {"bucket": "my-data", "prefix": "a/b/"}}),
    Good(reason="both forms of an option", kind="Storage", changes={"mountOptions": ["uid=1000", "gid 1000"]}),
    Good(reason="all that is asked for", kind="Policy", changes={"approvals": {"requireFor": []}}),
    Good(reason="a folder without review", kind="Policy", changes={"directCommit": {"paths": ["clusters/dev/**"]}}),
]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.reason)
def test_good(parse_spec: ParseSpec, case: Good) -> None:
    result = parse_spec(case.kind, case.changes)
    assert [str(problem) for problem in result.problems] == []
    assert len(result.documents) == 1


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("Cluster", "account"),
        ("Cluster", "region"),
        ("Cluster", "kubernetesVersion"),
        ("InstanceGroup", "instanceType"),
        ("InstanceGroup", "count"),
        ("Storage", "s3"),
        ("Operation", "expires"),
        ("Operation", "reboot"),
    ],
)
def test_required(parse_spec: ParseSpec, kind: str, field: str) -> None:
    (problem,) = parse_spec(kind, {}, without=field).problems
    assert (problem.field, problem.found, problem.hint) == (f"spec.{field}", "nothing", "this field is required")


@pytest.mark.parametrize(
    ("kind", "name", "good"),
    [
        ("Cluster", "a" * 40, True),
        ("Cluster", "a" * 41, False),
        ("Cluster", "a-", False),
        ("Cluster", "A", False),
        ("InstanceGroup", "Train-A1", True),
        ("InstanceGroup", "a" * 63, True),
        ("InstanceGroup", "a" * 64, False),
        ("InstanceGroup", "train_a", False),
        ("InstanceGroup", "train.a", False),
        ("Storage", "shared-data", True),
        ("Storage", "Shared", False),
        ("Operation", "reboot-a", True),
        ("Operation", "", False),
    ],
)
def test_names(parse_spec: ParseSpec, kind: str, name: str, good: bool) -> None:
    assert (parse_spec(kind, {}, name=name).problems == ()) is good


def test_a_bad_field_does_not_hide_a_broken_rule(parse_spec: ParseSpec) -> None:
    """All problems at once: rules that span fields are looked at although other fields are wrong."""
    spec: JsonObject = {"threadsPerCore": 9, "minCount": 7, "capacity": {"spot": {}, "onDemand": {}}}
    problems = parse_spec("InstanceGroup", spec).problems
    assert {problem.field for problem in problems} == {"spec.minCount", "spec.threadsPerCore", "spec.capacity.spot"}


def test_a_broken_rule_below_does_not_hide_one_above(parse_spec: ParseSpec) -> None:
    entry = {"principal": ROLE_ARN, "policy": "AmazonEKSViewPolicy"}
    spec: JsonObject = {"access": [entry, entry], "endpoint": {"public": False, "private": False}}
    assert {problem.field for problem in parse_spec("Cluster", spec).problems} == {
        "spec.access[1]",
        "spec.endpoint.public",
    }


def test_a_rule_is_not_an_echo_of_a_wrong_field(parse_spec: ParseSpec) -> None:
    """`spot: 5` is wrong, but spot was chosen: 'none chosen' would send people the wrong way."""
    spec: JsonObject = {"capacity": {"spot": 5}, "count": "2", "minCount": 3}
    assert [problem.field for problem in parse_spec("InstanceGroup", spec).problems] == [
        "spec.count",
        "spec.capacity.spot",
    ]
