"""A journal of years: 100,000 lines in the notes of 2,000 revisions. What a line more costs, and a restart over it."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reconciler.config_repo.records import NotesAppend
from reconciler.config_repo.repo import ConfigRepo
from reconciler.config_repo.setup import init_repository
from reconciler.engine.memory import Memory
from reconciler.engine.open import remember
from tests.bench.measuring import timed
from tests.bench.rows import Goal, Row, Size
from tests.config_repo.gitbox import run

CLUSTER = "prod"
LINES = 50  # of one revision
# revisions of the long journal, of the short one, lines of one note that is never closed
SHAPES = {Size.TINY: (60, 6, 300), Size.NORMAL: (2000, 20, 20_000), Size.FULL: (2000, 20, 100_000)}


def main(size: Size = Size.NORMAL) -> list[Row]:
    long, short, open_lines = SHAPES[size]
    times = 2 if size is Size.TINY else 15
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        few = Journal(root / "few", short, times)
        many = Journal(root / "many", long, times)
        one = Journal(root / "one", 1, times, open_lines)
    against = f"the same with {short * LINES} lines of {short} revisions"
    title = f"journal of {long * LINES} lines in {long} revisions"
    return [
        Row(
            bench=f"{title}: a line more, durable",
            measured=many.append,
            unit="ms",
            reference=few.append,
            against=against,
            goal=Goal.SHARE,
            limit=2,
            note="a line in the note of the newest revision; a local repository, on disk",
        ),
        Row(
            bench=f"{title}: tick of an engine that knows it",
            measured=many.known,
            unit="ms",
            reference=few.known,
            against=against,
            goal=Goal.SHARE,
            limit=2,
            note="whether others wrote to it",
        ),
        Row(
            bench=f"{title}: read and folded, as after a restart",
            measured=many.restart,
            unit="ms",
            reference=few.restart * long / short,
            against=f"{against}, times {long / short:g}",
            goal=Goal.SHARE,
            limit=1,
            note=f"{many.restart * 1000 / (long * LINES):.1f} µs a line",
        ),
        Row(
            bench=f"one note of {open_lines} lines: a line more, durable",
            measured=one.append,
            unit="ms",
            reference=few.append,
            against=against,
            note="a note is one blob: its length counts, in git's format of notes there is no way around it",
        ),
    ]


class Journal:
    """One cluster's journal, written in batches, and what it then costs, in milliseconds."""

    def __init__(self, root: Path, revisions: int, times: int, lines: int = LINES) -> None:
        bare = root / "config.git"
        init_repository(bare, {"clusters/prod/cluster.yaml": b"kind: Cluster\n"})
        shas = _commits(bare, revisions)
        with ConfigRepo.open(str(bare), state_dir=root, writer="bench") as repo:
            written = _lines(shas, run(bare, "rev-parse", "main:clusters/prod").decode().strip(), lines)
            done = 0
            while batch := [line for _, line in zip(range(10_000), written, strict=False)]:
                _append(repo, batch)
                done += len(batch)
            newest = shas[-1]
            stage = '"say":"","v":1,"seq":{},"roll":{},"t":"stage","stage":"compute","state":"Ready"'
            samples: list[float] = []
            for _ in range(times):
                done += 1
                line = '{"at":"2026-03-01T10:00:00.000Z",' + stage.format(done, revisions) + "}"
                samples.append(timed(lambda line=line: _append(repo, [(newest, line)])).wall * 1000)  # type: ignore[misc]
            self.append = statistics.median(samples)
        run(bare, "gc", "-q")
        with ConfigRepo.open(str(bare), state_dir=root, writer="bench") as repo:
            repo.journal_tip(CLUSTER)
            memories: dict[str, Memory] = {}
            self.restart = timed(lambda: remember(repo, CLUSTER, memories)).wall * 1000
            assert (memories[CLUSTER].fold.seq, memories[CLUSTER].fold.broken) == (done, None)
            self.known = statistics.median(
                timed(lambda: remember(repo, CLUSTER, memories)).wall * 1000 for _ in range(times)
            )


def _append(repo: ConfigRepo, lines: list[tuple[str, str]]) -> None:
    item = NotesAppend(name=CLUSTER, expected_tip=repo.journal_tip(CLUSTER), lines=lines, subject="x")
    assert repo.append_notes([item])[CLUSTER].accepted


def _commits(bare: Path, revisions: int) -> list[str]:
    parts = [b"reset refs/heads/main\n"]
    for number in range(revisions):
        data = b"kind: Cluster\n# %d\n" % number
        parts.append(
            b"commit refs/heads/main\ncommitter x <x@example.com> %d +0000\ndata 1\nx\n" % (1_790_000_000 + number)
        )
        parts.append(b"M 100644 inline clusters/prod/cluster.yaml\ndata %d\n%s\n" % (len(data), data))
    run(bare, "fast-import", "--quiet", "--force", stdin=b"".join(parts))
    return run(bare, "rev-list", "--reverse", "--first-parent", "main").decode().split()[-revisions:]


def _lines(shas: list[str], tree: str, lines: int) -> Iterator[tuple[str, str]]:
    """A rollout for each revision, then ops that begin and end. `tree`: the input of the newest."""
    seq = 0
    for roll, sha in enumerate(shas, start=1):
        for number in range(lines):
            seq += 1
            head = f'{{"at":"2026-03-01T10:00:00.000Z","say":"count 2 to 4","v":1,"seq":{seq},"roll":{roll},"t":'
            if number == 0:
                yield (
                    sha,
                    f'{head}"rollout","rev":"{sha}","input":"{tree}","writer":"bench","plan":{{"update":1}},"kinds":["eks.Cluster"]}}',
                )
            elif number % 2 == 1:
                op = f"01KJMD{seq:020d}"
                yield (
                    sha,
                    (
                        f'{head}"op","op":"{op}","phase":"intent","key":"hyperpod.InstanceGroup/prod/system","lane":'
                        f'"hyperpod/prod","verb":"update","call":"sagemaker:UpdateCluster","class":"convergent"}}'
                    ),
                )
            else:
                op = f"01KJMD{seq - 1:020d}"
                yield sha, f'{head}"op","op":"{op}","phase":"succeeded","attempt":1,"how":"reply"}}'


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
