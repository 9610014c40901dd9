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
from tests.bench.measuring import python, repeated
from tests.bench.rows import Goal, Row, Size
from tests.config_repo.gitbox import ALICE, run


def main(size: Size = Size.NORMAL) -> list[Row]:
    clusters = 10 if size is Size.TINY else 1000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_repository(root / "config.git", clusters)
        return [*starts(root, clusters, 1 if size is Size.TINY else 3), *one_commit(root, clusters)]


def starts(root: Path, clusters: int, pairs: int) -> list[Row]:
    """Whole processes, in turn: cold, to the resources, warm, plain, cold, … A cold one has an empty state directory,
    a warm one that of the one before."""
    documents = clusters * FILES
    bare = str(root / "config.git")
    runs: dict[str, list[Any]] = {"cold": [], "cold-desired": [], "warm": [], "warm-desired": [], "plain": []}
    python("load_documents", "ours-desired", bare, str(root / "first"), where=root)  # compiles
    for number in range(pairs):
        for way, kept in runs.items():
            state = root / f"state-{number}-{'desired' if way.endswith('desired') else 'documents'}"
            name = {"plain": "plain"}.get(way, "ours-desired" if way.endswith("desired") else "ours")
            kept.append(python("load_documents", name, bare, str(state), where=root)[1])
            assert kept[-1]["found"] == (clusters if way.endswith("desired") else documents)
    wall = {way: statistics.median(told["wall"] for told in kept) for way, kept in runs.items()}
    cpu = {way: statistics.median(told["cpu"] for told in kept) for way, kept in runs.items()}
    held = {way: max(told["held"] for told in kept) for way, kept in runs.items()}
    peak = {way: max(told["peak"] for told in kept) for way, kept in runs.items()}
    against = "ls-tree + cat-file + CSafeLoader + pydantic"

    def spent(way: str) -> str:
        return f"CPU {cpu[way]:.2f} s to {cpu['plain']:.2f} s ({cpu['plain'] / cpu[way]:.2f} ×)"

    return [
        Row(
            bench=f"cold load of {documents} documents",
            measured=wall["cold"],
            unit="s",
            reference=wall["plain"],
            against=against,
            goal=Goal.FASTER,
            limit=1.6,
            note=f"imports included, and packing them for the next start; {spent('cold')}",
        ),
        Row(
            bench=f"cold load of {documents} documents to the resources of all clusters",
            measured=wall["cold-desired"],
            unit="s",
            reference=wall["plain"],
            against=against + ", which stops at documents",
            note=f"as the first tick of a new program does it; {spent('cold-desired')}",
        ),
        Row(
            bench=f"warm restart: {documents} documents",
            measured=wall["warm"],
            unit="s",
            reference=wall["plain"],
            against=against,
            goal=Goal.AT_MOST,
            limit=0.7,
            note=f"imports included; nothing is parsed, all is checked by the models; {spent('warm')}",
        ),
        Row(
            bench=f"warm restart: {documents} documents to the resources of all clusters",
            measured=wall["warm-desired"],
            unit="s",
            reference=wall["plain"],
            against=against + ", which stops at documents",
            note=f"as the first tick after a restart does it; {spent('warm-desired')}",
        ),
        Row(
            bench=f"memory with {documents} documents",
            measured=held["cold"],
            unit="MB",
            reference=held["plain"],
            against=against,
            goal=Goal.AT_MOST,
            limit=200,
            note=f"whole process, all documents unpacked; highest {peak['cold']:.0f} MB",
        ),
        Row(
            bench=f"memory with {documents} documents and the resources of all clusters",
            measured=held["cold-desired"],
            unit="MB",
            goal=Goal.AT_MOST,
            limit=200,
            note=f"as the engine keeps them, documents packed; highest {peak['cold-desired']:.0f} MB",
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
        library = Library(repo, root / "one")
        head = repo.resolve("main")
        before = repo.clusters(head)
        library.prepare(before)  # the engine is warm
        process = repeated(lambda: run(root / "config.git", "rev-parse", "main"), 20).wall * 1000
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
            folders = [library.current(after[c], c) for c in changed if repo.revision_of(found, c)]
            samples.append((time.perf_counter() - start) * 1000)
            assert changed == [name] and folders[0].desired is not None
            assert folders[0].desired.resources[f"hyperpod.InstanceGroup/{name}/group-0"].spec["count"] == 9
            before = after
        parsed = library.counts.parsed - clusters * FILES
    return [
        Row(
            bench=f"one commit to one of {clusters} clusters, to its resources",
            measured=statistics.median(samples),
            unit="ms",
            reference=process,
            against="starting one git process",
            goal=Goal.AT_MOST,
            limit=10,
            note=f"three files; fetch of a local repository, head, changed clusters, revision, documents, resources; "
            f"fastest {min(samples):.1f} ms, slowest {max(samples):.1f} ms",
        ),
        Row(
            bench=f"files parsed for a commit of three files to one of {clusters} clusters",
            measured=parsed / len(samples),
            unit="",
            reference=3,
            against="those that changed",
            goal=Goal.SAME,
        ),
    ]


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
