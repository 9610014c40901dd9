"""What was approved passes, and nothing else: however it gets onto the branch, the engine asks one gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schemas.journal import Condition
from tests.changes.changebox import REVIEWER, SECOND, ChangeBox, drop, person, scale
from tests.config_repo.gitbox import run
from tests.engine.fakes import Rig, group_yaml

SPARE = "hyperpod.InstanceGroup/prod/spare"
WORKERS = "hyperpod.InstanceGroup/prod/workers"
ONLY_WORKERS = group_yaml("workers", 2)
ONLY_CLUSTER = "# no groups any more\n"


def by_merge(box: ChangeBox, change: str) -> None:
    box.merge(change)


def by_squash(box: ChangeBox, change: str) -> None:
    """One commit with the change's tree and none of its history, with trailers that claim everything."""
    head = box.changes.state(change).change.head
    told = f"Squashed\n\nChange-Id: {change}\nApproved-by: {REVIEWER}\nApproved-by: {SECOND}"
    tree = run(box.rig.path, "rev-parse", f"{head}^{{tree}}").decode().strip()
    commit = run(box.rig.path, "commit-tree", tree, "-p", box.main(), "-m", told).decode().strip()
    run(box.rig.path, "update-ref", "refs/heads/main", commit)


def by_push(box: ChangeBox, change: str) -> None:
    """A person's own commit of the same files."""
    head = box.changes.state(change).change.head
    box.rig.commit({"groups": box.text("clusters/prod/groups.yaml", head)})


WAYS = [by_merge, by_squash, by_push]


@pytest.mark.parametrize("way", WAYS)
def test_what_was_approved_passes_however_it_comes(box: ChangeBox, way: Callable[[ChangeBox, str], None]) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    way(box, opened.id)
    assert box.rig.settle().condition is Condition.READY
    assert box.rig.cloud.seen(SPARE) is None
    intents = [x for x in box.rig.lines() if x.get("phase") == "intent" and x["key"] == SPARE]
    (intent,) = [x for x in intents if x["verb"] == "delete"]
    assert intent["approved"] == [f"{REVIEWER} (change {opened.id} line 2)"], "the journal says who let it pass"


@pytest.mark.parametrize("way", [by_squash, by_push])
def test_what_nobody_approved_is_held_however_it_comes(box: ChangeBox, way: Callable[[ChangeBox, str], None]) -> None:
    opened = box.open(drop("spare"))
    way(box, opened.id)
    status = box.rig.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "NeedsApproval")
    assert box.rig.cloud.seen(SPARE) is not None


@pytest.mark.parametrize("way", [by_squash, by_push])
def test_a_new_destructive_action_behind_an_approved_one_is_held(
    box: ChangeBox, way: Callable[[ChangeBox, str], None]
) -> None:
    """The approval names what was seen. What comes on top later is not in it."""
    opened = box.open(drop("spare"))
    box.review(opened.id)
    way(box, opened.id)
    box.rig.commit({"groups": ONLY_CLUSTER})
    status = box.rig.settle()
    assert (status.condition, status.reason) == (Condition.STALLED, "NeedsApproval")
    held = {hold.key for hold in status.holds.values() if hold.state == "held"}
    assert held == {WORKERS, "ec2.Subnet/prod/compute-usw2-az2"}
    assert box.rig.cloud.seen(SPARE) is None, "what was approved is done"
    assert box.rig.cloud.seen(WORKERS) is not None


def test_and_a_merge_that_would_bring_one_is_refused(box: ChangeBox) -> None:
    """Approved first, edited then: the merge is held as well."""
    opened = box.open(drop("spare"))
    box.review(opened.id)
    box.edit(opened.id, drop("workers"))
    with pytest.raises(Exception, match="needs an approval"):
        box.merge(opened.id)


def test_another_thing_of_the_same_name_is_another_action(box: ChangeBox) -> None:
    """Between approval and merge the group was deleted and made again by hand: it may hold somebody's work now."""
    opened = box.open(drop("spare"))
    box.review(opened.id)
    by_push(box, opened.id)
    seen = box.rig.cloud.seen(SPARE)
    assert seen is not None
    seen.id = "instancegroup-99"
    status = box.rig.settle()
    assert status.reason == "NeedsApproval"


def test_an_approval_that_expired_before_the_commit_came(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    box.rig.clock.advance(7 * 86400 + 1)
    by_push(box, opened.id)
    assert box.rig.settle().reason == "NeedsApproval"


def test_a_closed_change_lets_nothing_pass(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    box.changes.close(person(), opened.id, "no", head=None)
    box.rig.commit({"groups": ONLY_WORKERS})
    assert box.rig.settle().reason == "NeedsApproval"


def test_a_word_that_comes_later_wakes_the_engine(box: ChangeBox) -> None:
    """The clusters that an approval names are due at once."""
    opened = box.open(drop("spare"))
    by_push(box, opened.id)
    box.rig.settle()
    waiting = box.open(scale(3))
    assert waiting.state == "open"
    box.rig.order("approve", SPARE)
    box.rig.settle()
    assert box.rig.cloud.seen(SPARE) is None


def test_another_process_with_another_key_holds_what_we_approved(box: ChangeBox) -> None:
    """The gate trusts its own control plane's key alone."""
    opened = box.open(drop("spare"))
    box.review(opened.id)
    by_push(box, opened.id)
    other = Rig.beside(box.rig)
    try:
        assert other.settle().reason == "NeedsApproval"
    finally:
        other.close()


# Orders --------------------------------------------------------------------------------------------------------------


def test_a_word_by_order_expires_too(box: ChangeBox) -> None:
    box.rig.cloud.faults += [("hyperpod.InstanceGroup delete", "failed")] * 3
    box.rig.commit({"groups": ONLY_WORKERS})
    box.rig.settle()
    box.rig.order("approve", SPARE)
    box.rig.tick()
    (line,) = [x for x in box.rig.lines() if x["t"] == "order"]
    assert line["until"].startswith("2026-03-08")
    (intent,) = [x for x in box.rig.lines() if x.get("phase") == "intent" and x["verb"] == "delete"]
    assert intent["approved"] == [f"engineer@example.com (order {line['id']})"]


def test_an_expired_order_holds_what_was_not_done(box: ChangeBox) -> None:
    box.rig.commit({"cluster": _suspended(box), "groups": ONLY_WORKERS})
    box.rig.settle()
    digest = next(a.digest for a in _plan(box).actions if a.key == SPARE)
    box.rig.order("approve", digest)
    box.rig.settle()
    box.rig.clock.advance(8 * 86400)
    box.rig.commit({"cluster": (_suspended(box)).replace("suspend: true", "suspend: false")})
    assert box.rig.settle().reason == "NeedsApproval"
    assert box.rig.cloud.seen(SPARE) is not None


def _suspended(box: ChangeBox) -> str:
    text = box.text("clusters/prod/cluster.yaml")
    assert text is not None
    return text.replace("  suspend: true\n", "") + "  suspend: true\n"


def _plan(box: ChangeBox) -> Any:
    plan = box.rig.engine.observe("prod").plan
    assert plan is not None
    return plan
