"""Fifty people at once on one repository, each as a process of its own would: a mirror, a service, an engine. No
update is lost, the branch is valid at every commit, and everybody is told what became of theirs."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reconciler.reads.validations import of_revision
from schemas.errors import Conflict
from tests.changes.changebox import ChangeBox, asked, make, person, scale
from tests.config_repo.gitbox import run
from tests.engine.fakes import Rig, cluster_yaml, group_yaml

WRITERS = 50
GROUPS = 10  # in one file: five writers for each count
PATH = "clusters/prod/groups.yaml"


@dataclass
class Outcome:
    merged: dict[int, str] = field(default_factory=dict[int, str])  # writer → commit
    clashed: dict[int, Conflict] = field(default_factory=dict[int, Conflict])
    broken: dict[int, BaseException] = field(default_factory=dict[int, BaseException])


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[ChangeBox]:
    made = make(tmp_path, remote=True)
    groups = "---\n".join(group_yaml(f"g{number}", 1) for number in range(GROUPS))
    made.rig.commit({"cluster": cluster_yaml(), "groups": groups})
    yield made
    made.rig.close()


def test_fifty_writers_lose_nothing(shared: ChangeBox) -> None:
    """Each raises the count of one of ten groups in one file, on the base that it read at the start."""
    base = shared.main()
    told = Outcome()
    ready = threading.Barrier(WRITERS)
    threads = [threading.Thread(target=write, args=(shared, number, base, ready, told)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(1500)
    assert told.broken == {}
    assert len(told.merged) + len(told.clashed) == WRITERS
    assert len(told.merged) >= GROUPS, "the first at each group comes through"

    main = shared.main()
    counts = dict(zip(*(iter_counts(shared.text(PATH) or "")), strict=True))
    for group in range(GROUPS):
        winners = [number for number in told.merged if number % GROUPS == group]
        assert len(winners) == 1, "whoever is second at a field made it something else, and is told"
        assert counts[f"g{group}"] == 100 + winners[0]
    for number, error in told.clashed.items():
        (found,) = error.conflicts
        name = f"g{number % GROUPS}"
        assert (found.document, found.field, found.yours) == (f"InstanceGroup/{name}", "/spec/count", 100 + number)
        assert found.theirs == counts[name]
        assert found.by == f"writer-{counts[name] - 100}@example.com", "first at it, not last in the file"

    line = run(shared.rig.path, "rev-list", "--first-parent", f"{base}..{main}").decode().split()
    assert sorted(line) == sorted(told.merged.values()), "the branch is these merges and nothing else"
    for commit in line:
        assert of_revision(shared.rig.repo, commit).problems == (), "valid at every step"
    run(shared.rig.path, "fsck", "--connectivity-only")


def test_fifty_writers_at_one_change(shared: ChangeBox) -> None:
    """Fifty comments on one change: all of them stand there, each once."""
    opened = shared.open(scale(9, group="g0"))
    boxes = [ChangeBox(rig=rig(shared, number)) for number in range(10)]
    errors: list[BaseException] = []

    def comment(box: ChangeBox, number: int) -> None:
        try:
            box.changes.comment(person(f"writer-{number}@example.com"), opened.id, f"word {number}")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=comment, args=(boxes[n % 10], n)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(1500)
    for box in boxes:
        box.rig.close()
    assert errors == []
    shared.rig.repo.fetch()
    view = shared.changes.view(opened.id)
    assert sorted(event.text for event in view.events[1:]) == sorted(f"word {n}" for n in range(WRITERS))
    assert [event.seq for event in view.events] == list(range(1, WRITERS + 2))
    assert view.findings == ()


def rig(shared: ChangeBox, number: int) -> Rig:
    """Another process on the same repository, with the same state for what is secret."""
    made = Rig.beside(shared.rig)
    made.state = shared.rig.state.with_name(f"writer-{number}")
    made.writer = f"writer-{number}"
    key = shared.rig.state / "access" / "signing.key"
    if key.exists():
        (made.state / "access").mkdir(parents=True)
        (made.state / "access" / "signing.key").write_bytes(key.read_bytes())
    return made


def write(shared: ChangeBox, number: int, base: str, ready: threading.Barrier, told: Outcome) -> None:
    box = ChangeBox(rig=rig(shared, number))
    who = person(f"writer-{number}@example.com")
    try:
        box.rig.repo.fetch()
        ready.wait(600)
        change = scale(100 + number, group=f"g{number % GROUPS}")
        opened = box.changes.open(who, asked(change, title=f"from writer {number}", base=base), key=f"key-{number}")
        told.merged[number] = box.changes.merge(who, opened.id, head=opened.head).merged or ""
    except Conflict as error:
        told.clashed[number] = error
    except BaseException as error:
        told.broken[number] = error
    finally:
        box.rig.close()


def iter_counts(text: str) -> tuple[list[str], list[int]]:
    names = re.findall(r"name: (\S+)", text)
    return names, [int(count) for count in re.findall(r"count: (\d+)", text)]
