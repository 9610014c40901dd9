"""How fast the config repository is read and journalled. Prints one JSON line.

20,000 documents in 1,000 clusters, made by fast-import. References are measured in the same run: one process per
question for reads, `git notes append` and a push for each line of the journal.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from reconciler.config_repo.records import NotesAppend
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from tests.config_repo.gitbox import ALICE, run

CLUSTERS, FILES = 1000, 20


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder))))


def measure(root: Path) -> dict[str, float]:
    bare = root / "config.git"
    init_repository(bare, {"README.md": b"x"})
    run(bare, "fast-import", "--quiet", "--force", stdin=stream())
    run(bare, "gc", "-q")
    result: dict[str, float] = {}
    with ConfigRepo.open(str(bare), state_dir=root, writer="bench") as repo:
        head = repo.resolve("main")
        result["cold_load_20000_ms"] = once(lambda: load(repo, head))
        result["first_revision_of_ms"] = once(lambda: repo.revision_of(head, "c0"))
        samples: list[float] = []
        for number in range(30):
            before = repo.clusters(head)
            changes: dict[str, bytes | None] = {f"clusters/c{number}/f{n}.yaml": b"changed %d" % n for n in range(3)}
            head = repo.commit(onto=head, changes=changes, message="x", author=ALICE)
            samples.append(once(lambda h=head, b=before: changed(repo, h, b)))  # type: ignore[misc]
        result["one_cluster_commit_ms"] = round(statistics.median(samples), 2)
        result["reference_git_process_ms"] = round(
            statistics.median(once(lambda: run(bare, "rev-parse", "main")) for _ in range(20)), 2
        )
        result |= journal(repo, head, "local")
    with ConfigRepo.open(f"file://{bare}", state_dir=root, writer="bench") as repo:
        repo.fetch()
        result |= journal(repo, head, "remote")
        result["fetch_nothing_new_ms"] = round(statistics.median(once(repo.fetch) for _ in range(5)), 2)
    result["reference_append_and_push_line_ms"] = reference(root, bare, head)
    per_line = result["remote_batch_100_ms"] / 100
    result["lines_times_reference"] = round(result["reference_append_and_push_line_ms"] / per_line, 1)
    return result


def load(repo: ConfigRepo, head: str) -> None:
    files = repo.files(head, "clusters")
    assert len(repo.blobs(f.blob for f in files)) > 0
    assert len(files) == CLUSTERS * FILES


def changed(repo: ConfigRepo, head: str, before: dict[str, str]) -> None:
    """What a tick does after a commit: which clusters changed, at which revision, and their files."""
    after = repo.clusters(head)
    for cluster in {name for name, tree in after.items() if before.get(name) != tree}:
        assert repo.revision_of(head, cluster) == head
        assert len(repo.blobs(f.blob for f in repo.files(head, f"clusters/{cluster}"))) > 0


def journal(repo: ConfigRepo, head: str, place: str) -> dict[str, float]:
    line = json.dumps({"at": "2026-03-01T10:00:00.000Z", "say": "control-plane Ready", "v": 1, "x": "y" * 180})
    result: dict[str, float] = {}
    for lines in (1, 100):
        samples: list[float] = []
        for _ in range(10):
            tip = repo.notes("c1").tip
            item = NotesAppend(cluster="c1", expected_tip=tip, lines=[(head, line)] * lines, subject="x")
            samples.append(once(lambda i=item: repo.append_notes([i])))  # type: ignore[misc]
        result[f"{place}_batch_{lines}_ms"] = round(statistics.median(samples), 2)
    tips = [repo.notes(f"c{n}").tip for n in range(10, 60)]
    batch = [
        NotesAppend(cluster=f"c{n}", expected_tip=tip, lines=[(head, line)], subject="x")
        for n, tip in zip(range(10, 60), tips, strict=True)
    ]
    result[f"{place}_batch_50_clusters_ms"] = once(lambda: repo.append_notes(batch))
    return result


def reference(root: Path, bare: Path, head: str) -> float:
    run(root, "clone", "-q", "--bare", f"file://{bare}", "plain.git")
    plain, samples = root / "plain.git", list[float]()
    for _ in range(10):
        start = time.perf_counter()
        run(plain, "notes", "--ref=plain", "append", "-m", "x" * 250, head)
        run(plain, "push", "-q", "origin", "refs/notes/plain")
        samples.append((time.perf_counter() - start) * 1000)
    return round(statistics.median(samples), 2)


def once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return round((time.perf_counter() - start) * 1000, 2)


def stream() -> bytes:
    """A fast-import stream: one commit with all documents."""
    parts = [b"commit refs/heads/main\ncommitter x <x@example.com> 1790000000 +0000\ndata 1\nx\n"]
    for cluster in range(CLUSTERS):
        for number in range(FILES):
            data = b"kind: InstanceGroup\nname: g%d-%d\n" % (cluster, number) + b"# filler\n" * 65
            parts.append(b"M 100644 inline clusters/c%d/f%d.yaml\ndata %d\n%s\n" % (cluster, number, len(data), data))
    return b"".join(parts)


if __name__ == "__main__":
    main()
