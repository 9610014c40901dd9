"""What several revisions wanted before one of them got Ready counts, whichever of them wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.plan.make import PlanInput, make
from reconciler.plan.previous import together
from schemas.plan import Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, Source, Stage

GROUP = "hyperpod.InstanceGroup/prod/a"


def revision(spec: Mapping[str, Any] | None) -> dict[str, Resource]:
    """One revision with one group of this spec, or with none."""
    if spec is None:
        return {}
    made = Resource(
        key=GROUP,
        type="hyperpod.InstanceGroup",
        name="a",
        cluster="prod",
        stage=Stage.COMPUTE,
        lane="hyperpod/prod",
        spec=dict(spec),
        source=Source("InstanceGroup", "a"),
    )
    return {GROUP: made}


def live(spec: Mapping[str, Any]) -> dict[str, Observed]:
    seen = Observed(
        key=GROUP,
        type="hyperpod.InstanceGroup",
        name="a",
        presence=Presence.PRESENT,
        spec=dict(spec),
        health=Health.HEALTHY,
        mark=Mark.CHILD,
    )
    return {GROUP: seen}


_SPECS = st.fixed_dictionaries(
    {"count": st.integers(0, 3)},
    optional={
        "minCount": st.just(1),
        "labels": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")),
        "taints": st.lists(st.sampled_from([{"key": "k", "effect": "NoSchedule"}]), max_size=1),
    },
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    ready=_SPECS,
    between=st.lists(_SPECS, max_size=3),
    now=_SPECS,
    reached=st.data(),
)
def test_whatever_came_true_on_the_way_ends_as_the_newest_revision_alone_would_have_it(
    ready: dict[str, Any], between: list[dict[str, Any]], now: dict[str, Any], reached: st.DataObject
) -> None:
    """Law: each field of what is live may be at any revision since the last Ready one. The plan leads to what the
    newest writes, and nothing is left of what the others wrote."""
    specs = [ready, *between]
    fields = {name for spec in (*specs, now) for name in spec}
    seen: dict[str, Any] = {}
    for name in sorted(fields):
        at = reached.draw(st.sampled_from(specs))
        if name in at:
            seen[name] = at[name]
    before = together([revision(spec) for spec in specs], ready=True)
    made = make(
        PlanInput(
            cluster="prod",
            revision=None,
            desired=revision(now),
            previous=before.resources,
            moved=before.moved,
            observed=live(seen),
            hold_count_drift=True,
        )
    )
    after = dict(seen)
    for action in made.actions:
        assert action.verb is Verb.UPDATE
        after.update({name: action.want.get(name) for name in action.fields})
    assert {name: value for name, value in after.items() if value} == {n: v for n, v in now.items() if v}
    counts = {spec["count"] for spec in specs}
    drift = [a for a in made.actions if a.fields == ("count",) and a.because == "drift"]
    assert not drift or counts == {now["count"]}, "a count that git changed on the way is no drift"


def test_a_count_that_an_unfinished_revision_changed_is_still_gits_wish() -> None:
    """Two commits in a row, the first of which had no time: the second repeats its count and changes a label."""
    a, b = revision({"count": 2}), revision({"count": 4})
    before = together([a, b], ready=True)
    wanted = revision({"count": 4, "labels": {"team": "a"}})
    given = PlanInput(
        cluster="prod",
        revision=None,
        desired=wanted,
        previous=before.resources,
        moved=before.moved,
        observed=live({"count": 2}),
        hold_count_drift=True,
    )
    (action,) = make(given).actions
    assert (action.fields, action.because) == (("count", "labels"), "git")


def test_a_group_that_an_unfinished_revision_added_is_wanted_anew() -> None:
    before = together([{}, revision({"count": 4})], ready=True)
    assert before.moved == {GROUP: frozenset({"count"})}
    assert together([revision({"count": 4})] * 3, ready=True).moved == {}
    assert together([{}, revision({"count": 4})], ready=False).moved == {}
