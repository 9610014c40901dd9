"""What a folder says by not being what it was: empty, renamed, without documents, unprotected too late. No delete where
the design says so, and the reason is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reconciler.reads import statuses
from schemas.journal import Condition
from tests.engine.fakes import cluster_yaml, group_yaml, reboot_yaml
from tests.rivals.rivalry import DOCS, NODE, Rival, begun, git, nothing_twice, push

OPEN = cluster_yaml(extra="  deletionProtection: false\n")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Rival:
    return begun(tmp_path_factory.mktemp("beginning"), {"prod": DOCS})


def set_folder(rig: Rival, tree: str | None, name: str = "prod") -> None:
    """A commit in which clusters/<name> is this very tree; git's own tools would not write an empty one."""
    policy = git(rig.path, "ls-tree", "main:clusters", "policy.yaml")
    entries = [policy] + ([f"040000 tree {tree}\t{name}"] if tree is not None else [])
    clusters = git(rig.path, "mktree", "--missing", data="\n".join(entries).encode() + b"\n")
    root = git(rig.path, "mktree", data=f"040000 tree {clusters}\tclusters\n".encode())
    git(rig.path, "update-ref", "refs/heads/main", git(rig.path, "commit-tree", root, "-p", "main", "-m", "by hand"))


def empties(rig: Rival) -> None:
    set_folder(rig, git(rig.path, "hash-object", "-w", "-t", "tree", "--stdin"))


def leaves_a_readme(rig: Rival) -> None:
    rig.commit_paths({**{f"clusters/prod/{name}.yaml": None for name in DOCS}, "clusters/prod/README.md": "soon\n"})


def removes(rig: Rival) -> None:
    push(rig.path, dict.fromkeys(DOCS))


def renames(rig: Rival) -> None:
    set_folder(rig, git(rig.path, "rev-parse", "main:clusters/prod"), "production")


def renames_with_its_document(rig: Rival) -> None:
    removes(rig)
    push(rig.path, {"cluster": cluster_yaml("production"), "system": group_yaml("system")}, "production")


def unprotects_and_removes(rig: Rival) -> None:
    push(rig.path, {"cluster": OPEN})
    removes(rig)


def unprotects_without_getting_ready(rig: Rival) -> None:
    push(rig.path, {"cluster": OPEN, "more": group_yaml("more")})
    rig.cloud.blind = {"hyperpod.Cluster"}
    rig.tick(10)
    assert rig.status().condition is not Condition.READY
    rig.cloud.blind.clear()
    push(rig.path, dict.fromkeys([*DOCS, "more"]))


def unprotects_a_broken_document(rig: Rival) -> None:
    push(rig.path, {"cluster": OPEN, "bad": "kind: [\n"})
    rig.tick(10)
    push(rig.path, dict.fromkeys([*DOCS, "bad"]))


def leaves_a_group_alone(rig: Rival) -> None:
    push(rig.path, {"cluster": None})


def asks_for_a_reboot_and_goes(rig: Rival) -> None:
    push(rig.path, {"reboot": reboot_yaml("a", NODE)})
    push(rig.path, dict.fromkeys([*DOCS, "reboot"]))


PROTECTED = ("DeletionProtected", "deletionProtection was on")
NO_CLUSTER = ("Invalid", "expected exactly one Cluster, got none")
CASES: dict[str, tuple[Callable[[Rival], None], str, str]] = {
    "an empty folder": (empties, *NO_CLUSTER),
    "a folder with only a README": (leaves_a_readme, *NO_CLUSTER),
    "a folder without its Cluster": (leaves_a_group_alone, *NO_CLUSTER),
    "no folder": (removes, *PROTECTED),
    "a renamed folder": (renames, *PROTECTED),
    "a renamed folder, its document too": (renames_with_its_document, *PROTECTED),
    "unprotected and removed before anybody looked": (unprotects_and_removes, *PROTECTED),
    "unprotected, not yet Ready, and removed": (unprotects_without_getting_ready, *PROTECTED),
    "unprotected in a revision that cannot be read": (unprotects_a_broken_document, *PROTECTED),
    "an operation, and then nothing": (asks_for_a_reboot_and_goes, *PROTECTED),
}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_deleted_or_run_and_the_reason_is_told(rig: Rival, case: str, fresh: bool) -> None:
    change, reason, said = CASES[case]
    things = {thing.key: thing.id for thing in rig.cloud.things}
    effects = len(rig.cloud.effects)
    change(rig)
    if fresh:
        rig.restart()
    rig.settle()
    status = rig.status()
    assert (status.condition, status.reason) == (Condition.STALLED, reason), status.msg
    assert said in status.msg
    assert not [key for _, verb, key in rig.cloud.effects[effects:] if verb in ("delete", "run")]
    assert things.items() <= {thing.key: thing.id for thing in rig.cloud.things}.items()
    view = statuses.status(rig.repo, "prod")
    assert (view.condition, view.reason) == ("Stalled", reason)
    nothing_twice(rig.cloud)


def test_a_folder_that_is_put_back_is_as_if_nothing_had_been(rig: Rival) -> None:
    effects = len(rig.cloud.effects)
    removes(rig)
    assert rig.settle().reason == "DeletionProtected"
    rig.commit(DOCS)
    assert rig.settle().condition is Condition.READY
    assert len(rig.cloud.effects) == effects


def test_the_name_of_a_renamed_folder_must_be_the_documents(rig: Rival) -> None:
    renames(rig)
    rig.settle()
    status = rig.status("production")
    assert (status.condition, status.reason) == (Condition.STALLED, "Invalid") and "production" in status.msg
    assert not [thing for thing in rig.cloud.things if "/production" in thing.key]


def test_two_commits_do_take_it_down(rig: Rival) -> None:
    """The way the messages tell."""
    push(rig.path, {"cluster": OPEN})
    assert rig.settle().condition is Condition.READY
    removes(rig)
    assert rig.settle().condition is Condition.GONE
    assert rig.cloud.things == []
