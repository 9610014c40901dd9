"""Laws over whole folders at random: what was done leaves nothing to do, the same in other words is no change, and it
does not matter which way a folder has come."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.laws.paper import Paper, desired, differing, meaning
from tests.laws.random_folders import Folder, folders, in_other_words, plainly

LAW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),  # a folder is large: a failure is told as it was met
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def live(paper: Paper) -> dict[str, Any]:
    """What is live, but for versions that only the cloud chooses (B07: removing one changes nothing), and for who may
    come to an endpoint that is not there."""
    found = meaning(paper)
    for key, spec in found.items():
        if key.startswith("eks.Addon/"):
            spec.pop("version", None)
        elif key.startswith("eks.Cluster/") and not spec["endpoint"].get("public", True):
            spec["endpoint"].pop("publicCidrs", None)
    return found


@LAW
@given(folder=folders(), seed=st.integers(0, 1000))
def test_what_was_done_leaves_nothing_to_do_however_it_is_written(folder: Folder, seed: int) -> None:
    paper, wanted = Paper(), desired(plainly(folder))
    assert paper.converge(wanted).empty
    other = desired(in_other_words(folder, seed))
    assert paper.plan(other, wanted).empty
    paper = Paper()
    assert paper.converge(other).empty
    assert paper.plan(wanted, other).empty


@LAW
@given(data=st.data())
def test_a_folder_is_the_same_whichever_way_it_came(data: st.DataObject) -> None:
    """From nothing, from another folder, or from another one that never got Ready."""
    first: Folder = data.draw(folders())
    second: Folder = data.draw(folders(first))
    between: list[Folder] = data.draw(st.lists(folders(first), max_size=1))
    one, two = desired(plainly(first)), desired(plainly(second))
    passed = [desired(plainly(each)) for each in between]
    fresh, paper = Paper(), Paper()
    assert fresh.converge(two).empty
    assert paper.converge(one).empty
    before = live(paper)
    for each in passed:
        plan = paper.plan(each, one)
        paper.apply(plan, each)  # as far as one tick comes
    left = paper.converge(two, one, *passed)
    if not left.refusals:
        assert not list(differing(live(paper), live(fresh)))
        return
    assert all(refusal.way_out for refusal in left.refusals)
    back = paper.converge(one, one, *passed, two)
    if not back.refusals:
        assert not list(differing(live(paper), before)), "taking it back heals"
