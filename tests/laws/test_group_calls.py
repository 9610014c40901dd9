"""Laws of the plan and the calls of instance groups, without an engine: what only an autoscaler or a classic cluster
can bring about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.plan.make import PlanInput, make
from schemas.errors import Refused
from schemas.plan import Plan, Verb
from schemas.resource import Resource
from tests.resources_hyperpod.cloud import Bench, cluster_resource, group_resource, running
from tests.resources_hyperpod.shapes import SPEC, VPC

LAW = settings(max_examples=80, deadline=None, derandomize=True)
NAMES = ("a", "b", "c")
LABELS = st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"), max_size=2)


def wanted(name: str, count: int | None, labels: dict[str, str] | None, minimum: int = 0) -> Resource:
    """A group's document; without a count an autoscaler owns it."""
    plain: dict[str, Any] = {"instanceType": "ml.c5.xlarge", "capacity": {"onDemand": {}}}
    known = {"subnets": VPC["Subnets"], "securityGroups": VPC["SecurityGroupIds"]}
    spec = {**plain, **known, "executionRole": SPEC["executionRole"]}
    spec |= {"count": count} if count is not None else {}
    spec |= {"minCount": minimum} if minimum else {}
    spec |= {"labels": labels} if labels is not None else {}
    made = replace(group_resource(name), spec=spec)
    return made if count is not None else replace(made, initial={"count": 0})


def planned(bench: Bench, *, holds: bool, previous: dict[str, Resource] | None = None) -> Plan:
    return make(
        PlanInput(
            cluster="prod",
            revision=None,
            desired=bench.world.desired,
            previous=previous if previous is not None else dict(bench.world.desired),
            observed=bench.look(),
            hold_count_drift=holds,
        )
    )


def bench_of(lives: dict[str, int], groups: list[Resource], *, classic: bool) -> Bench:
    more: dict[str, Any] = {"NodeProvisioningMode": None} if classic else {}
    bench = Bench(running({name: {"InstanceCount": count} for name, count in lives.items()}, **more))
    provisioning = "Classic" if classic else "Continuous"
    cluster = cluster_resource(tags={})
    bench.world.desired = {
        r.key: r for r in (replace(cluster, spec={**cluster.spec, "provisioning": provisioning}), *groups)
    }
    bench.look()
    return bench


@LAW
@given(
    lives=st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES}),
    counts=st.fixed_dictionaries({name: st.none() | st.integers(0, 9) for name in NAMES}),
    labels=st.fixed_dictionaries({name: st.none() | LABELS for name in NAMES}),
    moved=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 9)),
    git_changed=st.booleans(),
    classic=st.booleans(),
)
def test_a_body_has_the_live_count_or_one_that_the_plan_names(
    lives: dict[str, int],
    counts: dict[str, int | None],
    labels: dict[str, dict[str, str] | None],
    moved: dict[str, int],
    git_changed: bool,
    classic: bool,
) -> None:
    """Laws 1 and 7: under autoscaling (no count in git) and under drift that is held (the action is left out), a
    change of a label sends the count of the moment, whatever moved between the look and the sending; on a classic
    cluster too. A count is lowered only by a call of its own that the plan names."""
    groups = [wanted(name, counts[name], labels[name]) for name in NAMES]
    bench = bench_of(lives, groups, classic=classic)
    before = {r.key: r for r in (wanted(name, 5, None) for name in NAMES)} if git_changed else None
    plan = planned(bench, holds=True, previous=before)
    allowed = [a for a in plan.actions if not (a.because == "drift" and a.fields == ("count",))]
    named = {a.name: a.want["count"] for a in allowed if "count" in a.fields}
    calls = bench.handler.calls(bench.world, allowed)
    assert not classic or all(len({a.name for a in call.actions}) == 1 for call in calls)
    for name, count in moved.items():
        bench.cloud.group(name)["TargetCount"] = count
    for call in calls:
        at_send = {name: bench.cloud.group(name)["TargetCount"] for name in NAMES}
        sent = len(bench.cloud.calls)
        try:
            bench.handler.send(bench.world, call, "01LAW")
        except Refused as error:
            assert error.reason == "CountMoved"
        for number in range(sent, len(bench.cloud.calls)):
            for name, body in bench.bodies(number).items():
                assert body["InstanceCount"] in (at_send[name], named.get(name))
                if body["InstanceCount"] < at_send[name]:
                    assert named[name] == body["InstanceCount"]
                    assert call.params["move"] == "lower"


@LAW
@given(
    lives=st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES}),
    labels=st.fixed_dictionaries({name: st.none() | LABELS for name in NAMES}),
    autoscaled=st.sets(st.sampled_from(NAMES)),
)
def test_after_the_calls_the_plan_is_empty(
    lives: dict[str, int], labels: dict[str, dict[str, str] | None], autoscaled: set[str]
) -> None:
    """Law 4. B10: with an autoscaler the live count is never drift."""
    groups = [wanted(name, None if name in autoscaled else 4, labels[name]) for name in NAMES]
    bench = bench_of(lives, groups, classic=False)
    for _ in range(6):
        calls = bench.handler.calls(bench.world, planned(bench, holds=False).actions)
        if not calls:
            break
        bench.handler.send(bench.world, calls[0], "01LAW")
    assert planned(bench, holds=False).empty
    live = {name: bench.cloud.group(name)["TargetCount"] for name in NAMES}
    assert live == {name: lives[name] if name in autoscaled else 4 for name in NAMES}
    sent = len(bench.cloud.calls)
    assert not bench.handler.calls(bench.world, planned(bench, holds=False).actions)
    assert len(bench.cloud.calls) == sent


def test_a_mixed_commit_under_held_drift_sends_only_the_label() -> None:
    """The count that others moved stays; one commit changes a label."""
    bench = bench_of({"a": 7, "b": 4, "c": 4}, [wanted("a", 4, {"x": "1"})], classic=False)
    before = {r.key: r for r in [wanted("a", 4, None)]}
    plan = planned(bench, holds=True, previous=before)
    assert [(a.fields, a.because) for a in plan.actions] == [(("count",), "drift"), (("labels",), "git")]
    (call,) = bench.handler.calls(bench.world, plan.actions[1:])
    assert [a.fields for a in call.actions] == [("labels",)]
    bench.handler.send(bench.world, call, "01LAW")
    body = bench.bodies()["a"]
    assert (body["InstanceCount"], body["KubernetesConfig"]["Labels"]) == (7, {"x": "1"})


def test_a_rename_of_groups_is_a_delete_and_an_add_in_that_order_of_safety() -> None:
    """B12, B16: the new ones come first; every delete is an action of its own with the identity it means."""
    bench = bench_of({"a": 4, "b": 4}, [wanted("x", 4, None), wanted("y", 4, None)], classic=False)
    before = {r.key: r for r in (wanted("a", 4, None), wanted("b", 4, None))}
    bench.world.previous = before
    observed = {o.key: o for o in bench.handler.look(bench.world, [*bench.world.desired.values(), *before.values()])}
    plan = make(
        PlanInput(cluster="prod", revision=None, desired=bench.world.desired, previous=before, observed=observed)
    )
    assert [(a.verb, a.name) for a in plan.actions] == [
        (Verb.CREATE, "x"),
        (Verb.CREATE, "y"),
        (Verb.DELETE, "a"),
        (Verb.DELETE, "b"),
    ]
    assert all(a.identity.endswith(f"/{a.name}") for a in plan.actions[2:])


@pytest.mark.parametrize("classic", [True, False])
def test_a_bad_group_costs_the_others_nothing_and_each_is_read_again(
    classic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """6b: the counts of the others may have moved while the calls before theirs were answered."""
    bench = bench_of({"a": 4, "b": 4, "c": 4}, [wanted(n, 4, {"x": "1"}) for n in NAMES], classic=classic)
    bench.cloud.objections["a"] = "label key is reserved"
    update = bench.cloud.update_cluster

    def grows(params: Any) -> None:
        update(params)
        bench.cloud.group("c")["TargetCount"] = 9  # an autoscaler, while b is written

    monkeypatch.setattr(bench.cloud, "update_cluster", grows)
    calls = bench.handler.calls(bench.world, planned(bench, holds=True).actions)
    if classic:
        assert [[a.name for a in call.actions] for call in calls] == [["a"], ["b"], ["c"]]
        return
    (call,) = calls
    reply = bench.handler.send(bench.world, call, "01LAW")
    assert set(reply.failures) == {"a"}
    assert {name: bench.bodies(-1)[name]["InstanceCount"] for name in bench.bodies(-1)} == {"c": 9}
