"""Wall time, CPU and memory of work in this process, and of whole processes."""

from __future__ import annotations

import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Run:
    """Seconds, and MB at the highest. `out`: what a process printed."""

    wall: float
    cpu: float
    peak: float = 0.0
    out: str = ""
    code: int = 0


def process(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, ok: Sequence[int] = (0,), where: Path | None = None
) -> Run:
    """Run a program to its end. Output goes through a file, so that nobody waits for a reader."""
    out = (where or Path.cwd()) / "output"
    with out.open("w+") as stream:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=env, cwd=ROOT)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    text = out.read_text(errors="replace")
    if child.returncode not in ok:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {text[-2000:]}")
    return Run(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        peak=usage.ru_maxrss / 1024,
        out=text,
        code=child.returncode,
    )


def python(module: str, *arguments: str, where: Path) -> tuple[Run, Any]:
    """Run a module of the bench in a process of its own; with what its last line says, as JSON."""
    done = process([sys.executable, "-m", f"tests.bench.{module}", *arguments], where=where, env=environment())
    return done, json.loads(done.out.splitlines()[-1])


def environment() -> dict[str, str]:
    """For a Python of its own: bytecode is kept, as an installed wheel has it. The very first start compiles."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"PYTHONPYCACHEPREFIX": str(Path.home() / ".cache" / "instantstart-bench"), **env}


def timed(work: Callable[[], object]) -> Run:
    """One piece of work in this process; CPU of all its threads."""
    cpu, start = time.process_time(), time.perf_counter()
    work()
    return Run(wall=time.perf_counter() - start, cpu=time.process_time() - cpu)


def median(runs: Sequence[Run]) -> Run:
    """Wall and CPU in the middle, memory at the highest."""
    return Run(
        wall=statistics.median(r.wall for r in runs),
        cpu=statistics.median(r.cpu for r in runs),
        peak=max(r.peak for r in runs),
    )


def repeated(work: Callable[[], object], times: int) -> Run:
    return median([timed(work) for _ in range(times)])


def memory_now() -> float:
    """MB that this process holds now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


def memory_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def family_cpu(others: Collection[int] = ()) -> float:
    """CPU seconds of this process, of children that ended, and of children that live (git, mostly) but for `others`:
    servers that were started to be asked."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it went
        if int(fields[1]) == os.getpid() and int(stat.parent.name) not in others:
            living += int(fields[11]) + int(fields[12])
    return time.process_time() + ended.ru_utime + ended.ru_stime + living / _TICK


def machine() -> str:
    """On what this was measured, in one line."""
    model = next((x.partition(":")[2].strip() for x in _lines("/proc/cpuinfo") if x.startswith("model name")), "?")
    memory = next((int(x.split()[1]) for x in _lines("/proc/meminfo") if x.startswith("MemTotal")), 0)
    load = os.getloadavg()[0]
    python_version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{os.cpu_count()} cores, {model}, {memory / 1024**2:.0f} GiB, load {load:.1f} at the start, "
        f"Python {python_version}; client and server share the cores: read the ratios, not the seconds"
    )


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
