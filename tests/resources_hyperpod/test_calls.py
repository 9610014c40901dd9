"""From allowed actions to calls, and from calls to requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.live.errors import CallRefused, CallRejected, NotFound
from reconciler.plan.make import PlanInput, make
from reconciler.resources.handler import Verdict
from schemas.errors import Refused, StopUntilChange
from schemas.journal import Phase
from schemas.plan import Action, Verb
from schemas.resource import Mark, Presence, Ref
from tests.resources_hyperpod.cloud import (
    CLUSTER,
    Bench,
    Cloud,
    action,
    add,
    change,
    cluster_resource,
    create_cluster,
    delete,
    record,
    running,
)
from tests.resources_hyperpod.shapes import ROLE


def send_all(bench: Bench, *actions: Action) -> list[str]:
    """Drafts and sends; the names of the groups in each request."""
    sent: list[str] = []
    for call in bench.handler.calls(bench.world, actions):
        bench.handler.send(bench.world, call, "01NEW")
        sent.append(",".join(sorted(bench.bodies())))
    return sent


def test_a_cluster_and_its_groups_are_one_call() -> None:
    bench = Bench(Cloud(), ["a", "b"])
    (call,) = bench.handler.calls(bench.world, [create_cluster(), add("a"), add("b", count=0, minCount=0)])
    assert [a.name for a in call.actions] == ["prod", "a", "b"]
    reply = bench.handler.send(bench.world, call, "01NEW")
    _, request = bench.cloud.calls[-1]
    assert {g["InstanceGroupName"]: g["InstanceCount"] for g in request["InstanceGroups"]} == {"a": 4, "b": 0}
    tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    assert tags == {
        "SageMaker": "true",
        "cost": "research",
        "instantstart:cluster": "prod",
        "instantstart:key": CLUSTER,
        "instantstart:op": "01NEW",
    }
    assert (request["NodeProvisioningMode"], request["NodeRecovery"]) == ("Continuous", "Automatic")
    bench.look()
    op = record(call, Phase.INTENT, ref=reply.ref)
    assert bench.handler.settled(bench.world, op).verdict is Verdict.PENDING
    assert bench.cloud.live is not None
    bench.cloud.live["ClusterStatus"] = "InService"
    bench.look()
    assert bench.handler.settled(bench.world, op).verdict is Verdict.HAPPENED
    bench.cloud.live |= {"ClusterStatus": "Failed", "FailureMessage": "no sufficient capacity"}
    bench.look()
    failed = bench.handler.settled(bench.world, op)
    assert (failed.verdict, failed.message) == (Verdict.FAILED, "no sufficient capacity")


@pytest.mark.parametrize(
    ("reason", "groups"),
    [
        ("a cluster needs a group", []),
        ("and one that is not empty", [add("a", count=0)]),
        ("and one whose references are known", [add("a", executionRole=Ref("iam.Role/prod/nodes", "arn"))]),
    ],
)
def test_no_cluster_without_a_static_group(reason: str, groups: list[Action]) -> None:
    bench = Bench(Cloud(), ["a"])
    assert not bench.handler.calls(bench.world, [create_cluster(), *groups]), reason


def test_raises_then_lowers_then_deletes() -> None:
    """Steps 6b, 6d, 6e: each kind waits until the one before has settled."""
    bench = Bench(running({"up": {}, "down": {}, "old": {}, "labels": {}}), ["up", "down", "labels", "new", "old"])
    everything = [
        delete("old"),
        change("down", count=1),
        change("up", count=9),
        change("labels", labels={}),
        add("new"),
    ]
    assert send_all(bench, *everything) == ["labels,new,up"]
    bench.look()
    assert send_all(bench, *everything[:2]) == ["down"]
    bench.look()
    assert send_all(bench, everything[0]) == [""]
    assert bench.cloud.calls[-1] == (
        "UpdateCluster",
        {"ClusterName": "prod", "InstanceGroupsToDelete": ["old"]},
    )


def test_a_classic_cluster_takes_one_group_a_call() -> None:
    bench = Bench(running({"a": {}, "b": {}}, NodeProvisioningMode=None), ["a", "b"])
    drafted = bench.handler.calls(bench.world, [change("a", count=5), change("b", count=6)])
    assert [[a.name for a in call.actions] for call in drafted] == [["a"], ["b"]]


def test_a_label_change_sends_the_count_of_this_moment() -> None:
    """B10, A26: neither the planned look nor git decides a count that nobody named."""
    bench = Bench(running({"a": {"KubernetesConfig": {"Taints": [{"Key": "hand", "Effect": "NoSchedule"}]}}}), ["a"])
    (call,) = bench.handler.calls(bench.world, [change("a", labels={"team": "a"})])
    bench.cloud.group("a")["TargetCount"] = 7  # an autoscaler or a person, between plan and act
    bench.handler.send(bench.world, call, "01NEW")
    body = bench.bodies()["a"]
    assert body["InstanceCount"] == 7
    assert body["KubernetesConfig"] == {"Labels": {"team": "a"}, "Taints": [{"Key": "hand", "Effect": "NoSchedule"}]}


FIELDS: dict[str, Any] = {"labels": {"x": "y"}, "taints": [], "minCount": 1, "volume": {"sizeGiB": 9}, "count": 9}


@given(
    lives=st.dictionaries(st.sampled_from("abcde"), st.integers(0, 12), min_size=1),
    fields=st.dictionaries(st.sampled_from("abcde"), st.sets(st.sampled_from(sorted(FIELDS)), min_size=1)),
    grown=st.dictionaries(st.sampled_from("abcde"), st.integers(0, 12)),
    wish=st.integers(0, 12),
)
def test_no_request_lowers_a_count_that_no_action_named(
    lives: dict[str, int], fields: dict[str, set[str]], grown: dict[str, int], wish: int
) -> None:
    """Law: whatever moves between look and send."""
    bench = Bench(running({name: {"InstanceCount": count} for name, count in lives.items()}), sorted(lives))
    wanted = {name: {f: FIELDS[f] for f in fields[name]} for name in fields if name in lives}
    actions = [change(n, **w | ({"count": wish} if "count" in w else {})) for n, w in wanted.items()]
    calls = bench.handler.calls(bench.world, actions)
    before: dict[str, int] = {}
    for name in lives:
        bench.cloud.group(name)["TargetCount"] = before[name] = lives[name] + grown.get(name, 0)
    for call in calls:
        count = len(bench.cloud.calls)
        try:
            bench.handler.send(bench.world, call, "01NEW")
        except Refused as error:
            assert error.reason == "CountMoved"
        for number in range(count, len(bench.cloud.calls)):
            for name, body in bench.bodies(number).items():
                assert "count" in fields[name] or body["InstanceCount"] >= before[name]
                assert call.params["move"] == "lower" or body["InstanceCount"] >= before[name]


def test_two_actions_on_one_group_are_one_body() -> None:
    """Drift of the count beside a change from git."""
    bench = Bench(running({"a": {}}), ["a"])
    assert send_all(bench, change("a", count=6), change("a", labels={"b": "c"})) == ["a"]
    body = bench.bodies()["a"]
    assert (body["InstanceCount"], body["KubernetesConfig"]) == (6, {"Labels": {"b": "c"}})


def test_the_bad_group_is_found_and_the_others_go_on() -> None:
    """6b: a folded call that is rejected had no effect, so its groups go one by one."""
    bench = Bench(running({"a": {}, "b": {}}), ["a", "b", "c"])
    bench.cloud.objections["b"] = "label key is reserved"
    (call,) = bench.handler.calls(bench.world, [change("a", count=5), change("b", count=5), add("c")])
    reply = bench.handler.send(bench.world, call, "01NEW")
    assert reply.failures == {"b": ("ValidationException", "b: label key is reserved")}
    assert [",".join(sorted(bench.bodies(n))) for n in range(4)] == ["a,b,c", "a", "b", "c"]
    assert reply.ref == {"failed": ["b"]}


def test_all_bad_is_a_rejection() -> None:
    bench = Bench(running({"a": {}, "b": {}}), ["a", "b"])
    bench.cloud.objections |= {"a": "no", "b": "no"}
    (call,) = bench.handler.calls(bench.world, [change("a", count=5), change("b", count=5)])
    with pytest.raises(StopUntilChange):
        bench.handler.send(bench.world, call, "01NEW")


@pytest.mark.parametrize(
    ("reason", "live", "node"),
    [
        ("deep health checks run (A14)", {}, "DeepHealthCheckInProgress"),
        ("a classic update runs (E10)", {"ClusterStatus": "Updating"}, "Running"),
        ("it is being deleted", {"ClusterStatus": "Deleting"}, "Running"),
        ("it failed", {"ClusterStatus": "Failed"}, "Running"),
    ],
)
def test_nothing_is_sent_while_the_cluster_takes_no_change(reason: str, live: dict[str, Any], node: str) -> None:
    cloud = running({"a": {}}, **live)
    cloud.nodes = [{"InstanceGroupName": "a", "InstanceId": "i-1", "InstanceStatus": {"Status": node}}]
    bench = Bench(cloud, ["a"])
    assert not bench.handler.calls(bench.world, [change("a", count=5)]), reason


@pytest.mark.parametrize(
    ("reason", "error", "made", "wanted"),
    [
        (
            "checks started in between (A14)",
            CallRejected("deep health checks are in progress"),
            None,
            "DeepHealthCheck",
        ),
        ("a conflict is no failure (E10)", CallRefused("busy", reason="Conflict"), None, "Conflict"),
        ("a young role is not usable yet (E07)", CallRejected("the role could not be assumed"), 20, "RoleNotYetUsable"),
        ("denied on a young role (E07)", CallRejected("no", reason="AccessDenied"), 20, "RoleNotYetUsable"),
    ],
)
def test_what_passes_by_itself_is_refused_for_now(reason: str, error: Exception, made: int | None, wanted: str) -> None:
    bench = Bench(running({"a": {}}), ["a"])
    now = bench.world.clock.now().timestamp()
    bench.world.role_made_at = lambda arn: None if made is None or arn != ROLE else now - made
    (call,) = bench.handler.calls(bench.world, [change("a", count=5)])
    bench.cloud.refusal = error
    with pytest.raises(Refused) as caught:
        bench.handler.send(bench.world, call, "01NEW")
    assert caught.value.reason == wanted, reason


def test_denied_on_an_old_role_is_final() -> None:
    """E07: reported at once."""
    bench = Bench(running({"a": {}}), ["a"])
    (call,) = bench.handler.calls(bench.world, [change("a", count=5)])
    bench.cloud.refusal = CallRejected("no", reason="AccessDenied")
    with pytest.raises(CallRejected):
        bench.handler.send(bench.world, call, "01NEW")


def test_a_slurm_cluster_is_shown_and_left_alone() -> None:
    """A02"""
    cloud = running({"a": {}})
    assert cloud.live is not None
    cloud.live["Orchestrator"] = {"Slurm": {}}
    for live in (cloud.live, {k: v for k, v in cloud.live.items() if k != "Orchestrator"}):
        cloud.live = live
        bench = Bench(cloud, ["a"], adopt="prod")
        assert (bench.world.observed[CLUSTER].mark, bench.world.observed[CLUSTER].reason) == (Mark.FOREIGN, "NotEks")
        assert bench.world.observed["hyperpod.InstanceGroup/prod/a"].presence is Presence.UNKNOWN
        actions = [action(Verb.ADOPT, cluster_resource()), change("a", count=5), add("b"), delete("a")]
        assert not bench.handler.calls(bench.world, actions)


def test_adopting_is_a_mark_and_letting_go_takes_it_off() -> None:
    """A32: tags go through the tagging calls."""
    cloud = running({"a": {}})
    cloud.tags = [{"Key": "owner", "Value": "team-a"}]
    bench = Bench(cloud, ["a"], adopt="prod")
    assert bench.world.observed[CLUSTER].mark is Mark.FOREIGN
    assert bench.world.observed["hyperpod.InstanceGroup/prod/a"].mark is Mark.CHILD  # the plan shows what will come
    assert not bench.handler.calls(bench.world, [change("a", count=5)])  # but nothing goes before the mark
    (call,) = bench.handler.calls(bench.world, [action(Verb.ADOPT, cluster_resource("prod")), change("a", count=5)])
    bench.handler.send(bench.world, call, "01NEW")
    assert bench.look()[CLUSTER].mark is Mark.ADOPTED
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.HAPPENED
    (call,) = bench.handler.calls(bench.world, [action(Verb.RELEASE, cluster_resource("prod"))])
    bench.handler.send(bench.world, call, "01NEW")
    assert bench.look()[CLUSTER].mark is Mark.FOREIGN
    assert cloud.tags == [{"Key": "owner", "Value": "team-a"}]
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.HAPPENED


@pytest.mark.parametrize(
    ("reason", "before", "now", "calls"),
    [
        ("one changed", {"cost": "a", "team": "t"}, {"cost": "b", "team": "t"}, ["AddTags"]),
        ("one added", {}, {"cost": "b"}, ["AddTags"]),
        ("one removed", {"cost": "a", "team": "t"}, {"cost": "a"}, ["DeleteTags"]),
        ("all removed", {"cost": "a"}, {}, ["DeleteTags"]),
        ("one for another", {"cost": "a"}, {"team": "t"}, ["AddTags", "DeleteTags"]),
        ("the same", {"cost": "a"}, {"cost": "a"}, []),
    ],
)
def test_tags_of_a_live_cluster_follow_the_document(
    reason: str, before: dict[str, str], now: dict[str, str], calls: list[str]
) -> None:
    """A32: through the tagging calls alone; tags that no document wrote stay."""
    cloud = running({"a": {}})
    theirs = [*cloud.tags, {"Key": "scanner", "Value": "seen"}]
    cloud.tags = [*theirs, *({"Key": key, "Value": value} for key, value in before.items())]
    bench = Bench(cloud, ["a"])
    group = bench.world.desired["hyperpod.InstanceGroup/prod/a"]
    wanted = cluster_resource(tags=now)
    bench.world.previous = {CLUSTER: cluster_resource(tags=before)}
    bench.world.desired = {CLUSTER: wanted, group.key: group}

    def planned() -> list[Action]:
        asked = PlanInput(
            cluster="prod",
            revision=None,
            desired={CLUSTER: wanted},
            previous=bench.world.previous,
            observed={CLUSTER: bench.look()[CLUSTER]},
        )
        return list(make(asked).actions)

    for call in bench.handler.calls(bench.world, planned()):
        assert call.closes_on_reply
        bench.handler.send(bench.world, call, "01NEW")
    assert [name for name, _ in cloud.calls] == calls, reason
    assert planned() == []
    assert {tag["Key"]: tag["Value"] for tag in cloud.tags} == {t["Key"]: t["Value"] for t in theirs} | now


def test_groups_nobody_asks_for_are_shown_and_never_sent() -> None:
    bench = Bench(running({"a": {}, "theirs": {}}), ["a"])
    seen = bench.world.observed["hyperpod.InstanceGroup/prod/theirs"]
    assert (seen.mark, seen.reason) == (Mark.FOREIGN, "UnmanagedGroup")
    assert not bench.handler.calls(bench.world, [delete("theirs")])


def test_the_last_group_goes_with_its_cluster() -> None:
    bench = Bench(running({"a": {}}), ["a"])
    assert not bench.handler.calls(bench.world, [delete("a")])
    removal = action(Verb.DELETE, cluster_resource())
    (call,) = bench.handler.calls(bench.world, [delete("a"), removal])
    assert (call.call, [a.name for a in call.actions]) == ("sagemaker:DeleteCluster", ["prod", "a"])
    bench.handler.send(bench.world, call, "01NEW")
    bench.look()
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.HAPPENED


def test_a_cluster_made_again_under_the_name_is_not_deleted() -> None:
    bench = Bench(running({"a": {}}), ["a"])
    (call,) = bench.handler.calls(bench.world, [action(Verb.DELETE, cluster_resource())])
    assert bench.cloud.live is not None
    bench.cloud.live["ClusterArn"] = bench.cloud.live["ClusterArn"][:-1] + "x"
    with pytest.raises(StopUntilChange):
        bench.handler.send(bench.world, call, "01NEW")
    assert bench.cloud.calls == []


def test_an_update_settles_when_target_and_desired_show_it() -> None:
    bench = Bench(running({"a": {}}), ["a"])
    (call,) = bench.handler.calls(bench.world, [change("a", count=6, labels={"b": "c"})])
    op = record(call, Phase.INTENT)
    assert bench.handler.settled(bench.world, op).verdict is Verdict.ABSENT
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.PENDING
    bench.cloud.group("a")["TargetCount"] = 6
    bench.look()
    assert bench.handler.settled(bench.world, op).verdict is Verdict.ABSENT
    bench.cloud.group("a")["KubernetesConfig"] = {"DesiredLabels": {"b": "c"}, "CurrentLabels": {}}
    bench.look()
    assert bench.handler.settled(bench.world, op).verdict is Verdict.HAPPENED
    bench.cloud.live = None
    bench.look()
    assert bench.handler.settled(bench.world, op).verdict is Verdict.SUBJECT_GONE


def test_an_update_that_somebody_overtook_does_not_hold_the_lane() -> None:
    bench = Bench(running({"a": {}}), ["a"])
    (call,) = bench.handler.calls(bench.world, [change("a", count=6)])
    sent = record(call).model_copy(update={"at": bench.world.clock.iso(), "settle": call.settle})
    assert bench.handler.settled(bench.world, sent).verdict is Verdict.PENDING
    old = sent.model_copy(update={"at": "2026-01-01T00:00:00.000Z"})
    found = bench.handler.settled(bench.world, old)
    assert (found.verdict, found.reason) == (Verdict.SUBJECT_GONE, "Overtaken")


def test_a_classic_update_is_over_when_it_is_in_service_again_or_rolled_back() -> None:
    """A17"""
    bench = Bench(running({"a": {}}, NodeProvisioningMode=None), ["a"])
    (call,) = bench.handler.calls(bench.world, [change("a", count=6)])
    bench.handler.send(bench.world, call, "01NEW")
    assert bench.cloud.live is not None
    bench.cloud.live["ClusterStatus"] = "Updating"
    bench.look()
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.PENDING
    bench.cloud.live |= {"ClusterStatus": "InService", "FailureMessage": "no sufficient capacity"}
    bench.look()
    found = bench.handler.settled(bench.world, record(call))
    assert (found.verdict, found.message) == (Verdict.FAILED, "no sufficient capacity")


def test_an_add_whose_reply_was_lost_is_repeated_without_harm() -> None:
    bench = Bench(running({"a": {}}), ["a", "b"])
    (call,) = bench.handler.calls(bench.world, [add("b")])
    bench.handler.send(bench.world, call, "01NEW")
    bench.cloud.group("b")["AutoPatchConfig"] = {"PatchingStrategy": "WhenIdle"}  # set by the server in between
    bench.handler.send(bench.world, call, "01NEW")
    assert bench.bodies()["b"] == {**bench.bodies(-2)["b"], "AutoPatchConfig": {"PatchingStrategy": "WhenIdle"}}
    bench.look()
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.HAPPENED


def test_many_groups_fit_the_journals_line() -> None:
    names = [f"{'g' * 60}{n:02}" for n in range(25)]
    bench = Bench(running({"a": {}}), ["a", *names])
    calls = bench.handler.calls(bench.world, [add(name) for name in names])
    assert [len(call.actions) for call in calls] == [10, 10, 5]


def test_node_recovery_is_a_call_without_groups() -> None:
    bench = Bench(running({"a": {}}), ["a"])
    wish = action(Verb.UPDATE, cluster_resource(), nodeRecovery="None")
    (call,) = bench.handler.calls(bench.world, [wish, change("a", count=5)])
    bench.handler.send(bench.world, call, "01NEW")
    assert bench.cloud.calls[-1] == ("UpdateCluster", {"ClusterName": "prod", "NodeRecovery": "None"})
    bench.look()
    assert bench.handler.settled(bench.world, record(call)).verdict is Verdict.HAPPENED


def test_what_stands_is_what_was_wanted_whatever_its_order() -> None:
    """A25: the cloud answers groups in another order; nothing differs."""
    bench = Bench(Cloud(), ["a", "b"])
    (call,) = bench.handler.calls(bench.world, [create_cluster(), add("a"), add("b")])
    bench.handler.send(bench.world, call, "01NEW")
    assert bench.cloud.live is not None
    bench.cloud.live["InstanceGroups"].reverse()
    seen = bench.look()
    for resource in bench.world.desired.values():
        assert seen[resource.key].spec == resource.spec


def test_a_cluster_that_goes_while_we_look_is_absent() -> None:
    class Going(Cloud):
        def pages(self, service: str, operation: str, key: str, /, **params: Any) -> list[dict[str, Any]]:
            if operation == "ListClusterNodes":
                self.live = None
                raise NotFound("gone")
            return super().pages(service, operation, key, **params)

    cloud = Going()
    cloud.__dict__ |= running({"a": {}}).__dict__
    assert all(seen.presence is Presence.ABSENT for seen in Bench(cloud, ["a"]).world.observed.values())
