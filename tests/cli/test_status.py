"""status and log from a journal that the real pen wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconciler.reads import statuses
from reconciler.reads.journals import Tail
from tests.cli.clibox import CLUSTER, CliBox, call, hold, intent, op, rollout, stage

OP, LATER = "01JAZ5Q8T3W4X5Y6Z7A8B9C0D1", "01JAZ5Q8T3W4X5Y6Z7A8B9C0D2"
GROUP = "hyperpod.InstanceGroup/demo/old"


def under_way(box: CliBox) -> None:
    box.journal(
        [
            rollout(box.first),
            stage("validate", "Ready"),
            stage("network", "Ready", progress="13/13"),
            intent(OP, "eks.Cluster/demo", "eks:CreateCluster"),
            op(OP, "submitted", "eks:CreateCluster of eks.Cluster/demo was accepted", how="reply"),
            stage("control-plane", "Progressing", "CreateCluster", "eks:CreateCluster of eks.Cluster/demo"),
            stage("compute", "Waiting", "WaitingForNeeds", "waits for eks.Cluster/demo", progress="0/4"),
        ]
    )


def test_nothing_was_applied(box: CliBox) -> None:
    box.golden("status-new.txt", "status", CLUSTER)


def test_under_way(box: CliBox) -> None:
    under_way(box)
    box.golden("status-under-way.txt", "status", CLUSTER)
    box.golden("fleet.txt", "status")


def test_held_failed_and_ordered(box: CliBox) -> None:
    under_way(box)
    box.journal(
        [
            op(OP, "failed", "eks:CreateCluster failed", reason="ValidationException", msg="no such version"),
            stage("control-plane", "Failed", "ValidationException", "eks:CreateCluster: no such version"),
            hold(GROUP, "a" * 64, "NeedsApproval", "delete of the group needs an approval. Way out: approve"),
        ]
    )
    assert box.call("retry", CLUSTER, "control-plane", "--why", "the version was corrected").code == 0
    box.commit({"clusters/demo/note.txt": "x"}, "A second commit")
    box.golden("status-stalled.txt", "status", CLUSTER)


def test_many_things_held_for_one_reason_are_one_line(box: CliBox) -> None:
    under_way(box)
    said = "the cluster's folder is gone while deletionProtection was on"
    box.journal([hold(f"ec2.Subnet/demo/{n}", str(n) * 64, "DeletionProtected", said) for n in range(5)])
    out = box.call("status", CLUSTER).out
    assert f"5 things: {said}" in out and "ec2.Subnet/demo/2 and 2 more" in out and out.count(said) == 2


def test_a_suspended_cluster_says_how_it_goes_on(box: CliBox) -> None:
    under_way(box)
    box.journal([hold("*", "", "Suspended", "spec.suspend is true: nothing is changed")])
    out = box.call("status", CLUSTER).out
    assert "the whole cluster  spec.suspend is true" in out and f"instantstart resume {CLUSTER}" in out
    said = box.call("approve", CLUSTER)
    assert said.code == 0 and f"instantstart resume {CLUSTER}" in said.err


def test_what_makes_a_status_say_less_is_told(box: CliBox, tmp_path: Path) -> None:
    under_way(box)
    assert "no commits on branch nonsense" in box.call("--branch", "nonsense", "status").err
    clone = str(tmp_path / "clone")
    box.git("clone", "-q", str(box.path), clone)
    said = call("-r", clone, "status")
    assert "Unknown" in said.out and "instantstart git-setup, then git fetch" in said.err
    assert call("-r", clone, "git-setup").code == 0
    box.git("-C", clone, "fetch", "-q")
    said = call("-r", clone, "status")
    assert "Reconciling" in said.out and said.err == ""


def test_a_rewritten_history_is_told_in_the_log(box: CliBox) -> None:
    box.journal([rollout(box.first, rewritten=True)])
    assert "(the branch's history was rewritten)" in box.call("log").out


def test_the_log(box: CliBox) -> None:
    under_way(box)
    second = box.commit({"clusters/demo/note.txt": "x"}, "A second commit")
    box.journal([("end", f"superseded by {second[:7]}", {"by": second, "carried": [OP]})])
    carried = {"op": OP, "phase": "submitted", "key": "eks.Cluster/demo", "call": "eks:CreateCluster"}
    box.journal(
        [
            rollout(second, open=[carried]),
            op(OP, "succeeded", "eks:CreateCluster of eks.Cluster/demo is done", how="found"),
            stage("control-plane", "Ready"),
        ],
        revision=second,
    )
    said = box.call("log", CLUSTER)
    assert [line.split()[2] for line in said.out.splitlines() if line.startswith(CLUSTER)] == ["Superseded", "Ready"]
    found = box.call("log", "--json", "-n", "1").json["revisions"]
    assert [view["subject"] for view in found] == ["A second commit"]
    assert [line["t"] for line in found[0]["lines"]] == ["rollout", "op", "stage"]
    text = said.out.replace(box.git("log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d %H:%M"), "<when>")
    assert "superseded by" in text and "Alice Example <alice@example.com>" in text


def test_a_broken_journal_is_told(box: CliBox) -> None:
    under_way(box)
    with box.repo() as repo:
        from reconciler.config_repo.records import NotesAppend

        tip = repo.notes(CLUSTER).tip
        bad = NotesAppend(name=CLUSTER, expected_tip=tip, lines=[(box.first, "not json")], subject="x")
        assert repo.append_notes([bad])[CLUSTER].accepted
    said = box.call("status", CLUSTER)
    assert said.code == 0 and "JournalBroken" in said.out


def test_json_has_every_time(box: CliBox) -> None:
    under_way(box)
    view: dict[str, Any] = box.call("status", CLUSTER, "--json").json
    assert view["condition"] == "Reconciling" and view["at"] and view["look"] is None
    assert all(entry["since"] for entry in view["stages"])
    assert view["open_ops"][0]["op"] == OP


def test_a_tail_begins_again_where_a_journal_does(box: CliBox) -> None:
    under_way(box)
    with box.repo() as repo:
        tail = Tail(repo)
        box.git("update-ref", "-d", f"refs/notes/instantstart/status/{CLUSTER}")
        repo.fetch()
        assert tail.new() == []
        box.journal([rollout(box.first)])
        repo.fetch()
        assert [line.seq for _cluster, line in tail.new()] == [1]


def test_a_tail_gives_each_line_once(box: CliBox) -> None:
    with box.repo() as repo:
        tail = Tail(repo)
        assert tail.new() == []
        under_way(box)
        assert [line.seq for _, line in tail.new()] == [1, 2, 3, 4, 5, 6, 7]
        assert tail.new() == []
        box.journal([stage("control-plane", "Ready")])
        assert [line.say for _, line in tail.new()] == ["control-plane Ready"]
        assert len(Tail(repo, from_start=True).new()) == 8
        assert Tail(repo, only="other", from_start=True).new() == []


@pytest.mark.parametrize(
    ("last", "settled", "why"),
    [
        (stage("compute", "Progressing", "NodesStarting"), False, "it goes on"),
        (stage("compute", "Failed", "Limit"), True, "it will not go on by itself"),
    ],
)
def test_settled(box: CliBox, last: tuple[str, str, dict[str, Any]], settled: bool, why: str) -> None:
    box.journal([rollout(box.first), last])
    with box.repo() as repo:
        assert statuses.status(repo, CLUSTER).settled is settled, why
    box.commit({"clusters/demo/note.txt": "x"})
    with box.repo() as repo:
        assert not statuses.status(repo, CLUSTER).settled, "main wants another revision"


def test_gone_clusters_are_shown_only_if_asked_for(box: CliBox) -> None:
    under_way(box)
    files = box.git("ls-tree", "-r", "--name-only", "HEAD", "clusters/demo").splitlines()
    gone = box.commit(dict.fromkeys(files), "Take it down")
    box.journal([rollout(gone, input=None), stage("validate", "Ready")], revision=gone)
    assert CLUSTER not in box.call("status").out
    assert "Gone" in box.call("status", "--all").out
    assert box.call("status", CLUSTER, "--json").json["condition"] == "Gone"
