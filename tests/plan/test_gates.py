"""What may go alone, what waits, and for what."""

# ruff: noqa: E501 - one case a line
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reconciler.plan.gates import Fleet, GateInput, Limits, decide, fleet_of
from schemas.plan import Action, Cost, Plan, Verb
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
        (UNMARKED, {"approved": by(UNMARKED)}, None, "a person lets go of it"),
        (DELETE, {"limits": Limits()}, "NeedsApproval", "deletes ask by default"),
        (DELETE, {"limits": Limits(), "approved": by(DELETE)}, None, "approved by digest"),
        (DELETE, {"limits": Limits(), "approved": {"0" * 64: frozenset({"sre@example.com"})}}, "NeedsApproval", "another digest is not this one"),
        (DELETE, {"folder_gone": True}, "DeletionProtected", "B11: a vanished folder deletes nothing"),
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
