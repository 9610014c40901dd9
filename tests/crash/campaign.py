"""Crash anywhere: kill the engine before and after every journal write, push, send, request and reply, and see that
it comes to the same end. `python tests/crash/campaign.py [--sample] [--seed N] [--minutes M]`.

Four workers, each with a sandbox of its own: the engine on a remote repository, the engine on a folder, the command
`serve` killed from outside, and an engine that adopts what was made by hand. Runs follow until one meets no point at
which nobody has died. A sample is one run of one worker, the first if none is named, in which a seeded part of the
points kills.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from reconciler.resources.helm.binary import find_helm  # noqa: E402  # run as a script, by its path
from reconciler.sandbox.chart import make_chart_repository  # noqa: E402
from tests.crash.adoption import AdoptionRun  # noqa: E402
from tests.crash.life import live  # noqa: E402
from tests.crash.points import Book, shared  # noqa: E402
from tests.crash.run import Plan, Report, Run  # noqa: E402
from tests.crash.serving import Serve  # noqa: E402
from tests.engine_support import Sandbox  # noqa: E402

RATE = 300.0
MINUTES = 28.0
STRIDES = (8, 2, 1, 1, 1, 1, 1)  # from long lives to lives of one point
KINDS = ("remote", "local", "serve", "adopt")
MOST_TOLD = 40
SHARING = ("remote", "local")  # workers that share the points of sending
SERVE_KILLS = {"create": 24, "change": 4, "reboot": 4, "teardown": 8}


@dataclass(frozen=True, kw_only=True)
class Asked:
    sample: bool
    percent: int
    seed: int
    rate: float
    minutes: float | None
    kind: str | None
    only: str


def main() -> int:
    asked = _arguments()
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(143))  # what was started is ended
    if asked.sample:
        return Campaign(asked=asked, kind=asked.kind or "remote").run()
    if asked.kind is not None:
        return Campaign(asked=asked, kind=asked.kind).run()
    began = time.monotonic()
    workers = [subprocess.Popen([sys.executable, *sys.argv, "--kind", kind]) for kind in KINDS]
    try:
        codes = [worker.wait() for worker in workers]
    finally:
        for worker in workers:
            worker.terminate()
    print(f"crash: {'all well' if not any(codes) else 'FAILED'} after {time.monotonic() - began:.0f} s")
    return max(map(abs, codes))


@dataclass(kw_only=True)
class Campaign:
    """One kind of repository, or of process, and its own sandbox."""

    asked: Asked
    kind: str
    began: float = field(default_factory=time.monotonic)
    reports: list[Report] = field(default_factory=list[Report])

    def run(self) -> int:
        """0 if everything held and no point is left; what a given time did not reach is only told."""
        self._tell(f"seed {self.asked.seed}, clock rate {self.asked.rate:g}")
        with (
            tempfile.TemporaryDirectory(prefix="crash-", ignore_cleanup_errors=True) as name,
            cloud(self.asked.rate) as sandbox,
        ):
            folder = Path(name)
            os.environ["INSTANTSTART_HELM"] = find_helm(str(folder / "helm"))
            book = Book(path=folder / "book")
            book.path.touch()
            chart = make_chart_repository(folder / "chart")
            left = self._runs(sandbox, folder, chart, book)
        self._show(book)
        for point in left[:MOST_TOLD]:
            self._tell(f"LEFT: {point}")
        short = bool(left) and self.asked.minutes is None
        return 1 if short or any(report.wrong for report in self.reports) else 0

    def _runs(self, sandbox: Sandbox, folder: Path, chart: tuple[str, str, str], book: Book) -> list[str]:
        """The points left at the end."""
        asked = self.asked
        alone = asked.sample or asked.only or self.kind == "adopt"
        index = KINDS.index(self.kind) if self.kind in SHARING and not alone else 0
        of = 1 if alone else len(SHARING)
        owned = shared(index, of, asked.percent if asked.sample else 100, asked.seed, asked.only)
        deadline = self.began + (asked.minutes or MINUTES) * 60
        chance = random.Random(asked.seed * 10 + KINDS.index(self.kind))
        serve = Serve(sandbox=sandbox, random=chance)

        def one(stride: int, pattern: Report | None) -> Report:
            plan = Plan(
                stride=stride,
                deadline=deadline,
                remote=self.kind in ("remote", "adopt"),
                owned=owned,
                random=chance,
                live=serve.live if self.kind == "serve" else live,
            )
            made = (AdoptionRun if self.kind == "adopt" else Run)(
                sandbox=sandbox,
                rate=asked.rate,
                folder=folder / f"run-{len(self.reports)}",
                chart=chart,
                plan=plan,
                book=book,
                pattern=pattern,
                tell=self._tell,
            )
            book.met.clear()
            self.reports.append(made.play())
            return self.reports[-1]

        self._tell("a run without kills")
        pattern = one(0, None)
        strides = (0,) if self.kind == "serve" else (2,) if asked.sample else STRIDES
        for number, stride in enumerate(strides, 1):
            if self.reports[-1].wrong or time.monotonic() > deadline:
                break
            serve.kills = Counter(SERVE_KILLS)
            self._tell(f"run {number}" + (f", a kill at every {stride}. point on average" if stride else ""))
            report = one(stride, pattern)
            left = book.left(owned)
            rare = len(book.rare(owned))
            counts = f"{report.kills} kills in {report.seconds:.0f} s, {len(left)} points left, {rare} not met again"
            self._tell(f"run {number}: {counts}")
            if not left:
                break
        return [] if asked.sample or self.kind == "serve" else book.left(owned)

    def _show(self, book: Book) -> None:
        killed = self.reports[1:]
        kinds = Counter(point.split(" | ")[1] for point in book.killed)
        if kinds:
            self._tell("killed at " + ", ".join(f"{number} x {kind}" for kind, number in sorted(kinds.items())))
        effects: Counter[str] = Counter()
        for report in killed:
            for what, number in report.effects.items():
                effects[what.partition(" ")[0]] += number
        self._tell(
            f"{len(killed)} runs, {len(book.seen)} points seen, {len(book.killed)} killed at; "
            f"{sum(r.kills for r in killed)} kills, {sum(r.lives for r in killed)} lives, "
            f"{sum(r.machines for r in killed)} of them on a new disk, "
            f"{sum(r.resolved for r in killed)} ops told by a person; "
            f"{sum(r.lines for r in killed)} journal lines, {sum(r.requests for r in killed)} requests; effects: "
            + ", ".join(f"{number} {verb}" for verb, number in sorted(effects.items()))
        )
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        self._tell(f"{sum(one.ru_utime + one.ru_stime for one in used):.0f} s of CPU, sandbox included")

    def _tell(self, text: str) -> None:
        print(f"{self.kind} {time.monotonic() - self.began:4.0f} s: {text}", flush=True)


@contextmanager
def cloud(rate: float) -> Generator[Sandbox]:
    command = [sys.executable, "-m", "reconciler.sandbox", "--port", "0", "--rate", str(rate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        try:
            yield Sandbox(endpoint=told["endpoint"], origin=told["origin"])
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _arguments() -> Asked:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", action="store_true", help="one run, a part of the points")
    parser.add_argument("--percent", type=int, default=6, help="how many of the points kill in a sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument(
        "--minutes", type=float, help=f"nobody is killed after so long ({MINUTES:g}: all are to be reached)"
    )
    parser.add_argument("--kind", choices=KINDS, help="one worker only")
    parser.add_argument("--only", default="", help="kill only at points that this regular expression matches")
    return Asked(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
