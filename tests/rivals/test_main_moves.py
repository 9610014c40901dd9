"""Main moves while EKS is made over ten minutes: what is under way is followed to its end, the rest is planned anew.

Every move at every step of a tick and between any two ticks. The cloud is invented, everything else is real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemas.journal import Condition
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.rivals.rivalry import (
    DOCS,
    STEPS,
    Rival,
    deletes_wait,
    git,
    journal_is_right,
    nothing_twice,
    person,
    push,
    superseded_was_never_green,
)

EKS = "eks.Cluster/prod"


def scales(where: Path) -> None:
    push(where, {"system": group_yaml("system", 3)})


def removes_the_folder(where: Path) -> None:
    push(where, dict.fromkeys([*DOCS, "other"]))


def removes_a_part(where: Path) -> None:
    push(where, {"other": None})


def reverts(where: Path) -> None:
    """To what stood before the newest commit, by a commit."""
    push(where, {"other": None, "system": group_yaml("system", 1)})


def sets_the_branch_back(where: Path) -> None:
    git(where, "update-ref", "refs/heads/main", "main~1")


def force_pushes(where: Path) -> None:
    """Another commit with another content in the place of the newest."""
    with person(where) as repo:
        head = str(repo.head())
        files = {"clusters/prod/system.yaml": group_yaml("system", 4).encode()}
        repo.commit(onto=f"{head}", changes=files, message="amended", author=("E", "e@example.com"))
    tree = git(where, "rev-parse", "main^{tree}")
    git(where, "update-ref", "refs/heads/main", git(where, "commit-tree", tree, "-p", f"{head}~1", "-m", "amended"))


def rebases(where: Path) -> None:
    """The same documents on another base: new ids all the way."""
    base = git(where, "commit-tree", git(where, "rev-parse", "main~2^{tree}"), "-m", "another base")
    middle = git(where, "commit-tree", git(where, "rev-parse", "main~1^{tree}"), "-p", base, "-m", "first")
    last = git(where, "commit-tree", git(where, "rev-parse", "main^{tree}"), "-p", middle, "-m", "second")
    git(where, "update-ref", "refs/heads/main", last)


MOVES: dict[str, Callable[[Path], None]] = {
    "a scale": scales,
    "the folder goes": removes_the_folder,
    "a group goes": removes_a_part,
    "a revert": reverts,
    "a reset": sets_the_branch_back,
    "a force push": force_pushes,
    "a rebase": rebases,
}
COUNT = {"a scale": 3, "a revert": 1, "a reset": 1, "a force push": 4}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rival]:
    made = Rival(path=tmp_path / "repository", state=tmp_path / "state")
    made.commit({**DOCS, "system": group_yaml("system", 1)})
    made.commit({"system": group_yaml("system"), "other": group_yaml("other")})
    yield made
    made.close()


def until_eks_is_on_its_way(rig: Rival) -> None:
    for _ in range(10):
        rig.tick(5)
        if any(key == EKS for _, _, key in rig.cloud.sends):
            return
    raise AssertionError(rig.story())


def ends_well(rig: Rival, move: str) -> None:
    """At rest, the cloud is what main says, and the journal tells how it came to that."""
    status = rig.settle()
    cloud = rig.cloud
    assert status.rev == rig.repo.revision_of(str(rig.repo.head()), "prod")
    if move == "the folder goes":
        assert (status.condition, status.reason) == (Condition.STALLED, "DeletionProtected"), status.msg
        assert "deletionProtection" in status.msg
        assert not [key for _, verb, key in cloud.effects if verb == "delete"]
    else:
        assert status.condition is Condition.READY, f"{status.msg}\n{rig.story()}"
        counts = {thing.name: thing.spec["count"] for thing in cloud.of("hyperpod.InstanceGroup")}
        others = {} if move in ("a group goes", "a revert", "a reset") else {"other": 2}
        assert counts == {"system": COUNT.get(move, 2), **others}
    lines = rig.lines()
    nothing_twice(cloud)
    journal_is_right(lines)
    deletes_wait(lines)
    superseded_was_never_green(rig.repo, status.rev)
    eks = [line for line in lines if line["t"] == "op" and line.get("key") == EKS and line["phase"] == "intent"]
    ended = [line["phase"] for line in lines if line["t"] == "op" and line["op"] == eks[0]["op"]]
    assert ended[-1] == "succeeded", "what was sent is followed to its end"
    rewritten = [line for line in lines if line["t"] == "rollout" and line.get("rewritten")]
    assert bool(rewritten) is (move in ("a reset", "a force push", "a rebase")), "rewritten history is told"


FEW = ("after the intents", "while sending")
TABLE = [
    (move, step) for move in MOVES for step in STEPS if step in FEW or move in ("a scale", "the folder goes", "a reset")
]


@pytest.mark.parametrize(("move", "step"), TABLE)
def test_main_moves_in_the_middle_of_a_tick(rig: Rival, move: str, step: str) -> None:
    """The tick in which EKS is created, or, where a step is not in it, the next that has the step."""
    until_network_stands(rig)
    if (move, step) == ("the folder goes", "after fetch"):
        until_eks_is_on_its_way(rig)  # before that nothing would be asked for, and there is nothing to follow
    rig.hooks[step] = lambda: MOVES[move](rig.path)
    until_eks_is_on_its_way(rig)
    for _ in range(8):
        if step not in rig.hooks:
            break
        rig.tick(5)
    assert step not in rig.hooks, "the step was never reached"
    ends_well(rig, move)


def until_network_stands(rig: Rival) -> None:
    """The tick before the control plane is asked for."""
    for _ in range(2):
        rig.tick(5)
    assert not [key for _, _, key in rig.cloud.sends if key == EKS]


@pytest.mark.parametrize("ticks", range(12))
def test_main_moves_between_two_ticks(rig: Rival, ticks: int) -> None:
    """Every boundary of the creation; the moves take turns, and a second one follows at once."""
    for _ in range(ticks):
        rig.tick(20)
    names = list(MOVES)
    first, second = names[ticks % len(names)], names[(ticks + 3) % len(names)]
    if first == "the folder goes":
        first, second = second, first
    if first in ("a reset", "a rebase") and second in ("a reset", "a rebase"):
        second = "a scale"
    MOVES[first](rig.path)
    rig.tick(5)
    MOVES[second](rig.path)
    status = rig.settle()
    assert status.rev == rig.repo.revision_of(str(rig.repo.head()), "prod")
    assert status.condition is (Condition.STALLED if second == "the folder goes" else Condition.READY), rig.story()
    lines = rig.lines()
    nothing_twice(rig.cloud)
    journal_is_right(lines)
    deletes_wait(lines)
    superseded_was_never_green(rig.repo, status.rev)


def test_main_moves_at_every_tick(rig: Rival) -> None:
    """Nothing starves and nothing is made twice, whoever is faster; and only what was taken up has a rollout."""
    for number in range(1, 15):
        push(rig.path, {"system": group_yaml("system", number)})
        push(rig.path, {"system": group_yaml("system", number + 20)})
        rig.tick(20)
    status = rig.settle()
    assert status.condition is Condition.READY
    assert [t.spec["count"] for t in rig.cloud.of("hyperpod.InstanceGroup") if t.name == "system"] == [34]
    lines = rig.lines()
    journal_is_right(lines)
    nothing_twice(rig.cloud)
    assert sum(1 for line in lines if line["t"] == "rollout") == 14
    assert sum(1 for _, _, key in rig.cloud.sends if key == EKS) == 1


def test_the_whole_cluster_is_removed_while_eks_is_made(rig: Rival) -> None:
    """Allowed to go: the create still ends, and only then the delete is planned, gated and sent."""
    rig.commit({"cluster": cluster_yaml(extra="  deletionProtection: false\n")})
    assert rig.settle().condition is Condition.READY
    thing = rig.cloud.of("eks.Cluster")[0]
    rig.cloud.things.remove(thing)  # somebody deleted it by hand: it is made again
    for _ in range(20):
        rig.tick(30)
        if sum(1 for _, verb, key in rig.cloud.effects if (verb, key) == ("create", EKS)) == 2:
            break
    push(rig.path, {"cluster": None, "system": None, "other": None})
    assert rig.settle().condition is Condition.GONE
    deletes_wait(rig.lines())
    order = [verb for _, verb, key in rig.cloud.effects if key == EKS]
    assert order == ["create", "create", "delete"]
    assert rig.cloud.things == []
