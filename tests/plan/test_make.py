"""The plan: pair, diff, order. Named cases with a reason, and the laws."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.plan.make import PlanInput, make
from schemas.plan import Cost, Plan, Verb
from schemas.resource import Bar, Health, Mark, Observed, Presence, Ref, Resource, Source, Stage, resolve

DOC = Source("InstanceGroup", "gpu", "clusters/prod/groups.yaml", 3)


def group(name: str = "gpu", **spec: Any) -> Resource:
    base = {"instanceType": "ml.g5.8xlarge", "count": 4, **spec}
    return Resource(
        key=f"hyperpod.InstanceGroup/prod/{name}",
        type="hyperpod.InstanceGroup",
        name=name,
        cluster="prod",
        stage=Stage.COMPUTE,
        lane="hyperpod/prod",
        spec=base,
        after=("hyperpod.Cluster/prod",),
        source=DOC,
    )


def seen(resource: Resource, **change: Any) -> Observed:
    known: dict[str, Any] = {
        "key": resource.key,
        "type": resource.type,
        "name": resource.name,
        "presence": Presence.PRESENT,
        "spec": dict(resource.spec),
        "attrs": {"id": f"id-{resource.name}"},
        "health": Health.HEALTHY,
        "mark": Mark.OURS,
        "identity": f"id-{resource.name}@2026",
        "guards": {"count": resource.spec.get("count")},
    }
    return Observed(**{**known, **change})


def plan(
    desired: list[Resource], observed: list[Observed], previous: list[Resource] | None = None, **more: Any
) -> Plan:
    return make(
        PlanInput(
            cluster="prod",
            revision="a" * 40,
            desired={r.key: r for r in desired},
            previous={r.key: r for r in previous or ()},
            observed={o.key: o for o in observed},
            **more,
        )
    )


def verbs(made: Plan) -> list[str]:
    return [f"{a.verb.value} {a.name}" for a in made.actions]


def test_what_is_equal_gives_an_empty_plan() -> None:
    assert plan([group()], [seen(group())]).empty


@pytest.mark.parametrize(
    ("wanted", "live", "expected", "reason"),
    [
        ({"count": 6}, {}, ["update gpu"], "a count moves in place"),
        ({"labels": {"team": "a"}}, {"labels": {"team": "b"}}, ["update gpu"], "a label moves in place"),
        ({}, {"labels": {"team": "hand"}}, [], "what nobody wrote belongs to somebody else"),
        ({"labels": {}}, {}, [], "no labels written and none there"),
        ({"taints": []}, {"taints": None}, [], "B03: an empty list says nothing"),
        ({"capacity": {"spot": {}}}, {"capacity": {"spot": {}}}, [], "A29: spot is spot"),
        ({"deepHealthChecks": ["A", "B"]}, {"deepHealthChecks": ["B", "A"]}, [], "the order of a set says nothing"),
        ({"threadsPerCore": 2}, {"threadsPerCore": 2.0}, [], "a number is a number"),
    ],
)
def test_differences(wanted: dict[str, Any], live: dict[str, Any], expected: list[str], reason: str) -> None:
    desired = group(**wanted)
    observed = seen(group(), spec={**group().spec, **live})
    assert verbs(plan([desired], [observed])) == expected, reason


@pytest.mark.parametrize(
    ("wanted", "live"),
    [
        ({"instanceType": "ml.p5.48xlarge"}, {}),
        ({"capacity": {"spot": {}}}, {"capacity": {"onDemand": {}}}),
        ({"capacity": {"onDemand": {}}}, {"capacity": {"spot": {}}}),
        ({"executionRole": "arn:b"}, {"executionRole": "arn:a"}),
    ],
)
def test_what_cannot_change_is_refused_with_the_way_out_and_others_go_on(
    wanted: dict[str, Any], live: dict[str, Any]
) -> None:
    """A29: `spot: {}` is never normalised away, and drift is seen both ways."""
    other = group("cpu", count=9)
    made = plan([group(**wanted), other], [seen(group(), spec={**group().spec, **live}), seen(group("cpu", count=1))])
    assert [r.reason for r in made.refusals] == ["Immutable"]
    assert "new group" in made.refusals[0].way_out
    assert verbs(made) == ["update cpu"]


def test_a_field_that_its_author_removed_goes_back_to_its_default() -> None:
    before = group(labels={"team": "a"}, minCount=2)
    made = plan([group()], [seen(before)], [before])
    (action,) = made.actions
    assert action.fields == ("labels", "minCount")
    assert action.want["labels"] == {}
    assert action.because == "git"


def test_removing_a_field_whose_default_nobody_knows_changes_nothing() -> None:
    before = group(lifecycle={"onCreate": "on_create.sh"})
    assert plan([group()], [seen(before)], [before]).empty


@pytest.mark.parametrize(
    ("known", "because", "reason"),
    [
        ({}, "git", "nobody made it before"),
        ({"made": {group().key: "id-gpu"}}, "drift", "the journal says we made it: somebody took it away"),
        (
            {"made": {group().key: "id-gpu"}, "unmade": frozenset({group().key})},
            "git",
            "its creation was sent and did not succeed: nobody took anything away",
        ),
    ],
)
def test_what_was_taken_away_is_drift(known: dict[str, Any], because: str, reason: str) -> None:
    made = plan([group()], [seen(group(), presence=Presence.ABSENT)], [group()], **known)
    assert [(a.verb.value, a.because) for a in made.actions] == [("create", because)], reason


def test_unknown_is_not_absent() -> None:
    """E04, 2.3: a failed look makes nothing and deletes nothing."""
    blind = seen(group(), presence=Presence.UNKNOWN)
    assert plan([group()], [blind]).actions == ()
    assert plan([], [blind], [group()]).actions == ()
    assert plan([group()], [blind]).unknown == (group().key,)


def test_prune_is_ours_minus_desired_and_what_is_not_ours_is_only_shown() -> None:
    """A10: nothing without our mark appears in the prune."""
    foreign = seen(group("handmade"), mark=Mark.FOREIGN)
    made = plan([], [seen(group()), foreign], [group()])
    assert verbs(made) == ["delete gpu"]
    assert [u.key for u in made.unmanaged] == [foreign.key]
    assert made.actions[0].identity == "id-gpu@2026"


@pytest.mark.parametrize(
    ("change", "known", "expected", "reason"),
    [
        (
            {},
            {"made": {"hyperpod.InstanceGroup/prod/gpu": "id-gpu"}},
            "release unmarked",
            "made here, and its id says so",
        ),
        ({}, {"made": {"hyperpod.InstanceGroup/prod/gpu": "id-old"}}, "", "another thing under the name of ours"),
        ({}, {}, "", "nobody knows of it"),
        (
            {"bar": Bar("OthersMark", "another cluster's", "let go of it there")},
            {"made": {"hyperpod.InstanceGroup/prod/gpu": "id-gpu"}},
            "",
            "another cluster has it now: its marks are not touched",
        ),
        (
            {},
            {
                "made": {"hyperpod.InstanceGroup/prod/gpu": "id-gpu"},
                "adopted": {"hyperpod.InstanceGroup/prod/gpu": "gpu"},
            },
            "release teardown",
            "adopted things are let go of anyway",
        ),
    ],
)
def test_what_lost_its_mark_and_is_wanted_by_nobody(
    change: dict[str, Any], known: dict[str, Any], expected: str, reason: str
) -> None:
    made = plan([], [seen(group(), mark=Mark.FOREIGN, **change)], [group()], **known)
    assert " ".join(f"{a.verb.value} {a.because}" for a in made.actions) == expected, reason
    assert bool(made.unmanaged) is not bool(expected), "one or the other is said"


def test_an_operation_whose_document_went_leaves_nothing_to_delete() -> None:
    reboot = replace(
        group(), key="Operation/reboot-a#i-1", type="hyperpod.Reboot", name="i-1", spec={"instance": "i-1"}
    )
    assert plan([], [seen(reboot)], [reboot]).empty
    assert plan([reboot], [seen(reboot)]).empty, "not due: nothing is run"
    assert verbs(plan([reboot], [seen(reboot)], due=frozenset({reboot.key}))) == ["run i-1"]
    gone = Observed(key=reboot.key, type=reboot.type, name="i-1", presence=Presence.ABSENT)
    assert [r.reason for r in plan([reboot], [gone], due=frozenset({reboot.key})).refusals] == ["NodeMissing"]


def test_adopted_things_are_released_not_deleted() -> None:
    made = plan([], [seen(group(), mark=Mark.ADOPTED)], [group()])
    assert verbs(made) == ["release gpu"]


def test_a_name_that_is_taken_is_refused_unless_the_document_adopts_it() -> None:
    theirs = seen(group(), mark=Mark.FOREIGN)
    assert [r.reason for r in plan([group()], [theirs]).refusals] == ["NotOurs"]
    adopting = replace(group(), adopt="gpu")
    assert verbs(plan([adopting], [theirs])) == ["adopt gpu"]
    gone = Observed(key=group().key, type=group().type, name="gpu", presence=Presence.ABSENT)
    assert [r.reason for r in plan([adopting], [gone]).refusals] == ["AdoptMissing"]


def test_what_is_being_deleted_is_waited_for() -> None:
    made = plan([group()], [seen(group(), health=Health.DELETING)])
    assert made.actions == ()
    assert [f.reason for f in made.findings] == ["BeingDeleted"]


def test_groups_are_paired_by_name_never_by_index() -> None:
    """A25: a group added at the front is one addition."""
    old = [group("b"), group("c")]
    made = plan([group("a-new"), *old], [seen(g) for g in old] + [absent("a-new")], old)
    assert verbs(made) == ["create a-new"]


def absent(name: str) -> Observed:
    return Observed(key=group(name).key, type=group().type, name=name, presence=Presence.ABSENT)


def test_a_held_count_drift_is_an_action_of_its_own() -> None:
    """Under hold a label change goes alone; the count stays what is live."""
    wanted = group(labels={"team": "a"})
    live = seen(wanted, spec={**wanted.spec, "count": 7, "labels": {"team": "b"}})
    made = plan([wanted], [live], [wanted], hold_count_drift=True)
    assert sorted(a.fields for a in made.actions) == [("count",), ("labels",)]
    both = plan([wanted], [live], [wanted])
    assert [a.fields for a in both.actions] == [("count", "labels")]
    assert both.actions[0].because == "drift"


def test_the_digest_does_not_depend_on_what_is_known_yet_nor_on_the_live_value() -> None:
    """An approval given before the VPC exists still fits when it does."""
    wanted = group(subnets=[Ref("ec2.Subnet/prod/compute", "id")])
    one = plan([wanted], [absent("gpu")]).actions[0]
    subnet = Observed(
        key="ec2.Subnet/prod/compute", type="ec2.Subnet", name="x", presence=Presence.PRESENT, attrs={"id": "s-1"}
    )
    two = plan([wanted], [absent("gpu"), subnet]).actions[0]
    assert one.digest == two.digest
    scaled = [plan([group(count=6)], [seen(group(count=n))]).actions[0].digest for n in (1, 2)]
    assert scaled[0] == scaled[1]


def test_an_open_ref_is_not_a_difference() -> None:
    wanted = group(executionRole=Ref("iam.Role/prod/execution", "arn"))
    assert plan([wanted], [seen(wanted, spec={**wanted.spec, "executionRole": "arn:old"})]).empty


def test_a_value_that_will_never_be_known_is_refused_not_waited_for() -> None:
    """A zone that the region does not have, a VPC without the NAT gateway it was said to have."""
    zones = Observed(
        key="ec2.Zones/prod", type="ec2.Zones", name="us-west-2", presence=Presence.PRESENT, health=Health.HEALTHY,
        attrs={"name:usw2-az1": "us-west-2a"},
    )  # fmt: skip
    good, bad = (
        replace(group(z), initial={"zone": Ref("ec2.Zones/prod", f"name:{z}")}) for z in ("usw2-az1", "usw2-az9")
    )
    made = plan([good, bad], [absent("usw2-az1"), absent("usw2-az9"), zones])
    assert verbs(made) == ["create usw2-az1"]
    assert [(r.reason, r.message) for r in made.refusals] == [
        ("ValueMissing", "usw2-az9 needs it and us-west-2 has no usw2-az9")
    ]


def test_what_is_needed_comes_first_and_removals_come_last_in_reverse() -> None:
    vpc = Resource(
        key="ec2.Vpc/prod", type="ec2.Vpc", name="prod", cluster="prod", stage=Stage.NETWORK, lane="vpc/prod",
        spec={"cidr": "10.0.0.0/16"}, source=DOC,
    )  # fmt: skip
    net = replace(vpc, key="ec2.Subnet/prod/a", type="ec2.Subnet", name="a", spec={"vpc": Ref("ec2.Vpc/prod")})
    made = plan([net, vpc], [])
    assert made.actions == ()
    nothing = [Observed(key=r.key, type=r.type, name=r.name, presence=Presence.ABSENT) for r in (net, vpc)]
    assert verbs(plan([net, vpc], nothing)) == ["create prod", "create a"]
    there = [seen(vpc), seen(net)]
    gone = plan([], there, [net, vpc])
    assert verbs(gone) == ["delete a", "delete prod"]
    assert gone.actions[1].needs == ("ec2.Subnet/prod/a",)


def test_a_child_goes_with_its_parent() -> None:
    cluster = Resource(
        key="hyperpod.Cluster/prod", type="hyperpod.Cluster", name="prod", cluster="prod", stage=Stage.COMPUTE,
        lane="hyperpod/prod", source=DOC,
    )  # fmt: skip
    made = plan([], [seen(cluster), seen(group())], [cluster, group()])
    assert [a.key for a in made.actions] == ["hyperpod.Cluster/prod"]
    assert made.actions[0].needs == (), "a parent must not wait for its children"


# Laws ----------------------------------------------------------------------------------------------------------------

SPOT: dict[str, Any] = {"spot": {}}
ON_DEMAND: dict[str, Any] = {"onDemand": {}}
SPECS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"instanceType": st.sampled_from(["ml.g5.8xlarge", "ml.m5.2xlarge"]), "count": st.integers(0, 8)},
    optional={
        "labels": st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3),
        "taints": st.lists(st.fixed_dictionaries({"key": st.sampled_from("kl")}), max_size=2),
        "minCount": st.integers(0, 3),
        "capacity": st.sampled_from([SPOT, ON_DEMAND]),
        "volume": st.fixed_dictionaries({"sizeGiB": st.integers(1, 900)}),
        "deepHealthChecks": st.lists(st.sampled_from(["A", "B", "C"]), unique=True),
    },
)
FLEETS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["g1", "g2", "g3", "g4"]), SPECS, max_size=4
)


def apply(made: Plan, desired: dict[str, Resource], observed: dict[str, Observed]) -> dict[str, Observed]:
    """A world that does exactly what the plan says, and nothing else."""
    after = dict(observed)
    for action in made.actions:
        if action.verb is Verb.DELETE:
            after[action.key] = replace(after[action.key], presence=Presence.ABSENT, spec={})
        elif action.verb is Verb.CREATE:
            after[action.key] = seen(desired[action.key], spec=resolve(action.want, after))
        else:
            spec = jsonpatch.apply_patch(after[action.key].spec, list(action.patch))
            after[action.key] = replace(after[action.key], spec=spec)
    return after


@given(FLEETS, FLEETS, FLEETS)
def test_apply_the_plan_and_the_next_plan_is_empty(
    wanted: dict[str, Any], before: dict[str, Any], live: dict[str, Any]
) -> None:
    desired = {f"hyperpod.InstanceGroup/prod/{n}": replace(group(n), spec=s) for n, s in wanted.items()}
    previous = {f"hyperpod.InstanceGroup/prod/{n}": replace(group(n), spec=s) for n, s in before.items()}
    there = {f"hyperpod.InstanceGroup/prod/{n}": seen(replace(group(n), spec=s)) for n, s in live.items()}
    for key, resource in {**previous, **desired}.items():
        there.setdefault(key, absent(resource.name))
    given_ = PlanInput(cluster="prod", revision=None, desired=desired, previous=previous, observed=there)
    first = make(given_)
    after = apply(first, desired, there)
    second = make(replace(given_, observed=after))
    assert second.actions == ()
    assert {r.key for r in second.refusals} == {r.key for r in first.refusals}


@given(FLEETS, FLEETS, st.randoms(use_true_random=False))
def test_the_order_of_documents_and_of_the_answer_does_not_matter(
    wanted: dict[str, Any], live: dict[str, Any], mix: random.Random
) -> None:
    desired = [replace(group(n), spec=s) for n, s in wanted.items()]
    there = [seen(replace(group(n), spec=s)) for n, s in live.items()]
    straight = plan(desired, there)
    mix.shuffle(desired)
    mix.shuffle(there)
    assert plan(desired, there) == straight


@given(SPECS, SPECS)
def test_a_patch_turns_what_was_seen_into_what_was_wanted(live: dict[str, Any], wanted: dict[str, Any]) -> None:
    fixed: dict[str, Any] = {"instanceType": "ml.g5.8xlarge", "capacity": SPOT}
    desired = replace(group(), spec={**wanted, **fixed})
    made = plan([desired], [seen(replace(group(), spec={**live, **fixed}))])
    for action in made.actions:
        assert action.cost is Cost.IN_PLACE
        done = jsonpatch.apply_patch({**live, **fixed}, list(action.patch))
        for name in action.fields:
            assert done.get(name) == desired.spec[name]


def addon(**values: Any) -> Resource:
    return replace(
        group(), key="eks.Addon/prod/dns", type="eks.Addon", name="dns", spec={"values": values} if values else {}
    )


@pytest.mark.parametrize(
    ("now", "before", "live", "left", "reason"),
    [
        ({"a": 1}, {"a": 1}, {"a": 1, "hand": 2}, None, "what others wrote beside us is no difference"),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, "what we no longer write goes"),
        ({}, {"a": 1}, {"a": 1}, {}, "all of it"),
        ({}, {"a": 1}, {"a": 1, "hand": 2}, {"hand": 2}, "and nothing but it"),
        ({"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 2, "h": 3}}, {"a": {"x": 1, "h": 3}}, "below"),
        ({}, {"a": {"x": 1}}, {"a": {"x": 1, "hand": 3}}, {"a": {"hand": 3}}, "in a block of ours"),
        ({"a": 3}, {"a": 1}, {"a": 2, "hand": 2}, {"a": 3, "hand": 2}, "a change keeps what is beside it"),
    ],
)  # fmt: skip
def test_of_a_shared_field_only_our_own_entries_go(
    now: dict[str, Any], before: dict[str, Any], live: dict[str, Any], left: dict[str, Any] | None, reason: str
) -> None:
    """B09: the patch leads to what we write with theirs beside it, and names no removal of theirs."""
    observed = seen(addon(), spec={"values": live})
    made = plan([addon(**now)], [observed], [addon(**before)])
    patched = jsonpatch.apply_patch(observed.spec, [dict(s) for a in made.actions for s in a.patch])
    assert patched == {"values": live if left is None else left}, reason
    assert made.empty == (left is None)


def test_an_audience_that_git_no_longer_writes_goes_and_those_of_others_stay() -> None:
    def provider(*audiences: str) -> Resource:
        kind = "iam.OpenIDConnectProvider"
        return replace(group(), key=f"{kind}/prod", type=kind, spec={"audiences": list(audiences)})

    (action,) = plan([provider("a")], [seen(provider("b", "theirs", "a"))], [provider("a", "b")]).actions
    assert action.patch == ({"op": "replace", "path": "/audiences", "value": ["theirs", "a"]},)
    assert plan([provider("a")], [seen(provider("theirs", "a"))], [provider("a", "b")]).empty


def test_what_eks_changes_one_at_a_time_is_one_action_each_in_order() -> None:
    """E12: each with its own cost, so that an approval of one covers it whatever becomes of the others."""
    wanted = {"version": "1.33", "logging": ["api"], "endpoint": {"public": False}, "tags": {"a": "b"}}
    eks = replace(group(), key="eks.Cluster/prod", type="eks.Cluster", spec=wanted)
    live: dict[str, Any] = {"version": "1.31", "logging": [], "endpoint": {"public": True, "private": True}, "tags": {}}
    made = plan([eks], [seen(eks, spec=live)], [eks])
    assert [(a.fields, a.cost) for a in made.actions] == [
        (("tags",), Cost.IN_PLACE),
        (("endpoint",), Cost.IN_PLACE),
        (("logging",), Cost.IN_PLACE),
        (("version",), Cost.ROLLING),
    ]
    later = plan([eks], [seen(eks, spec={**wanted, "version": "1.32"})], [eks])
    assert [a.digest for a in later.actions] == [made.actions[-1].digest], "half way up it is the same action"


def test_what_was_built_on_something_and_stays_holds_it_only_until_it_has_let_go() -> None:
    """A subnet goes although its route table stays: once the table no longer names it."""
    subnet = replace(group(), key="ec2.Subnet/prod/b", type="ec2.Subnet", name="b", spec={})

    def table(*subnets: Any) -> Resource:
        return replace(
            group(), key="ec2.RouteTable/prod/a", type="ec2.RouteTable", spec={"subnets": list(subnets)}, after=()
        )

    before, after = table(Ref(subnet.key)), table()
    made = plan([after], [seen(subnet), seen(before, spec={"subnets": ["id-b"]})], [subnet, before])
    assert [(a.verb.value, a.type, a.needs) for a in made.actions] == [
        ("update", "ec2.RouteTable", ()),
        ("delete", "ec2.Subnet", ("ec2.RouteTable/prod/a",)),
    ]
    done = plan([after], [seen(subnet), seen(after)], [subnet, before])
    assert [(a.verb.value, a.needs) for a in done.actions] == [("delete", ())]
    blind = plan([after], [seen(subnet), seen(after, presence=Presence.UNKNOWN)], [subnet, before])
    assert blind.actions[0].needs == ("ec2.RouteTable/prod/a",), "what cannot be seen may hold it still"
