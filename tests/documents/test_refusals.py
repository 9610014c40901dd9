"""What each kind refuses: the smallest document with one change, and the reason it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pytest

from schemas.documents.records import ParsedFile
from schemas.values import JsonObject

PLAN_ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-autumn"
ROLE_ARN = "arn:aws:iam::111122223333:role/engineers"


class ParseSpec(Protocol):
    def __call__(self, kind: str, changes: JsonObject, *, without: str = "", name: str = "demo") -> ParsedFile: ...


@dataclass(frozen=True, kw_only=True)
class Bad:
    reason: str
    kind: str
    changes: JsonObject
    field: str
    expected: str
    found: str = ""
    hint: str = ""


def _group(reason: str, changes: JsonObject, at: str, expected: str, found: str = "", hint: str = "") -> Bad:
    return Bad(
        reason=reason, kind="InstanceGroup", changes=changes, field=at, expected=expected, found=found, hint=hint
    )


def _cluster(reason: str, changes: JsonObject, at: str, expected: str, found: str = "", hint: str = "") -> Bad:
    return Bad(reason=reason, kind="Cluster", changes=changes, field=at, expected=expected, found=found, hint=hint)


def _storage(reason: str, changes: JsonObject, at: str, expected: str, found: str = "", hint: str = "") -> Bad:
    return Bad(reason=reason, kind="Storage", changes=changes, field=at, expected=expected, found=found, hint=hint)


def _operation(reason: str, changes: JsonObject, at: str, expected: str, found: str = "", hint: str = "") -> Bad:
    return Bad(reason=reason, kind="Operation", changes=changes, field=at, expected=expected, found=found, hint=hint)


def _policy(reason: str, changes: JsonObject, at: str, expected: str, found: str = "", hint: str = "") -> Bad:
    return Bad(reason=reason, kind="Policy", changes=changes, field=at, expected=expected, found=found, hint=hint)


_DHC = {"deepHealthChecks": ["InstanceStress"]}

BAD = [
    # Instance groups
    _group(
        "the prefix is missing",
        {"instanceType": "p5.48xlarge"},
        "spec.instanceType",
        "an instance type",
        hint="write ml.p5.48xlarge",
    ),
    _group("no such type", {"instanceType": "ml.p99.48xlarge"}, "spec.instanceType", "an instance type"),
    _group("C28: less than nothing", {"count": -1}, "spec.count", "at least 0", "the number -1"),
    _group("C28: more than the service takes", {"count": 6759}, "spec.count", "at most 6758"),
    _group("half a node", {"count": 1.5}, "spec.count", "a whole number", "the number 1.5"),
    _group("a count as text", {"count": "2"}, "spec.count", "a whole number", '"2"'),
    _group("true is no number", {"count": True}, "spec.count", "a whole number", "true"),
    _group(
        "R05: a placeholder in a typed field",
        {"count": "$ACCEL_COUNT"},
        "spec.count",
        "a whole number",
        "the placeholder $ACCEL_COUNT",
    ),
    _group("R05: a template", {"zone": "{{ zone }}"}, "spec.zone", "a zone id", "the placeholder {{ zone }}"),
    _group("C28: min above count", {"minCount": 3}, "spec.minCount", "at most count (2)", "3"),
    _group("A29: nothing chosen", {"capacity": {}}, "spec.capacity", "exactly one of", "none", "with the braces"),
    _group(
        "A29: null is not {}",
        {"capacity": {"spot": None}},
        "spec.capacity",
        "exactly one of",
        "none",
        "with the braces",
    ),
    _group(
        "C28: two exclusive fields",
        {"capacity": {"onDemand": {}, "spot": {}}},
        "spec.capacity.spot",
        "exactly one of",
        "onDemand and spot",
    ),
    _group(
        "spot machines are in no training plan",
        {"capacity": {"spot": {}, "trainingPlan": {"arn": PLAN_ARN}}},
        "spec.capacity.trainingPlan",
        "exactly one of",
        "spot and trainingPlan",
    ),
    _group(
        "not a plan's ARN",
        {"capacity": {"trainingPlan": {"arn": ROLE_ARN}}},
        "spec.capacity.trainingPlan.arn",
        "the ARN of a training plan",
    ),
    _group(
        "no EFA there",
        {"instanceType": "ml.g5.2xlarge", "interface": "efa"},
        "spec.interface",
        "a type with EFA",
        "ml.g5.2xlarge",
    ),
    _group(
        "no EFA on a small CPU type",
        {"instanceType": "ml.m5.2xlarge", "interface": "efa"},
        "spec.interface",
        "a type with EFA",
    ),
    _group(
        "the API's spelling",
        {"interface": "efa-only"},
        "spec.interface",
        "one of efa, efaOnly",
        hint="did you mean efaOnly?",
    ),
    _group(
        "deep checks need accelerators",
        {"instanceType": "ml.c5.large", **_DHC},
        "spec.deepHealthChecks",
        "a GPU or Trainium type",
    ),
    _group(
        "deep checks refuse taints",
        {"taints": [{"key": "a", "effect": "NoSchedule"}], **_DHC},
        "spec.taints",
        "no taints",
    ),
    _group(
        "each check once", {"deepHealthChecks": ["InstanceStress"] * 2}, "spec.deepHealthChecks[1]", "each check once"
    ),
    _group(
        "an empty list says nothing", {"deepHealthChecks": []}, "spec.deepHealthChecks", "at least 1", "an empty list"
    ),
    _group("C28: no disk", {"volume": {"sizeGiB": 0}}, "spec.volume.sizeGiB", "at least 1"),
    _group("A07: a unit in a number", {"volume": {"sizeGiB": "500Gi"}}, "spec.volume.sizeGiB", "a whole number"),
    _group(
        "A22: empty text", {"volume": {"sizeGiB": 1, "kmsKeyId": ""}}, "spec.volume.kmsKeyId", "a KMS key", "empty text"
    ),
    _group("three threads", {"threadsPerCore": 3}, "spec.threadsPerCore", "at most 2"),
    _group("HyperPod wants one character", {"labels": {"a": ""}}, "spec.labels.a", "1 to 63", "empty text"),
    _group("a value as a number", {"labels": {"a": 1}}, "spec.labels.a", "a label value", "the number 1"),
    _group("a colon in a value", {"labels": {"a": "x:y"}}, "spec.labels.a", "a label value", '"x:y"'),
    _group(
        "a reserved domain",
        {"labels": {"kubernetes.io/x": "y"}},
        "spec.labels['kubernetes.io/x']",
        "outside kubernetes.io/",
    ),
    _group(
        "below a reserved domain",
        {"labels": {"node.kubernetes.io/x": "y"}},
        "spec.labels['node.kubernetes.io/x']",
        "outside",
    ),
    _group("ours", {"labels": {"instantstart.dev/key": "y"}}, "spec.labels['instantstart.dev/key']", "outside"),
    _group("too long a name", {"labels": {"a" * 64: "y"}}, f"spec.labels.{'a' * 64}", "at most 63"),
    _group("too many", {"labels": {f"a{n}": "y" for n in range(51)}}, "spec.labels", "at most 50"),
    _group(
        "a reserved taint",
        {"taints": [{"key": "karpenter.sh/x", "effect": "NoSchedule"}]},
        "spec.taints[0].key",
        "outside",
    ),
    _group(
        "EKS's spelling of an effect",
        {"taints": [{"key": "a", "effect": "NO_SCHEDULE"}]},
        "spec.taints[0].effect",
        "one of NoSchedule",
    ),
    _group(
        "the same taint twice",
        {"taints": [{"key": "a", "effect": "NoExecute"}, {"key": "a", "value": "b", "effect": "NoExecute"}]},
        "spec.taints[1]",
        "each key and effect once",
    ),
    _group("a script outside", {"lifecycleScript": "../x.sh"}, "spec.lifecycleScript", "the path of a file"),
    _group(
        "HyperPod's own name for it",
        {"instanceCount": 2},
        "spec.instanceCount",
        "a known field",
        hint="did you mean count?",
    ),
    _group(
        "R02: a name that the API no longer has",
        {"enableBurnInTest": True},
        "spec.enableBurnInTest",
        "a known field",
        hint="did you mean deepHealthChecks?",
    ),
    _group(
        "C29: another capital",
        {"InstanceType": "x"},
        "spec.InstanceType",
        "a known field",
        hint="did you mean instanceType?",
    ),
    _group(
        "not served yet: refused, not dropped",
        {"autoscaling": {}},
        "spec.autoscaling",
        "a known field",
        "`autoscaling`",
        "known: ",
    ),
    _group(
        "a field inside spot",
        {"capacity": {"spot": {"max": 1}}},
        "spec.capacity.spot.max",
        "a known field",
        hint="it takes no fields",
    ),
    # Clusters
    _cluster(
        "B22: a number would lose its zero",
        {"account": 54238437032},
        "spec.account",
        "12 digits as text",
        "the number 54238437032",
        "quote it",
    ),
    _cluster("eleven digits", {"account": "11112222333"}, "spec.account", "12 digits", '"11112222333"'),
    _cluster("digits of another script", {"account": "\u0661" * 12}, "spec.account", "12 digits"),
    _cluster(
        "B21: 1.30 without quotes",
        {"kubernetesVersion": 1.3},
        "spec.kubernetesVersion",
        "a Kubernetes version",
        "the number 1.3",
        "quote it",
    ),
    _cluster("HyperPod does not run on it", {"kubernetesVersion": "1.29"}, "spec.kubernetesVersion", "1.30, 1.31"),
    _cluster(
        "A01: nothing is resolved later",
        {"kubernetesVersion": "latest"},
        "spec.kubernetesVersion",
        "a Kubernetes version",
    ),
    _cluster("A22: an empty variable", {"region": ""}, "spec.region", "an AWS Region", "empty text"),
    _cluster("a zone as Region", {"region": "us-west-2b"}, "spec.region", "an AWS Region"),
    _cluster(
        "C28: both networks",
        {"network": {"vpc": "vpc-0a1b2c3d", "vpcCidr": "10.0.0.0/16"}},
        "spec.network.vpcCidr",
        "either vpc or vpcCidr",
        "both",
    ),
    _cluster("host bits", {"network": {"vpcCidr": "10.0.0.1/16"}}, "spec.network.vpcCidr", "an IPv4 range"),
    _cluster(
        "A20: too small for GPU nodes",
        {"network": {"vpcCidr": "10.0.0.0/24"}},
        "spec.network.vpcCidr",
        "between /16 and /18",
    ),
    _cluster("a public range", {"network": {"vpcCidr": "8.8.0.0/16"}}, "spec.network.vpcCidr", "a private range"),
    _cluster(
        "used and adopted",
        {"network": {"vpc": "vpc-0a1b2c3d"}, "adopt": {"vpc": "vpc-0a1b2c3d"}},
        "spec.adopt.vpc",
        "either adopted or only used",
    ),
    _cluster(
        "nobody could reach it",
        {"endpoint": {"public": False, "private": False}},
        "spec.endpoint.public",
        "public or private",
    ),
    _cluster(
        "ranges for nothing",
        {"endpoint": {"public": False, "publicCidrs": ["10.0.0.0/8"]}},
        "spec.endpoint.publicCidrs",
        "only with public",
    ),
    _cluster(
        "an address without length",
        {"endpoint": {"publicCidrs": ["203.0.113.7"]}},
        "spec.endpoint.publicCidrs[0]",
        "with its length",
        hint="203.0.113.7/32",
    ),
    _cluster(
        "classic mode",
        {"hyperpod": {"provisioning": "Classic"}},
        "spec.hyperpod.provisioning",
        "Continuous",
        '"Classic"',
    ),
    _cluster(
        "a tag of AWS", {"hyperpod": {"tags": {"aws:x": "y"}}}, "spec.hyperpod.tags['aws:x']", "a tag key of your own"
    ),
    _cluster(
        "a tag of ours",
        {"hyperpod": {"tags": {"instantstart:op": "y"}}},
        "spec.hyperpod.tags['instantstart:op']",
        "of your own",
    ),
    _cluster("each log once", {"logging": ["api", "api"]}, "spec.logging[1]", "each log once"),
    _cluster(
        "an assumed role is no principal",
        {"access": [{"principal": "arn:aws:sts::111122223333:assumed-role/x/y", "policy": "AmazonEKSViewPolicy"}]},
        "spec.access[0].principal",
        "the ARN of an IAM role or user",
        hint="give the role itself",
    ),
    _cluster(
        "the same right twice",
        {"access": [{"principal": ROLE_ARN, "policy": "AmazonEKSViewPolicy"}] * 2},
        "spec.access[1]",
        "each principal and policy once",
    ),
    _cluster(
        "B07: an alias",
        {"dependencies": {"addons": {"coredns": {"version": "latest"}}}},
        "spec.dependencies.addons.coredns.version",
        "an add-on version",
        hint="leave it out",
    ),
    _cluster(
        "older than HyperPod takes",
        {"dependencies": {"addons": {"vpc-cni": {"version": "v1.18.2-eksbuild.1"}}}},
        "spec.dependencies.addons.vpc-cni.version",
        "1.18.3 or newer",
    ),
    _cluster(
        "no node without it",
        {"dependencies": {"addons": {"vpc-cni": {"enabled": False}}}},
        "spec.dependencies.addons.vpc-cni.enabled",
        "vpc-cni installed",
    ),
    _cluster(
        "B21: a commit that looks like a number",
        {"dependencies": {"chart": {"repository": "https://example.com/c.git", "path": "chart", "commit": 1e5}}},
        "spec.dependencies.chart.commit",
        "40 hex digits as text",
        "the number 100000.0",
    ),
    _cluster(
        "R10: a password in an address",
        {
            "dependencies": {
                "chart": {"repository": "https://me:hunter22@example.com/c", "path": "c", "commit": "a" * 40}
            }
        },
        "spec.dependencies.chart.repository",
        "no secret in git",
    ),
    # Storage
    _storage(
        "A07: a bare number means bytes",
        {"capacity": 64},
        "spec.capacity",
        "with its unit",
        "the number 64",
        "write 64Gi",
    ),
    _storage("A07: also as text", {"capacity": "64"}, "spec.capacity", "with its unit", '"64"', "write 64Gi"),
    _storage("thousandths of a byte", {"capacity": "1000m"}, "spec.capacity", "with its unit"),
    _storage("capitals in a bucket", {"s3": {"bucket": "My_Data"}}, "spec.s3.bucket", "an S3 bucket name"),
    _storage(
        "an address as bucket",
        {"s3": {"bucket": "192.168.1.1"}},
        "spec.s3.bucket",
        "an S3 bucket name",
        hint="no IP address",
    ),
    _storage("two dots", {"s3": {"bucket": "a..b"}}, "spec.s3.bucket", "an S3 bucket name"),
    _storage("a slash in front", {"s3": {"bucket": "abc", "prefix": "/a/"}}, "spec.s3.prefix", "a key prefix"),
    _storage("no slash at the end", {"s3": {"bucket": "abc", "prefix": "a"}}, "spec.s3.prefix", "a key prefix"),
    _storage("a Region for a bucket of ours", {"s3": {"region": "us-east-1"}}, "spec.s3.region", "a bucket beside"),
    _storage(
        "it has a field",
        {"mountOptions": ["read-only"]},
        "spec.mountOptions[0]",
        "no field of its own",
        hint="use readOnly",
    ),
    _storage("not known", {"mountOptions": ["exec=/bin/sh"]}, "spec.mountOptions[0]", "a known mount option"),
    _storage("with dashes", {"mountOptions": ["--allow-delete"]}, "spec.mountOptions[0]", "without leading dashes"),
    _storage("null is not {}", {"s3": None}, "spec.s3", "a value", "nothing", "required"),
    # Operations
    _operation("a local time", {"expires": "2026-09-01T18:00:00"}, "spec.expires", "a time in UTC"),
    _operation("another offset", {"expires": "2026-09-01T18:00:00+02:00"}, "spec.expires", "a time in UTC"),
    _operation("the 31st of June", {"expires": "2026-06-31T18:00:00Z"}, "spec.expires", "exists in the calendar"),
    _operation("a logical id", {"reboot": {"nodes": ["node-7"]}}, "spec.reboot.nodes[0]", "an instance id"),
    _operation("no node", {"reboot": {"nodes": []}}, "spec.reboot.nodes", "at least 1"),
    _operation("a node twice", {"reboot": {"nodes": ["i-01234567"] * 2}}, "spec.reboot.nodes[1]", "each node once"),
    _operation("lines in a reason", {"reason": "a\nb"}, "spec.reason", "one line of text"),
    # Policy
    _policy(
        "C28: more than all", {"pruneGuard": {"maxDeleteShare": 1.5}}, "spec.pruneGuard.maxDeleteShare", "at most 1"
    ),
    _policy("C28: fewer than none", {"blastRadius": {"maxNodes": -1}}, "spec.blastRadius.maxNodes", "at least 0"),
    _policy(
        "not a cost", {"approvals": {"requireFor": ["everything"]}}, "spec.approvals.requireFor[0]", "one of inPlace"
    ),
    _policy(
        "a rule about nothing",
        {"approvals": {"rules": [{"count": 1}]}},
        "spec.approvals.rules[0].paths",
        "paths or costs",
    ),
    _policy(
        "more than there are",
        {"approvals": {"rules": [{"costs": ["delete"], "approvers": ["a@example.com", "A@example.com"], "count": 2}]}},
        "spec.approvals.rules[0].count",
        "no more than",
    ),
    _policy("an approval for ever", {"approvals": {"expireAfter": "91d"}}, "spec.approvals.expireAfter", "at most 90d"),
    _policy(
        "a time without a unit", {"approvals": {"expireAfter": "7"}}, "spec.approvals.expireAfter", "a time such as"
    ),
    _policy("fewer GPUs than none", {"blastRadius": {"maxGpus": -1}}, "spec.blastRadius.maxGpus", "at least 0"),
    _policy(
        "D07: the policy itself",
        {"directCommit": {"paths": ["clusters/*"]}},
        "spec.directCommit.paths[0]",
        "leaves the policy out",
    ),
    _policy(
        "D07: outside",
        {"directCommit": {"paths": ["clusters/../x"]}},
        "spec.directCommit.paths[0]",
        "a path below clusters/",
    ),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: f"{case.kind}: {case.reason}")
def test_refused(parse_spec: ParseSpec, case: Bad) -> None:
    problems = parse_spec(case.kind, case.changes).problems
    assert [problem.field for problem in problems] == [case.field], "\n".join(map(str, problems))
    (problem,) = problems
    assert case.expected in problem.expected
    assert case.found in problem.found
    assert case.hint in problem.hint
