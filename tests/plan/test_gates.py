"""What may go alone, what waits, and for what."""

# ruff: noqa: E501 - one case a line
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reconciler.plan.gates import Fleet, GateInput, Limits, decide, fleet_of
from reconciler.plan.needed import Rule
from schemas.plan import Action, Cost, Plan, Verb
from schemas.principals import normal
from schemas.resource import Mark, Observed, Presence, Source, Stage


def action(verb: Verb = Verb.UPDATE, name: str = "gpu", **more: Any) -> Action:
    fields: dict[str, Any] = {
        "verb": verb,
        "key": f"hyperpod.InstanceGroup/prod/{name}",
        "type": "hyperpod.InstanceGroup",
        "name": name,
        "stage": Stage.COMPUTE,
        "lane": "hyperpod/prod",
        "cost": {Verb.DELETE: Cost.DELETE, Verb.CREATE: Cost.NONE}.get(verb, Cost.IN_PLACE),
        "source": Source("InstanceGroup", name),
        **more,
    }
    return Action(**fields)


def there(name: str = "gpu", count: int = 4, pods: tuple[str, ...] = ()) -> Observed:
    return Observed(
        key=f"hyperpod.InstanceGroup/prod/{name}",
        type="hyperpod.InstanceGroup",
        name=name,
        presence=Presence.PRESENT,
        mark=Mark.OURS,
        spec={"count": count},
        detail={"pods": list(pods)},
    )


def given(*actions: Action, observed: tuple[Observed, ...] = (), **more: Any) -> GateInput:
    plan = Plan(cluster="prod", revision=None, actions=actions)
    limits = more.pop("limits", Limits(approval_for=frozenset({Cost.REPLACE})))
    return GateInput(plan=plan, observed={o.key: o for o in observed}, limits=limits, **more)


def by(acted: Action, *who: str) -> dict[str, frozenset[str]]:
    """Approved by these people."""
    return {acted.digest: frozenset(who or ("sre@example.com",))}


SCALE_UP = action(fields=("count",), want={"count": 6})
SCALE_DOWN = action(fields=("count",), want={"count": 2})
DELETE = action(Verb.DELETE)
UNMARKED = action(Verb.RELEASE, cost=Cost.NONE, because="unmarked")


@pytest.mark.parametrize(
    ("acts", "more", "held", "reason"),
    [
        (SCALE_UP, {}, None, "an in-place change passes alone"),
        (SCALE_UP, {"suspended": True}, "Suspended", "suspend holds everything"),
        (SCALE_UP, {"suspended": True, "approved": by(SCALE_UP)}, "Suspended", "an approval does not wake"),
        (UNMARKED, {"folder_gone": True, "unprotected": True}, "MarkTakenOff", "a teardown tells what it would leave"),
        (UNMARKED, {"approved": by(UNMARKED), "ordered": frozenset({UNMARKED.digest})}, None, "a person lets go of it"),
        (UNMARKED, {"approved": by(UNMARKED)}, "MarkTakenOff", "a review of files is no such word"),
        (DELETE, {"limits": Limits()}, "NeedsApproval", "deletes ask by default"),
        (DELETE, {"limits": Limits(), "approved": by(DELETE)}, None, "approved by digest"),
        (DELETE, {"limits": Limits(), "approved": {"0" * 64: frozenset({"sre@example.com"})}}, "NeedsApproval", "another digest is not this one"),
        (DELETE, {"folder_gone": True}, "DeletionProtected", "B11: a vanished folder deletes nothing"),
        (DELETE, {"folder_gone": True, "approved": by(DELETE)}, "DeletionProtected", "nor does a review of a change"),
        (DELETE, {"folder_gone": True, "approved": by(DELETE), "ordered": frozenset({DELETE.digest})}, None, "an order does"),
        (DELETE, {"folder_gone": True, "unprotected": True, "limits": Limits()}, None, "two commits took it down"),
        (DELETE, {"journal_doubt": "the journal was lost"}, "JournalIncomplete", "a lost journal deletes nothing"),
        (SCALE_UP, {"journal_doubt": "the journal was lost"}, None, "a lost journal may still look and mend"),
        (action(Verb.RUN), {"journal_doubt": "x"}, "JournalIncomplete", "and runs no operation"),
        (SCALE_DOWN, {"observed": (there(pods=("default/train-0",)),)}, "RunningPods", "work is not killed without a word"),
        (SCALE_UP, {"observed": (there(pods=("default/train-0",)),)}, None, "growing kills nothing"),
        (SCALE_DOWN, {"observed": (there(),)}, None, "idle nodes may go"),
        (
            action(fields=("count",), want={"count": 4}, because="drift", patch=({"op": "replace", "path": "/count", "value": 4},)),
            {"hold_count_drift": True},
            "CountDrift",
            "the policy holds a count that others moved",
        ),
        (SCALE_DOWN, {"fleet": Fleet(nodes=99), "observed": (there(),)}, "BlastRadius", "too many nodes over the fleet"),
        (SCALE_UP, {"fleet": Fleet(nodes=99), "observed": (there(),)}, None, "adding nodes takes none away"),
        (DELETE, {"fleet": Fleet(deletes=999), "observed": (there(), there("b"), there("c"))}, "BlastRadius", "too many deletes"),
    ],
)  # fmt: skip
def test_gate(acts: Action, more: dict[str, Any], held: str | None, reason: str) -> None:
    found = decide(acts, given(acts, **more))
    assert (found.reason if found else None) == held, reason
    assert found is None or found.way


def test_the_prune_guard_counts_identities_not_numbers() -> None:
    """B12: renaming every group deletes every group, however many are added."""
    deletes = tuple(action(Verb.DELETE, name) for name in "abc")
    creates = tuple(action(Verb.CREATE, f"new-{name}") for name in "abc")
    live = tuple(there(name) for name in "abcd")
    found = decide(deletes[0], given(*deletes, *creates, observed=live))
    assert found is not None
    assert found.reason == "PruneGuard"
    assert "3 of 4" in found.message
    assert decide(deletes[0], given(deletes[0], *creates, observed=live)) is None


def test_all_groups_are_everything_that_matters_however_many_other_resources_there_are() -> None:
    """B12: of the whole cluster it is a small share, of its groups it is all."""
    deletes = tuple(action(Verb.DELETE, name) for name in "ab")
    groups = tuple(there(name) for name in "ab")
    rest = tuple(replace(there(str(n)), key=f"ec2.Subnet/prod/{n}", type="ec2.Subnet", name=str(n)) for n in range(40))
    found = decide(deletes[0], given(*deletes, observed=(*groups, *rest)))
    assert found is not None
    assert "2 of 2 live hyperpod.InstanceGroup" in found.message
    assert decide(deletes[0], given(deletes[0], observed=(*groups, *rest))) is None


def test_b13_a_wanted_removal_has_a_clear_way() -> None:
    """B13: the last object may go when a person says so, by digest."""
    last = action(Verb.DELETE)
    asked = given(last, observed=(there(),))
    found = decide(last, asked)
    assert found is not None
    assert "approve" in found.way
    assert decide(last, replace(asked, approved=by(last))) is None


def test_fleet_sums_over_clusters() -> None:
    plans = {
        "a": Plan(cluster="a", revision=None, actions=(SCALE_DOWN,)),
        "b": Plan(cluster="b", revision=None, actions=(DELETE, action(Verb.RUN))),
        "c": Plan(cluster="c", revision=None),
    }
    seen = {name: {there().key: there()} for name in plans}
    assert fleet_of(plans, seen) == Fleet(clusters=2, deletes=1, nodes=2 + 4 + 1)
    assert fleet_of(plans, seen, frozenset({"a"})).clusters == 1, "a cluster that was never Ready changes nothing"


SRE = Rule(
    paths=("clusters/prod/**",),
    costs=frozenset({Cost.DELETE, Cost.IN_PLACE}),
    approvers=("*@sre.example.com",),
    count=2,
)
IN_PROD = Source("InstanceGroup", "gpu", "clusters/prod/groups.yaml", 1)
IN_DEV = Source("InstanceGroup", "gpu", "clusters/dev/groups.yaml", 1)


@pytest.mark.parametrize(
    ("acts", "approvers", "rules", "held", "reason"),
    [
        (action(source=IN_PROD), (), (SRE,), "needs 2 approvals by *@sre.example.com", "nobody yet"),
        (action(source=IN_PROD), ("a@sre.example.com",), (SRE,), "it has 1", "one of two"),
        (
            action(source=IN_PROD),
            ("a@sre.example.com", "A@SRE.example.com "),
            (SRE,),
            "it has 1",
            "one person is one, however spelled",
        ),
        (
            action(source=IN_PROD),
            ("a@sre.example.com", "b@example.com"),
            (SRE,),
            "it has 2",
            "the other does not count",
        ),
        (action(source=IN_PROD), ("a@sre.example.com", "b@sre.example.com"), (SRE,), None, "two that count"),
        (action(source=IN_DEV), (), (SRE,), None, "another path"),
        (action(source=IN_PROD, cost=Cost.ROLLING), (), (SRE,), None, "another cost"),
        (action(), (), (SRE,), "needs 2 approvals", "a file that nobody knows: a rule about its cluster counts"),
        (action(), (), (replace(SRE, paths=("clusters/dev/**",)),), None, "a rule about another cluster does not"),
        (
            action(),
            (),
            (replace(SRE, paths=("clusters/*/groups.yaml",)),),
            "needs 2 approvals",
            "nor is it known that it is not this",
        ),
        (
            action(source=IN_PROD),
            (),
            (replace(SRE, costs=frozenset()),),
            None,
            "a rule about files is asked before a merge, not here",
        ),
        (
            action(source=IN_PROD),
            ("a@x.example.com",),
            (Rule(costs=frozenset({Cost.IN_PLACE})),),
            None,
            "without names anybody counts",
        ),
        (
            DELETE,
            ("a@x.example.com",),
            (Rule(costs=frozenset({Cost.DELETE}), count=2),),
            "needs 2 approvals",
            "a rule takes the place of the one approval that its cost needs anyway",
        ),
    ],
)
def test_rules_by_path_and_cost(
    acts: Action, approvers: tuple[str, ...], rules: tuple[Rule, ...], held: str | None, reason: str
) -> None:
    people = {acts.digest: frozenset(normal(who) for who in approvers)}
    limits = Limits(approval_for=frozenset({Cost.REPLACE, Cost.DELETE}), rules=rules)
    found = decide(acts, given(acts, observed=(there(), there("b"), there("c")), limits=limits, approved=people))
    if held is None:
        assert found is None, reason
    else:
        assert found is not None, reason
        assert held in found.message, reason


def gpus(count: int, type_: str, jobs: tuple[str, ...] = ()) -> Observed:
    seen = there(count=count)
    return replace(seen, spec={"count": count, "instanceType": type_}, detail={"pods": [], "jobs": list(jobs)})


@pytest.mark.parametrize(
    ("seen", "found", "reason"),
    [
        (gpus(4, "ml.p5.48xlarge"), (2, 16, 0), "two nodes of eight"),
        (gpus(4, "ml.m5.2xlarge"), (2, 0, 0), "no GPUs"),
        (gpus(4, "ml.g6.99xlarge"), (2, 32, 0), "a size that nobody knows counts as the largest"),
        (
            gpus(4, "ml.p5.48xlarge", ("default/PyTorchJob/a", "default/PyTorchJob/b")),
            (2, 16, 2),
            "and whose jobs run there",
        ),
        (gpus(1, "ml.p5.48xlarge"), (0, 0, 0), "growing takes none"),
    ],
)
def test_what_a_smaller_group_touches(seen: Observed, found: tuple[int, int, int], reason: str) -> None:
    plan = Plan(cluster="prod", revision=None, actions=(SCALE_DOWN,))
    fleet = fleet_of({"prod": plan}, {"prod": {seen.key: seen}})
    assert (fleet.nodes, fleet.gpus, fleet.jobs) == found, reason


@pytest.mark.parametrize(
    ("limits", "held", "reason"),
    [
        ({"max_gpus": 15}, "16 GPUs removed (at most 15)", "too many"),
        ({"max_jobs": 1}, "2 running jobs touched (at most 1)", "too many"),
        ({"max_gpus": 16, "max_jobs": 2}, None, "just so many"),
    ],
)
def test_gpus_and_jobs_have_limits(limits: dict[str, Any], held: str | None, reason: str) -> None:
    seen = gpus(4, "ml.p5.48xlarge", ("default/PyTorchJob/a", "default/PyTorchJob/b"))
    plan = Plan(cluster="prod", revision=None, actions=(SCALE_DOWN,))
    fleet = fleet_of({"prod": plan}, {"prod": {seen.key: seen}})
    found = decide(SCALE_DOWN, given(SCALE_DOWN, observed=(seen,), fleet=fleet, limits=Limits(**limits)))
    assert (found.reason if found else None) == ("BlastRadius" if held else None), reason
    assert held is None or (found is not None and held in found.message)
