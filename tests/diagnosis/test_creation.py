"""Why a cluster is not Ready, and what does not go: each cause is planted and found; where all is well, or merely under
way, nothing is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.reads.diagnosis.causes import CREATION, cause_of
from tests.api.apibox import ApiBox
from tests.api.livebox import GPU_TYPE, LiveBox, machine, node, pod
from tests.diagnosis.ward import SUBJECTS, Finding, Ward, hyperpod_event
from tests.engine.fakes import cluster_yaml, group_yaml, reboot_yaml
from tests.live.aws_server import Answer

NODE = "i-0000000000000000a"


@pytest.fixture
def own(live: LiveBox) -> Ward:
    """A cluster of one test."""
    return Ward(live=live)


def reasons(found: list[Finding]) -> set[str]:
    return {one["reason"] for one in found}


def suspended(ward: Ward) -> Any:
    """Ready, and then nothing of it is changed any more; its cloud."""
    ward.live.ready()
    ward.live.api.rig.commit({"cluster": cluster_yaml(extra="  suspend: true\n")})
    ward.live.api.rig.settle()
    return ward.live.api.rig.cloud


class TestWell:
    @pytest.mark.parametrize("subject", SUBJECTS)
    def test_where_nothing_is_wrong_nothing_is_found(self, own: Ward, subject: str) -> None:
        live = own.live
        live.ready()
        live.machines(machine(NODE))
        live.apply(node(NODE), pod("train-0", on=NODE, gpus=4))
        assert own.diagnosed(subject) == []

    def test_one_that_is_being_made_is_in_no_trouble(self, own: Ward) -> None:
        rig = own.live.api.rig
        rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system")})
        for _ in range(3):
            rig.tick(30.0)
            assert own.diagnosed("cluster_creation") == []
        assert rig.engine.memories["prod"].status().condition.value == "Reconciling"


class TestCauses:
    """AWS's own words, as they come in messages and codes."""

    @pytest.mark.parametrize(
        ("said", "reason"),
        [
            (
                "ResourceLimitExceeded: account-level service limit 'ml.p5.48xlarge for cluster usage' is 0",
                "QuotaTooSmall",
            ),
            ("You have reached a service quota of this account.", "QuotaTooSmall"),
            ("We currently do not have sufficient capacity to launch new ml.p5.48xlarge instances", "NoCapacity"),
            ("no sufficient capacity in the requested Availability Zone", "NoCapacity"),
            ("InsufficientCapacityError", "NoCapacity"),
            ("Insufficient free addresses in the subnets subnet-1 for instance group workers", "NoAddresses"),
            ("workers: new nodes take up to 90 addresses, subnet x has 3 free: TooFewAddresses", "NoAddresses"),
            ("Instance group x: Lifecycle scripts did not run successfully.", "LifecycleScriptFailed"),
            ("The lifecycle config of the group could not be found", "LifecycleScriptFailed"),
            ("User is not authorized to perform: ec2:CreateNetworkInterface", "RoleNotUsable"),
            ("The execution role could not be assumed", "RoleNotUsable"),
            ("Instance could not reach the VPC endpoint of S3", "EndpointUnreachable"),
            ("connection timed out", "EndpointUnreachable"),
            ("workers: zone usw2-az1 does not offer ml.p5.48xlarge; usw2-az2 do", "ZoneNotOffered"),
            ("The training plan is not active yet", "TrainingPlanNotUsable"),
            ("DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.", "DependencyViolation"),
            ("UpdateCluster cannot be done now: another operation is in progress", "OperationRunning"),
            ("something else went wrong", None),
            ("", None),
        ],
    )
    def test_what_words_mean(self, said: str, reason: str | None) -> None:
        found = cause_of(said)
        assert (found.reason if found is not None else None) == reason

    def test_a_message_says_more_than_the_code_beside_it(self) -> None:
        """HyperPod waits for capacity, and the message says that it is addresses that lack."""
        found = cause_of("Insufficient free addresses in the subnets subnet-1", "CapacityPending")
        assert found is not None and found.reason == "NoAddresses"

    def test_every_cause_says_what_to_do(self) -> None:
        assert len({cause.reason for cause in CREATION}) == len(CREATION)
        assert all(cause.says and cause.next_step for cause in CREATION)


class TestEvents:
    """HyperPod's own words, as long as they are about now."""

    TOLD = (
        (0.0, "Error", "scripts", "Lifecycle scripts did not run successfully on instance", "LifecycleScriptFailed"),
        (1.0, "Error", "role", "User is not authorized to perform: ec2:CreateNetworkInterface", "RoleNotUsable"),
        (2.0, "Error", "endpoint", "Instance could not reach the VPC endpoint of S3", "EndpointUnreachable"),
        # What is no trouble now: over before the cluster became Ready, no error, no known cause.
        (-86400.0, "Error", "past", "We currently do not have sufficient capacity", None),
        (0.0, "Info", "fine", "The training plan gave 4 instances", None),
        (0.0, "Error", "strange", "words that nobody knows", None),
    )

    def test_each_cause_once_and_nothing_that_is_over(self, own: Ward) -> None:
        own.live.ready()
        now = own.live.api.rig.clock.now().timestamp()
        told = [hyperpod_event(text, now + at, level=level, group=group) for at, level, group, text, _ in self.TOLD]
        many = [hyperpod_event("Lifecycle scripts failed", now - n, instance=f"i-{n:017x}") for n in range(1, 10)]
        own.events(*told, *many)
        found = {one["subject_untrusted"]: one for one in own.diagnosed("cluster_creation")}
        wanted = {f"InstanceGroup/{group}": reason for _, _, group, _, reason in self.TOLD if reason}
        assert {subject: one["reason"] for subject, one in found.items()} == wanted
        scripts = found["InstanceGroup/scripts"]["evidence"]
        assert len(scripts) == 5 and {one["source"] for one in scripts} == {"hyperpod"}, "those of one cause together"

    def test_the_failure_that_a_cluster_tells_of(self, own: Ward) -> None:
        """A17: in classic provisioning only FailureMessage says it."""
        own.live.ready()
        told = own.live.says["DescribeCluster"]
        said = "We currently do not have sufficient capacity"
        own.live.says["DescribeCluster"] = lambda asked: Answer(json={**told(asked).json, "FailureMessage": said})
        assert reasons(own.diagnosed("cluster_creation")) == {"NoCapacity"}


class TestJournal:
    def test_a_failed_call_names_its_cause_and_the_way_on(self, own: Ward) -> None:
        rig = own.live.api.rig
        own.live.ready()
        rig.cloud.faults += [("hyperpod.InstanceGroup", "failed")] * 20
        rig.commit({"gpu": group_yaml("gpu", 3).replace("ml.m5.2xlarge", GPU_TYPE)})
        rig.settle()
        (found,) = own.diagnosed("cluster_creation")
        assert found["reason"] == "ValidationException" and found["evidence"][0]["source"] == "journal"
        assert (
            found["command_untrusted"].startswith("instantstart retry prod ") and "--why" in found["command_untrusted"]
        )

    def test_a_call_of_which_nobody_knows_the_outcome(self, own: Ward) -> None:
        rig = own.live.api.rig
        own.live.ready()
        rig.cloud.boots[NODE] = 1
        rig.cloud.faults.append(("hyperpod.Reboot:run", "lost"))
        rig.commit({"reboot": reboot_yaml("reboot-1", NODE)})
        rig.settle()
        rig.tick(3600.0)
        rig.settle()
        (found,) = own.diagnosed("cluster_creation")
        assert found["reason"] == "OutcomeUnknown" and found["step"] == "decide"
        assert "--as happened" in found["command_untrusted"] and "--as not-happened" in found["next_step"]

    def test_documents_that_are_not_valid(self, own: Ward) -> None:
        own.live.ready()
        own.live.api.rig.commit({"gpu": group_yaml("gpu", -1)})
        own.live.api.rig.settle()
        (found,) = own.diagnosed("cluster_creation")
        assert (found["reason"], found["step"]) == ("DocumentsInvalid", "decide")
        assert "gpu.yaml:" in found["evidence"][0]["about_untrusted"]

    def test_a_change_that_cannot_be_made(self, own: Ward) -> None:
        own.live.ready()
        own.live.api.rig.commit({"gpu": group_yaml("gpu", 2)})  # another instance type
        own.live.api.rig.settle()
        (found,) = own.diagnosed("cluster_creation")
        assert found["reason"] == "Immutable" and "new group" in found["next_step"]

    def test_what_a_person_holds(self, own: Ward) -> None:
        suspended(own)
        own.live.api.rig.commit({"system": group_yaml("system", 5)})
        own.live.api.rig.settle()
        found = own.diagnosed("cluster_creation")
        assert reasons(found) == {"Suspended"} and found[0]["command_untrusted"] == "instantstart resume prod"

    def test_what_needs_an_approval(self, own: Ward) -> None:
        rig = own.live.api.rig
        own.live.ready()
        policy = rig.policy.replace("[replace]", "[replace, inPlace]")
        rig.repo.commit(
            onto=rig.repo.head(),
            changes={"clusters/policy.yaml": policy.encode()},
            message="p",
            author=("E", "e@example.com"),
        )
        rig.commit({"system": group_yaml("system", 5)})
        rig.settle()
        (found,) = own.diagnosed("cluster_creation")
        assert (found["reason"], found["step"]) == ("NeedsApproval", "decide")
        assert found["command_untrusted"].startswith("instantstart approve prod ")

    def test_what_cannot_be_seen(self, own: Ward) -> None:
        """The engine holds still where a look is refused; whoever runs it must give the right."""
        cloud = own.live.api.rig.cloud
        own.live.ready()
        cloud.blind, cloud.why_blind = {"iam.Role"}, "AccessDenied"
        own.live.api.rig.settle()
        found = [one for one in own.diagnosed("cluster_creation") if one["reason"] == "CannotSee"]
        assert len(found) == 1 and "a role may not do" in found[0]["says_untrusted"]

    def test_what_takes_longer_than_it_mostly_does(self, own: Ward) -> None:
        rig = own.live.api.rig
        rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system")})
        while not rig.cloud.of("eks.Cluster"):
            rig.tick(30.0)
        (eks,) = rig.cloud.of("eks.Cluster")
        eks.ready_at = float("inf")
        rig.tick(30.0)
        rig.tick(1000.0)
        assert own.diagnosed("cluster_creation") == [], "within twice of what it may take"
        rig.tick(3600.0)
        found = [one for one in own.diagnosed("cluster_creation") if one["reason"] == "TakesLong"]
        assert len(found) == 1 and found[0]["confidence"] == "possible", found


GONE = {
    "ec2.NatGateway": ("NoWayOut", "describe-nat-gateways"),
    "ec2.InternetGateway": ("NoWayOut", "describe-internet-gateways"),
    "ec2.SecurityGroup": ("SecurityGroupChanged", "describe-security-group-rules"),
    "ec2.VpcEndpoint": ("EndpointMissing", "describe-vpc-endpoints"),
}
CHANGED: dict[tuple[str, str], tuple[Any, str]] = {
    ("iam.Role/prod/execution", "trust"): ({"services": ["ec2.amazonaws.com"]}, "RoleChanged"),
    ("iam.Role/prod/control-plane", "managed"): ([], "RoleChanged"),
    ("ec2.RouteTable/prod/private", "subnets"): ([], "NoWayOut"),
    ("s3.Objects/prod/lifecycle", "objects"): ({}, "ScriptMissing"),
}


@pytest.fixture(scope="module")
def hurt(ward: Ward) -> Ward:
    cloud = suspended(ward)
    things = {one.key: one for one in cloud.things}
    for type_ in GONE:
        cloud.things.remove(*cloud.of(type_))
    for (key, field), (value, _) in CHANGED.items():
        things[key].spec[field] = value
    ward.live.api.rig.settle()
    return ward


class TestBelowTheNodes:
    """Somebody took away what nodes stand on; the hold of the suspension keeps it so."""

    @pytest.mark.parametrize("type_", GONE)
    def test_what_is_gone(self, hurt: Ward, type_: str) -> None:
        reason, command = GONE[type_]
        (found,) = [one for one in hurt.once("cluster_creation") if one["subject_untrusted"].startswith(f"{type_}/")]
        assert (found["reason"], found["step"]) == (reason, "decide")
        assert "Suspended" in found["next_step"] and command in found["command_untrusted"]
        assert "is gone" in found["evidence"][0]["text_untrusted"]

    @pytest.mark.parametrize(("key", "field"), CHANGED)
    def test_what_was_changed(self, hurt: Ward, key: str, field: str) -> None:
        (found,) = [one for one in hurt.once("cluster_creation") if one["subject_untrusted"] == key]
        assert found["reason"] == CHANGED[key, field][1]
        assert field in found["evidence"][0]["text_untrusted"]

    def test_nothing_else_is_told(self, hurt: Ward) -> None:
        told = {one["subject_untrusted"] for one in hurt.once("cluster_creation") if one["reason"] != "Suspended"}
        assert {one for one in told if one.partition("/")[0] not in GONE} == {key for key, _ in CHANGED}


class TestDeletion:
    def test_a_folder_that_vanished_waits_for_a_word(self, own: Ward) -> None:
        own.live.ready()
        own.live.api.rig.commit(dict.fromkeys(("cluster", "system", "gpu", "shared")))
        own.live.api.rig.settle()
        found = own.diagnosed("stuck_deletion")
        assert reasons(found) == {"DeletionProtected"} and found[0]["step"] == "decide"
        assert found[0]["command_untrusted"].startswith("instantstart release prod ")

    def test_a_deletion_that_fails(self, own: Ward) -> None:
        rig = own.live.api.rig
        own.live.ready()
        rig.cloud.faults += [("hyperpod.InstanceGroup:delete", "failed")] * 20
        rig.commit({"gpu": None})
        rig.settle()
        (found,) = own.diagnosed("stuck_deletion")
        assert found["reason"] == "ValidationException" and found["command_untrusted"].startswith(
            "instantstart retry prod "
        )

    def test_what_is_suspended_is_not_deleted_either(self, own: Ward) -> None:
        suspended(own)
        own.live.api.rig.commit({"gpu": None})
        own.live.api.rig.settle()
        assert reasons(own.diagnosed("stuck_deletion")) == {"Suspended"}

    def test_what_is_held_and_goes_nowhere_is_no_deletion(self, own: Ward) -> None:
        suspended(own)
        own.live.api.rig.commit({"system": group_yaml("system", 5)})
        own.live.api.rig.settle()
        assert own.diagnosed("stuck_deletion") == []


def test_times_are_those_of_the_service(own: Ward) -> None:
    own.live.ready()
    told = own.live.api.client("read").get("/clusters/prod/diagnoses/cluster_creation").json()
    at = datetime.fromisoformat(told["at"])
    assert abs(at - own.live.api.rig.clock.now().astimezone(UTC)) < timedelta(seconds=1)


def test_a_cluster_that_nobody_knows_has_no_diagnosis(api: ApiBox) -> None:
    assert api.client("read").get("/clusters/nobody/diagnoses/nccl").status_code == 404
