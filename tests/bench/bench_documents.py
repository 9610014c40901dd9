"""1,000 clusters with 20,000 documents: a cold start, what it holds, and one commit to one cluster."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.library import Library
from tests.bench.config_documents import FILES, group_document, make_repository
from tests.bench.measuring import Run, python
from tests.bench.rows import Goal, Row, Size
from tests.config_repo.gitbox import ALICE


def main(size: Size = Size.NORMAL) -> list[Row]:
    clusters = 10 if size is Size.TINY else 1000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_repository(root / "config.git", clusters)
        return [*cold(root, clusters, 1 if size is Size.TINY else 3), *one_commit(root, clusters)]


def cold(root: Path, clusters: int, pairs: int) -> list[Row]:
    """Whole processes, in turn: ours, plain, ours, plain."""
    documents = clusters * FILES
    runs: dict[str, list[tuple[Run, Any]]] = {"ours": [], "plain": [], "ours-desired": []}
    python("load_documents", "ours-desired", str(root / "config.git"), str(root), where=root)  # compiles
    for _ in range(pairs):
        for way, kept in runs.items():
            kept.append(python("load_documents", way, str(root / "config.git"), str(root), where=root))
            assert kept[-1][1]["documents"] == documents
    wall = {way: statistics.median(told["wall"] for _, told in kept) for way, kept in runs.items()}
    cpu = {way: statistics.median(told["cpu"] for _, told in kept) for way, kept in runs.items()}
    held = {way: max(told["held"] for _, told in kept) for way, kept in runs.items()}
    peak = {way: max(told["peak"] for _, told in kept) for way, kept in runs.items()}
    against = "ls-tree + cat-file + CSafeLoader + pydantic"
    return [
        Row(
            bench=f"cold load of {documents} documents",
            measured=wall["ours"],
            unit="s",
            reference=wall["plain"],
            against=against,
            goal=Goal.FASTER,
            limit=1.6,
            note=f"imports included; CPU {cpu['ours']:.2f} s to {cpu['plain']:.2f} s "
            f"({cpu['plain'] / cpu['ours']:.2f} ×)",
        ),
        Row(
            bench=f"cold load of {documents} documents to the resources of all clusters",
            measured=wall["ours-desired"],
            unit="s",
            reference=wall["plain"],
            against=against + ", which stops at documents",
            note="as the first tick after a restart does it",
        ),
        Row(
            bench="warm restart",
            measured=wall["ours"],
            unit="s",
            goal=Goal.AT_MOST,
            limit=0.7,
            note="nothing parsed is kept on disk: a restart is a cold load",
        ),
        Row(
            bench=f"memory with {documents} documents",
            measured=held["ours"],
            unit="MB",
            reference=held["plain"],
            against=against,
            goal=Goal.AT_MOST,
            limit=200,
            note=f"whole process, after loading; highest {peak['ours']:.0f} MB",
        ),
        Row(
            bench=f"memory with {documents} documents and the resources of all clusters",
            measured=held["ours-desired"],
            unit="MB",
            goal=Goal.AT_MOST,
            limit=200,
            note=f"all folders and files the engine keeps; highest {peak['ours-desired']:.0f} MB",
        ),
    ]


def one_commit(root: Path, clusters: int) -> list[Row]:
    """Three files of one cluster change; the time from the new head to the resources of that cluster."""
    bare = str(root / "config.git")
    samples: list[float] = []
    with (
        ConfigRepo.open(bare, state_dir=root, writer="person") as person,
        ConfigRepo.open(bare, state_dir=root, writer="bench") as repo,
    ):
        library = Library(repo)
        head = repo.resolve("main")
        before = repo.clusters(head)
        for name in list(before)[:40]:
            library.folder(head, name)  # the engine is warm
        for number in range(min(40, clusters)):
            name = f"c{number}"
            changes: dict[str, bytes | None] = {
                f"clusters/{name}/group-{n}.yaml": group_document(f"group-{n}", n, 9).encode() for n in range(3)
            }
            person.commit(onto=person.head(), changes=changes, message="grow", author=ALICE)
            start = time.perf_counter()
            repo.fetch()
            found = repo.head()
            assert found is not None
            after = repo.clusters(found)
            changed = [c for c, tree in after.items() if before.get(c) != tree]
            folders = [library.folder(repo.revision_of(found, c), c) for c in changed]
            samples.append((time.perf_counter() - start) * 1000)
            assert changed == [name] and folders[0] is not None and folders[0].desired is not None
            assert folders[0].desired.resources[f"hyperpod.InstanceGroup/{name}/group-0"].spec["count"] == 9
            before = after
    return [
        Row(
            bench=f"one commit to one of {clusters} clusters, to its resources",
            measured=statistics.median(samples),
            unit="ms",
            goal=Goal.AT_MOST,
            limit=10,
            note=f"three files; fetch of a local repository, head, changed clusters, revision, documents, resources; "
            f"fastest {min(samples):.1f} ms, slowest {max(samples):.1f} ms",
        )
    ]


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
