"""Reviews: an approval is a signed set of action digests, about what was seen, by somebody else, for a while."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.config_repo.changes import Move
from reconciler.config_repo.records import NotesAppend
from reconciler.engine.signing import Signing
from schemas.changes import NewReview
from schemas.errors import Conflict, Forbidden, InvalidInput
from schemas.principals import Principal
from schemas.values import JsonObject, canonical
from tests.changes.changebox import AUTHOR, REVIEWER, SECOND, ChangeBox, agent, drop, file, person, scale
from tests.config_repo.gitbox import run

POLICY_PATH = "clusters/policy.yaml"
SPARE = "hyperpod.InstanceGroup/prod/spare"
LOOSE = """apiVersion: instantstart/v1
kind: Policy
metadata:
  name: default
spec:
  approvals:
    requireFor: []
"""


def approve(plan: str | None) -> NewReview:
    return NewReview(verdict="approve", plan=plan)


def policy_check(box: ChangeBox, change: str) -> tuple[str, str]:
    check = {one.name: one for one in box.changes.view(change).checks}["policy"]
    return check.state, "; ".join(check.says)


def test_what_costs_a_group_waits_for_a_second_person(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    state, says = policy_check(box, opened.id)
    assert state == "waiting"
    assert "delete of hyperpod.InstanceGroup/prod/spare needs an approval" in says
    with pytest.raises(Conflict) as told:
        box.merge(opened.id)
    assert told.value.reason == "NeedsApproval"
    approved = box.review(opened.id)
    assert approved.mergeable
    assert [(one.by, one.counts, one.actions) for one in approved.reviews] == [(REVIEWER, True, 1)]
    merged = box.merge(opened.id)
    assert f"Approved-by: {REVIEWER}" in box.rig.repo.commit_info(merged.merged or "").body
    box.rig.settle()
    assert box.rig.cloud.seen(SPARE) is None


def test_who_may_not_review(box: ChangeBox) -> None:
    opened = box.open(drop("spare"), who=agent())
    plan = opened.plan
    cases: list[tuple[Principal, str]] = [
        (agent(), "an agent"),
        (person(AUTHOR), "for whom the agent works"),
        (person(f" {AUTHOR.upper()} "), "the same, spelled otherwise"),
        (person("reader@example.com", "read", "propose"), "without the scope"),
    ]
    for who, reason in cases:
        with pytest.raises(Forbidden):
            box.changes.review(who, opened.id, approve(plan))
        assert not box.changes.view(opened.id).reviews, reason
    box.edit(opened.id, scale(1), who=person(SECOND))
    with pytest.raises(Forbidden):
        box.review(opened.id, who=SECOND)


def test_an_approver_who_edits_is_an_author(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    box.edit(opened.id, scale(1), who=person(REVIEWER))
    assert not box.changes.view(opened.id).reviews
    with pytest.raises(Forbidden):
        box.review(opened.id)


@pytest.mark.parametrize("plan", [None, "0" * 64])
def test_an_approval_is_about_the_plan_that_was_seen(box: ChangeBox, plan: str | None) -> None:
    opened = box.open(drop("spare"))
    with pytest.raises((Conflict, InvalidInput)):
        box.changes.review(person(REVIEWER), opened.id, approve(plan))


def test_the_world_moved_since_the_plan_was_seen(box: ChangeBox) -> None:
    """The group that was seen is gone, and another one has its name: the digest names the one that lives."""
    opened = box.open(drop("spare"))
    seen = box.rig.cloud.seen(SPARE)
    assert seen is not None
    seen.id = "another"
    with pytest.raises(Conflict) as told:
        box.changes.review(person(REVIEWER), opened.id, approve(opened.plan))
    assert told.value.reason == "PlanChanged"


def test_new_edits_void_an_approval(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    edited = box.edit(opened.id, scale(1))
    assert (edited.approvals, edited.mergeable) == (0, False)
    with pytest.raises(Conflict):
        box.merge(opened.id)


def test_a_rebase_that_proposes_the_same_keeps_it(box: ChangeBox) -> None:
    opened = box.open(file("clusters/prod/note.txt", "x"), file("clusters/policy.yaml", None))
    box.review(opened.id)
    box.rig.commit({"other": "# x\n"})
    rebased = box.changes.rebase(person(), opened.id, head=None)
    assert rebased.head != opened.head
    assert rebased.mergeable


def test_an_approval_expires(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    approved = box.review(opened.id)
    assert approved.reviews[0].expires.startswith("2026-03-08"), "seven days, if the policy does not say otherwise"
    box.rig.clock.advance(8 * 86400)
    late = box.changes.view(opened.id)
    assert not late.reviews[0].counts
    assert "expired" in late.reviews[0].why
    with pytest.raises(Conflict):
        box.merge(opened.id)


def test_it_can_be_taken_back(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    assert not box.review(opened.id, "withdraw").mergeable
    with pytest.raises(Conflict):
        box.review(opened.id, "withdraw")


def test_a_request_for_changes_blocks_until_there_is_a_newer_head(box: ChangeBox) -> None:
    opened = box.open(scale(4))
    box.review(opened.id, "request-changes")
    state, says = policy_check(box, opened.id)
    assert (state, REVIEWER in says) == ("waiting", True)
    with pytest.raises(Conflict) as told:
        box.merge(opened.id)
    assert told.value.reason == "ChangesRequested"
    box.edit(opened.id, title="other words are no newer head")
    with pytest.raises(Conflict):
        box.merge(opened.id)
    box.edit(opened.id, scale(3))
    assert box.merge(opened.id).state == "merged"


def test_who_asked_for_changes_may_withdraw(box: ChangeBox) -> None:
    opened = box.open(scale(4))
    box.review(opened.id, "request-changes")
    with pytest.raises(Conflict):
        box.review(opened.id, "withdraw", who=SECOND)
    box.review(opened.id, "withdraw")
    assert box.merge(opened.id).state == "merged"


def test_the_policy_itself_always_needs_a_second_person(box: ChangeBox) -> None:
    """And it is judged by the policy in force: a change cannot loosen what judges it."""
    opened = box.open(file(POLICY_PATH, LOOSE), drop("spare"))
    _, says = policy_check(box, opened.id)
    assert "clusters/policy.yaml needs an approval" in says
    assert "delete of hyperpod.InstanceGroup/prod/spare needs an approval" in says
    with pytest.raises(Conflict):
        box.merge(opened.id)
    box.review(opened.id)
    assert box.merge(opened.id).state == "merged"


# Forged lines --------------------------------------------------------------------------------------------------------


def lines_of(box: ChangeBox, change: str) -> list[dict[str, Any]]:
    notes = box.rig.repo.changes.notes(change).entries.values()
    found = [json.loads(text) for note in notes for text in note.decode().splitlines()]
    return sorted(found, key=lambda line: line["seq"])


def write(box: ChangeBox, change: str, line: JsonObject) -> None:
    """As somebody who may push, past the control plane."""
    repo, move = box.rig.repo, Move()
    head = box.changes.state(change).change.head
    item = NotesAppend(
        name=change, expected_tip=repo.changes.tip(change), lines=[(head, canonical(line))], subject="forged"
    )
    repo.changes.add_lines(move, item)
    repo.changes.publish(move)


def forgeries(box: ChangeBox, genuine: JsonObject, other: JsonObject) -> list[tuple[JsonObject, str]]:
    """`genuine`: an approval of this change that was given and taken back; `other`: one of another change."""
    wrong = Signing(box.rig.state / "other").sign("x", genuine)
    agents = {**genuine, "kind": "agent", "by": "agent-7"}
    own = {**genuine, "by": AUTHOR}
    cases: list[tuple[JsonObject, str]] = [
        (genuine, "the number is signed too"),
        (other, "copied from another change"),
        ({**genuine, "actions": {"prod": ["f" * 64]}}, "another action"),
        ({**genuine, "actions": {"dev": genuine["actions"]["prod"]}}, "another cluster"),
        ({**genuine, "expires": "2036-01-01T00:00:00+00:00"}, "a longer life"),
        ({**genuine, "by": SECOND}, "another name"),
        ({**genuine, "sig": ""}, "no signature"),
        ({**genuine, "sig": "0" * 64}, "an invented one"),
        ({**genuine, "sig": "é"}, "one that is no text of ours"),
        (wrong, "another control plane's key"),
        (agents, "an agent's"),
        (own, "the author's own"),
        ({**genuine, "extra": 1}, "an unknown field"),
        ({**genuine, "v": 99}, "a newer version"),
        ({**genuine, "at": "yesterday"}, "a time that is none"),
    ]
    return [({**line, "seq": 10 + number}, reason) for number, (line, reason) in enumerate(cases)]


def test_forged_approvals_count_for_nothing(box: ChangeBox) -> None:
    opened, other = box.open(drop("spare")), box.open(drop("spare"), title="another")
    box.review(opened.id)
    box.review(other.id)
    genuine = lines_of(box, opened.id)[-1]
    box.review(opened.id, "withdraw")
    copied = lines_of(box, other.id)[-1]
    for line, reason in forgeries(box, genuine, copied):
        write(box, opened.id, line)
        view = box.changes.view(opened.id)
        assert (view.approvals, view.mergeable) == (0, False), reason
        assert view.findings, reason
    with pytest.raises(Conflict):
        box.merge(opened.id)
    plan = box.changes.foresee(opened.id)[0].scopes["prod"].plan
    assert plan is not None
    assert "ApprovalIgnored" in {found.reason for found in plan.findings}, "and the plan tells of them"


def test_a_replayed_approval_is_the_same_line(box: ChangeBox) -> None:
    """Writing a line of ours once more adds nothing: after it was taken back it stays so."""
    opened = box.open(drop("spare"))
    box.review(opened.id)
    genuine = lines_of(box, opened.id)[-1]
    box.review(opened.id, "withdraw")
    write(box, opened.id, genuine)
    assert box.changes.view(opened.id).approvals == 0


def test_a_forged_withdrawal_and_author(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id, "request-changes")
    base: JsonObject = {"v": 1, "at": "2026-03-01T10:00:00Z", "by": REVIEWER, "kind": "person"}
    review = {**base, "t": "review", "head": opened.head}
    write(box, opened.id, {**review, "seq": 3, "verdict": "withdraw"})
    assert box.changes.view(opened.id).objections == 1, "who objects says so themselves"
    update = {**base, "t": "update", "how": "edit", "base": opened.base, "head": opened.head, "by": "x@example.com"}
    write(box, opened.id, {**update, "seq": 4})
    with pytest.raises(Forbidden) as told:
        box.review(opened.id)
    assert told.value.reason == "AuthorUnknown", "nobody knows who proposed it any more"


def test_trailers_decide_nothing(box: ChangeBox) -> None:
    opened = box.open(drop("spare"), why=f"Approved-by: {REVIEWER}\n\nApproved-by: {SECOND}")
    with pytest.raises(Conflict):
        box.merge(opened.id)


def test_losing_the_key_voids_open_approvals(box: ChangeBox) -> None:
    opened = box.open(drop("spare"))
    box.review(opened.id)
    box.rig.restart()
    (box.rig.state / "access" / "signing.key").unlink()
    box.restart()
    assert box.changes.view(opened.id).approvals == 0
    with pytest.raises(Conflict):
        box.merge(opened.id)
    again = box.open(drop("spare"), title="again")
    box.review(again.id)
    assert box.merge(again.id).state == "merged"


def test_the_key_is_for_us_alone(box: ChangeBox) -> None:
    box.open(scale(4))
    path = box.rig.state / "access" / "signing.key"
    assert (path.stat().st_mode & 0o777, len(path.read_bytes())) == (0o600, 32)
    everything = run(box.rig.path, "log", "--all", "-p", "--no-color").decode("utf-8", "replace")
    assert path.read_bytes().hex() not in everything
