"""Lines of the journal made durable on a remote, in batches of a tick, against one push for each line."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from reconciler.config_repo.records import NotesAppend
from reconciler.config_repo.repo import ConfigRepo
from tests.bench.config_documents import make_repository
from tests.bench.measuring import timed
from tests.bench.rows import Goal, Row, Size
from tests.config_repo.gitbox import run

LINE = json.dumps({"at": "2026-03-01T10:00:00.000Z", "say": "control-plane Ready", "v": 1, "x": "y" * 180})


def main(size: Size = Size.NORMAL) -> list[Row]:
    times = 2 if size is Size.TINY else 10
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        bare = root / "config.git"
        make_repository(bare, 60)
        with ConfigRepo.open(f"file://{bare}", state_dir=root / "state", writer="bench") as repo:
            repo.fetch()
            head = repo.resolve("main")
            one = statistics.median(tick(repo, head, 1, 1) for _ in range(times))
            cluster = statistics.median(tick(repo, head, 1, 100) / 100 for _ in range(times))
            fleet = statistics.median(tick(repo, head, 50, 2) / 100 for _ in range(times))
        reference = statistics.median(one_by_one(root, bare, head, times))
    against = "git notes append and git push for every line"
    return [
        Row(
            bench="a durable line, 100 lines of one cluster in a tick",
            measured=cluster,
            unit="ms",
            reference=reference,
            against=against,
            goal=Goal.FASTER,
            limit=25,
            note=f"{1000 / cluster:,.0f} lines a second",
        ),
        Row(
            bench="a durable line, 2 lines of each of 50 clusters in a tick",
            measured=fleet,
            unit="ms",
            reference=reference,
            against=against,
            goal=Goal.FASTER,
            limit=25,
            note=f"50 refs in one push; {1000 / fleet:,.0f} lines a second",
        ),
        Row(
            bench="a durable line alone",
            measured=one,
            unit="ms",
            reference=reference,
            against=against,
            note="an intent that must be on the remote before its call leaves",
        ),
    ]


def tick(repo: ConfigRepo, head: str, clusters: int, lines: int) -> float:
    """Milliseconds until all lines of all clusters are on the remote."""
    batch = [
        NotesAppend(name=name, expected_tip=repo.notes(name).tip, lines=[(head, LINE)] * lines, subject="x")
        for name in (f"c{n}" for n in range(clusters))
    ]
    done: list[bool] = []
    taken = timed(lambda: done.extend(result.accepted for result in repo.append_notes(batch).values()))
    assert all(done) and len(done) == clusters
    return taken.wall * 1000


def one_by_one(root: Path, bare: Path, head: str, times: int) -> list[float]:
    run(root, "clone", "-q", "--bare", f"file://{bare}", "plain.git")
    plain = root / "plain.git"

    def line() -> None:
        run(plain, "notes", "--ref=plain", "append", "-m", LINE, head)
        run(plain, "push", "-q", "origin", "refs/notes/plain")

    return [timed(line).wall * 1000 for _ in range(times)]


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
