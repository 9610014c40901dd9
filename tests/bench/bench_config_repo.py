"""How fast the config repository is read: 20,000 files in 1,000 clusters, all of them, and after one commit."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from reconciler.config_repo.repo import ConfigRepo
from tests.bench.config_documents import FILES, group_document, make_repository
from tests.bench.measuring import repeated, timed
from tests.bench.rows import Goal, Row, Size
from tests.config_repo.gitbox import ALICE, run


def main(size: Size = Size.NORMAL) -> list[Row]:
    clusters = 10 if size is Size.TINY else 1000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        bare = root / "config.git"
        make_repository(bare, clusters)
        process = repeated(lambda: run(bare, "rev-parse", "main"), 20).wall * 1000
        with ConfigRepo.open(str(bare), state_dir=root, writer="bench") as repo:
            rows = [everything(repo, bare, clusters), one_commit(repo, clusters, process)]
        with ConfigRepo.open(f"file://{bare}", state_dir=root, writer="bench") as repo:
            repo.fetch()
            fetch = repeated(repo.fetch, 5).wall * 1000
        asked = repeated(lambda: run(root, "ls-remote", f"file://{bare}"), 5).wall * 1000
    nothing_new = Row(
        bench="fetch of a remote with nothing new",
        measured=fetch,
        unit="ms",
        reference=asked,
        against="git ls-remote",
        note="every tick begins with it",
    )
    return [*rows, nothing_new]


def everything(repo: ConfigRepo, bare: Path, clusters: int) -> Row:
    """All contents, in the second of two runs: the first starts the git process that answers."""

    def load() -> None:
        head = repo.resolve("main")
        files = repo.files(head, "clusters")
        assert len(files) == clusters * FILES
        assert len(repo.blobs(file.blob for file in files)) > 0

    def archive() -> None:
        run(bare, "archive", "main", "clusters")

    load()
    return Row(
        bench=f"read {clusters * FILES} files of one revision",
        measured=repeated(load, 3).wall * 1000,
        unit="ms",
        reference=repeated(archive, 3).wall * 1000,
        against="git archive",
    )


def one_commit(repo: ConfigRepo, clusters: int, process: float) -> Row:
    """What a tick does after a commit: which clusters changed, at which revision, and their files."""
    head = repo.resolve("main")
    repo.revision_of(head, "c0")
    samples: list[float] = []

    def look(before: dict[str, str]) -> None:
        after = repo.clusters(head)
        for cluster in {name for name, tree in after.items() if before.get(name) != tree}:
            assert repo.revision_of(head, cluster) == head
            assert len(repo.blobs(file.blob for file in repo.files(head, f"clusters/{cluster}"))) > 0

    for number in range(min(30, clusters)):
        before = repo.clusters(head)
        changes: dict[str, bytes | None] = {
            f"clusters/c{number}/group-{n}.yaml": group_document(f"group-{n}", n, 7).encode() for n in range(3)
        }
        head = repo.commit(onto=head, changes=changes, message="x", author=ALICE)
        samples.append(timed(lambda before=before: look(before)).wall * 1000)  # type: ignore[misc]
    return Row(
        bench=f"files of the one of {clusters} clusters that changed",
        measured=statistics.median(samples),
        unit="ms",
        reference=process,
        against="starting one git process",
        goal=Goal.AT_MOST,
        limit=5,
        note="half of what a commit may take to its resources",
    )


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
