"""A tick over one cluster of many: what a limit over all clusters of a revision says holds for it too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.engine.tick import Result
from schemas.journal import Condition
from tests.engine.fakes import POLICY, Rig, cluster_yaml, group_yaml, reboot_yaml

NARROW = POLICY + "  blastRadius:\n    maxNodes: 3\n"
NODES = [f"i-0123456789abcdef{n}" for n in range(4)]
WHOSE = {"prod": NODES[:2], "test": NODES[2:]}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """Two clusters, Ready, and a commit that reboots two nodes of each: together more than may be. A new process,
    which remembers of neither."""
    made = Rig(path=tmp_path / "repository", state=tmp_path / "state", policy=NARROW)
    made.cloud.boots |= dict.fromkeys(NODES, 1)
    documents = {name: {"cluster": cluster_yaml(name), "system": group_yaml("system")} for name in WHOSE}
    made.commit_paths({f"clusters/{c}/{n}.yaml": text for c, files in documents.items() for n, text in files.items()})
    made.settle()
    made.commit_paths({f"clusters/{c}/reboot.yaml": reboot_yaml("reboot", *nodes) for c, nodes in WHOSE.items()})
    made.restart()
    made.cloud.looks.clear()
    yield made
    made.close()


def alone(rig: Rig, cluster: str, ticks: int = 6) -> list[Result]:
    """What `reconcile --cluster` does."""
    results: list[Result] = []
    for _ in range(ticks):
        rig.clock.advance(70)
        results.append(rig.engine.tick([cluster]))
    return results


def test_a_limit_over_all_clusters_holds_what_one_of_them_would_do_alone(rig: Rig) -> None:
    alone(rig, "prod")
    assert rig.status("prod").reason == "BlastRadius"
    assert "4 nodes removed or rebooted (at most 3)" in rig.status("prod").msg
    assert set(rig.cloud.boots.values()) == {1}


def test_the_others_are_planned_once_and_nothing_is_written_or_done_there(rig: Rig) -> None:
    lines = len(rig.lines("test"))
    alone(rig, "prod", ticks=1)
    first = list(rig.cloud.looks)
    rig.cloud.looks.clear()
    results = alone(rig, "prod", ticks=1)
    assert len(rig.cloud.looks) == len(first) / 2, "of two clusters the first time, of one from then on"
    assert (results[0].clusters, len(rig.lines("test"))) == (["prod"], lines)


def test_what_a_commit_does_to_one_cluster_is_that_clusters_alone(rig: Rig) -> None:
    rig.commit({"reboot": None}, "test")
    rig.commit({"reboot": reboot_yaml("again", *WHOSE["prod"])}, "prod")
    alone(rig, "prod", ticks=1)
    once = len(rig.cloud.looks)
    alone(rig, "prod")
    assert rig.status("prod").condition is Condition.READY
    assert [rig.cloud.boots[node] for node in NODES] == [2, 2, 1, 1]
    assert len(rig.cloud.looks) == 7 * once, "nobody looks at the other one"


def test_a_cluster_that_cannot_be_opened_stops_nobody(rig: Rig) -> None:
    """Its turn will tell what is wrong with it."""
    rig.commit({"cluster": "kind: [\n"}, "test")
    (result,) = alone(rig, "prod", ticks=1)
    assert (result.problem, result.problems) == (None, {})
