"""What a policy wants before a merge: who, for which files, at which cost, and how far one change may reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemas.changes import NewReview
from schemas.errors import Conflict
from tests.changes.changebox import AUTHOR, REVIEWER, SECOND, ChangeBox, drop, file, make, person, scale
from tests.engine.fakes import cluster_yaml, group_yaml

HEAD = "apiVersion: instantstart/v1\nkind: Policy\nmetadata:\n  name: default\nspec:\n"
FILES = f"""  approvals:
    requireFor: []
    rules:
      - paths: [clusters/prod/**]
        approvers: [{REVIEWER}, "*@sre.example.com"]
      - paths: [clusters/prod/cluster.yaml]
        count: 2
"""
COSTS = """  approvals:
    rules:
      - costs: [delete]
        approvers: ["*@sre.example.com"]
        count: 2
    expireAfter: 1h
"""
SRE = ("one@sre.example.com", "two@sre.example.com")
Made = Callable[[str], ChangeBox]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """A cluster under the policy that is told, Ready."""
    boxes: list[ChangeBox] = []

    def make_one(policy: str) -> ChangeBox:
        boxes.append(make(tmp_path, HEAD + policy).settled())
        return boxes[-1]

    yield make_one
    for box in boxes:
        box.rig.close()


def missing(box: ChangeBox, change: str) -> str:
    check = {one.name: one for one in box.changes.view(change).checks}["policy"]
    return "" if check.state == "ok" else "; ".join(check.says)


def test_files_that_somebody_must_have_seen(made: Made) -> None:
    box = made(FILES)
    opened = box.open(scale(4))
    assert missing(box, opened.id) == f"clusters/prod/groups.yaml needs an approval by {REVIEWER} or *@sre.example.com"
    box.review(opened.id, who=SECOND)
    assert missing(box, opened.id), "whoever it was, it is not one of those"
    with pytest.raises(Conflict):
        box.merge(opened.id)
    box.review(opened.id, who=SRE[0])
    assert box.merge(opened.id).state == "merged"


def test_every_rule_that_fits_is_met(made: Made) -> None:
    box = made(FILES)
    text = box.text("clusters/prod/cluster.yaml")
    assert text is not None
    opened = box.open(file("clusters/prod/cluster.yaml", text + "# why this is so\n"))
    box.review(opened.id, who=REVIEWER)
    assert missing(box, opened.id) == "clusters/prod/cluster.yaml needs 2 approvals"
    box.review(opened.id, who=SECOND)
    assert missing(box, opened.id) == ""


def test_other_folders_are_other_peoples(made: Made) -> None:
    box = made(FILES)
    document = {"apiVersion": "instantstart/v1", "kind": "Cluster", "metadata": {"name": "dev"}, "spec": {}}
    document["spec"] = {"account": "111122223333", "region": "us-west-2", "kubernetesVersion": "1.33"}
    opened = box.open({"edit": "put", "cluster": "dev", "document": document})
    assert box.merge(opened.id).state == "merged"


def test_a_cost_that_two_must_approve_holds_merge_and_engine(made: Made) -> None:
    box = made(COSTS)
    opened = box.open(drop("spare"))
    for name in (REVIEWER, SRE[0]):
        box.review(opened.id, who=name)
    assert "needs 2 approvals by *@sre.example.com" in missing(box, opened.id)
    box.rig.commit({"groups": group_yaml("workers", 2)})
    assert box.rig.settle().reason == "NeedsApproval", "pushed past the review, it is held with what it has"
    other = box.open(scale(3))
    assert other.mergeable, "what waits already is not the next change's doing"
    box.rig.order("approve", "hyperpod.InstanceGroup/prod/spare", principal=SRE[1])
    box.rig.settle()
    assert box.rig.cloud.seen("hyperpod.InstanceGroup/prod/spare") is None, "a review and an order make two"


def test_how_long_an_approval_lasts(made: Made) -> None:
    box = made(COSTS)
    opened = box.open(drop("spare"))
    assert box.review(opened.id).reviews[0].expires == "2026-03-01T11:06:30+00:00"


@pytest.mark.parametrize(
    ("policy", "says", "reason"),
    [
        ("  blastRadius:\n    maxNodes: 1\n", "2 nodes removed or rebooted (at most 1)", "two groups shrink"),
        ("  blastRadius:\n    maxClusters: 1\n", "2 clusters changed (at most 1)", "in two clusters"),
    ],
)
def test_how_far_one_change_reaches(made: Made, policy: str, says: str, reason: str) -> None:
    """Summed over all clusters that it touches, as it would be one commit."""
    box = made(policy)
    box.rig.commit({"cluster": cluster_yaml("dev"), "groups": group_yaml("workers", 2)}, cluster="dev")
    box.rig.settle()
    opened = box.open(scale(1), scale(1, cluster="dev"))
    assert says in missing(box, opened.id), reason
    with pytest.raises(Conflict):
        box.merge(opened.id)
    box.review(opened.id)
    assert box.merge(opened.id).state == "merged"
    assert box.open(scale(3, group="spare")).mergeable


def test_a_policy_that_cannot_be_read_stops_everything(made: Made) -> None:
    box = made("  approvals: {}\n")
    opened = box.open(scale(4))
    box.rig.commit_paths({"clusters/policy.yaml": "kind: Policy\n"})
    with pytest.raises(Exception, match="the policy cannot be read"):
        box.merge(opened.id)


def test_a_merge_that_would_break_the_policy_is_refused(made: Made) -> None:
    box = made("  approvals: {}\n")
    opened = box.open(file("clusters/policy.yaml", HEAD + "  approvals:\n    rules: [{count: 1}]\n"))
    with pytest.raises(Conflict, match="neither"):
        box.changes.review(person(REVIEWER), opened.id, _approve(opened.plan))
    with pytest.raises(Conflict) as told:
        box.merge(opened.id, who=AUTHOR)
    assert told.value.reason == "DocumentsInvalid"


def _approve(plan: str | None) -> NewReview:
    return NewReview(verdict="approve", plan=plan)


def test_what_cannot_be_done_is_not_merged(made: Made) -> None:
    """A field that cannot be changed: the plan refuses it, with the way out."""
    box = made("  approvals: {}\n")
    moved = {"op": "replace", "path": "/spec/region", "value": "us-east-1"}
    opened = box.open({"edit": "patch", "cluster": "prod", "kind": "Cluster", "name": "prod", "patch": [moved]})
    with pytest.raises(Conflict) as told:
        box.merge(opened.id)
    assert told.value.reason in ("Impossible", "DocumentsInvalid")
    taken = {"op": "replace", "path": "/spec/instanceType", "value": "ml.c5.2xlarge"}
    edit = {"edit": "patch", "cluster": "prod", "kind": "InstanceGroup", "name": "spare", "patch": [taken]}
    second = box.open(edit)
    assert {one.name: one.state for one in second.checks}["plan"] == "failed"
    with pytest.raises(Conflict) as told:
        box.merge(second.id)
    assert (told.value.reason, bool(told.value.way_out)) == ("Impossible", True)
    assert box.open(scale(4)).mergeable
