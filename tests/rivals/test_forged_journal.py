"""Lines that others put into the journal: read as far as they make sense, never built on, and told with the way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reconciler.reads import journals, plans, statuses
from schemas.journal import Condition
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.rivals.rivalry import DOCS, JOURNAL, Rival, begun, git, push

Lines = list[dict[str, Any]]
AT = "2026-03-01T12:00:00.000Z"


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Rival:
    """Two clusters that are Ready."""
    other = {"cluster": cluster_yaml("other"), "system": group_yaml("system")}
    return begun(tmp_path_factory.mktemp("beginning"), {"prod": DOCS, "other": other})


def line(lines: Lines, **more: Any) -> str:
    return json.dumps({"at": AT, "say": "x", "v": 1, "seq": lines[-1]["seq"] + 1, "roll": 1, "t": "stage", **more})


def stage(lines: Lines, **more: Any) -> str:
    return line(lines, stage="network", state="Ready", **more)


def op(lines: Lines, **more: Any) -> str:
    fields = {"op": "01J0000000000000000000000A", "phase": "intent", "lane": "vpc/other", "verb": "delete", **more}
    return line(lines, t="op", call="ec2:DeleteVpc", **{"class": "convergent"}, **fields)


def rollout(lines: Lines, **more: Any) -> str:
    return line(lines, t="rollout", writer="x", **{"rev": "a" * 40, "input": "b" * 40, **more})


FORGERIES: dict[str, tuple[Callable[[Lines], str], str]] = {
    "a gap": (lambda lines: stage(lines, seq=lines[-1]["seq"] + 5), "lines are missing before seq"),
    "one seq with two contents": (lambda lines: stage(lines, seq=3), "two different lines with seq 3"),
    "an op of another cluster": (lambda lines: op(lines, key="ec2.Vpc/other"), "is about ec2.Vpc/other"),
    "a hold of another cluster": (
        lambda lines: line(lines, t="hold", key="ec2.Vpc/other", action="d" * 64, reason="R"),
        "which is not of prod",
    ),
    "ids of another cluster": (lambda lines: rollout(lines, refs={"ec2.Vpc/other": "vpc-1"}), "is about ec2.Vpc/other"),
    "an absurd version": (lambda lines: stage(lines, v=10**30), "of version 1000000"),
    "a newer version of another shape": (lambda lines: line(lines, t="op", v=2, op=[]), "of version 2"),
    "an op that never began": (lambda lines: op(lines, phase="succeeded", key="ec2.Vpc/prod"), "has no intent"),
    "garbage": (lambda _: "\x01\x02 not a line", "not JSON"),
    "a line that is no object": (lambda _: "[1,2]", "not a journal line"),
    "a seq that is no number": (lambda lines: line(lines, seq="x", t="weather"), "not a journal line"),
    "a seq below one": (lambda lines: line(lines, seq=-5, t="weather"), "not a journal line"),
    "a seq that is true": (lambda lines: line(lines, seq=True), "not a journal line"),
    "an endless number": (lambda _: '{"t":"stage","seq":' + "9" * 5000 + "}", "not JSON"),
    "a deep hole": (lambda _: "[" * 20000, "not JSON"),
    "a time that is none": (lambda lines: stage(lines, at="yesterday"), "at:"),
    "a day that is none": (lambda lines: stage(lines, at="2026-02-31T00:00:00Z"), "at:"),
    "a time without a zone": (lambda lines: stage(lines, at="2026-03-01T00:00:00"), "at:"),
    "a revision that is a flag": (lambda lines: rollout(lines, rev="--upload-pack=x"), "rev:"),
    "a secret in a broken line": (lambda _: "password=hunter2hunter2 AKIAABCDEFGHIJKLMNOP", "not JSON"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_line_makes_it_read_only_and_that_is_told(rig: Rival, forgery: str) -> None:
    """A running process and a fresh one; the other cluster goes on; the way out is named, and it works."""
    make, said = FORGERIES[forgery]
    good = git(rig.path, "rev-parse", JOURNAL)
    forged = make(rig.lines())
    rev = str(rig.status().rev)
    git(rig.path, "notes", "--ref=instantstart/status/prod", "append", "-F", "-", rev, data=forged.encode())
    bad = git(rig.path, "rev-parse", JOURNAL)
    effects = len(rig.cloud.effects)
    push(rig.path, {"system": group_yaml("system", 5)})
    push(rig.path, {"system": group_yaml("system", 5)}, "other")
    for fresh in (False, True):
        if fresh:
            rig.restart()
        result = rig.tick(30)
        status = rig.status()
        assert (status.reason, git(rig.path, "rev-parse", JOURNAL)) == ("JournalBroken", bad)
        assert said in status.msg and "put back the newest that is whole" in status.msg, status.msg
        assert good in status.msg, "the commit that was whole"
        assert not [secret for secret in ("AKIA", "hunter2") if secret in f"{status.msg} {result.problems}"]
        assert len(status.msg) < 600
        assert result.problem is None and result.problems.keys() == {"prod"}
        assert "mended" in result.problems["prod"]
    assert {key.split("/")[1] for _, _, key in rig.cloud.effects[effects:]} == {"other"}
    assert "JournalBroken" in {f.reason for f in plans.of_scope(rig.engine.observe("prod")).findings}
    assert statuses.status(rig.repo, "prod").reason == "JournalBroken"
    git(rig.path, "update-ref", JOURNAL, good)
    assert rig.settle().condition is Condition.READY
    assert rig.status().rev == rig.repo.revision_of(str(rig.repo.head()), "prod")


@pytest.mark.parametrize("fresh", [False, True])
def test_the_journal_of_another_cluster_under_this_name(rig: Rival, fresh: bool) -> None:
    """Whole in itself, and not of this cluster: neither its ids nor its holds are taken for ours."""
    good = git(rig.path, "rev-parse", JOURNAL)
    git(rig.path, "update-ref", JOURNAL, JOURNAL.replace("prod", "other"))
    if fresh:
        rig.restart()
    push(rig.path, {"system": None})
    effects = len(rig.cloud.effects)
    rig.tick(30)
    rig.tick(30)
    assert (rig.status().reason, len(rig.cloud.effects)) == ("JournalBroken", effects)
    assert "seq" in rig.status().msg and good in rig.status().msg
    git(rig.path, "update-ref", JOURNAL, good)
    assert rig.settle().condition is Condition.READY, "and what git wants is done"
    assert [t.key for t in rig.cloud.of("hyperpod.InstanceGroup")] == ["hyperpod.InstanceGroup/other/system"]


def test_a_quiet_journal_of_another_cluster_is_known_by_its_input(rig: Rival) -> None:
    """It names no resource at all; what its rollout says about the folder is not what git says."""
    commit = git(rig.path, "rev-parse", "main")
    other = git(rig.path, "rev-parse", "main:clusters/other")
    git(rig.path, "update-ref", "-d", JOURNAL)
    text = rollout([{"seq": 0}], rev=commit, input=other)
    git(rig.path, "notes", "--ref=instantstart/status/prod", "append", "-F", "-", commit, data=text.encode())
    rig.restart()
    rig.tick(30)
    assert "seq 1 says that clusters/prod was" in rig.status().msg
    assert rig.status().reason == "JournalBroken"


def test_deleting_a_broken_journal_is_a_way_out(rig: Rival) -> None:
    rev = str(rig.status().rev)
    git(rig.path, "notes", "--ref=instantstart/status/prod", "append", "-m", "garbage", rev)
    rig.tick(30)
    assert rig.status().reason == "JournalBroken"
    git(rig.path, "update-ref", "-d", JOURNAL)
    assert rig.settle().reason == "JournalIncomplete"
    rig.order("release", "journal")
    assert rig.settle().condition is Condition.READY


def test_a_ref_that_is_no_journal_stops_its_own_cluster_only(rig: Rival) -> None:
    """A blob, a tree of something else, a cluster without a folder: nobody else waits for it."""
    blob = git(rig.path, "hash-object", "-w", "--stdin", data=b"no commit")
    good = git(rig.path, "rev-parse", JOURNAL)
    git(rig.path, "update-ref", JOURNAL, blob)
    git(rig.path, "update-ref", JOURNAL.replace("prod", "nobody"), blob)
    push(rig.path, {"system": group_yaml("system", 5)}, "other")
    effects = len(rig.cloud.effects)
    result = rig.tick(30)
    assert result.problem is None and {"prod", "nobody"} == set(result.problems)
    assert "is no commit" in result.problems["prod"]
    rig.tick(30)
    assert {key.split("/")[1] for _, _, key in rig.cloud.effects[effects:]} == {"other"}
    assert journals.Tail(rig.repo, from_start=True).new()
    told = {view.cluster: view.reason for view in statuses.fleet(rig.repo).clusters}
    assert told["prod"] == told["nobody"] == "JournalBroken" != told["other"]
    git(rig.path, "update-ref", JOURNAL, good)
    git(rig.path, "update-ref", "-d", JOURNAL.replace("prod", "nobody"))
    assert rig.settle().condition is Condition.READY
