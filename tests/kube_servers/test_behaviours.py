"""The table of behaviours is what the marks say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.kube_servers import behaviours

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("BEHAVIOURS.md")


def test_it_is_not_stale(tmp_path: Path) -> None:
    """make behaviours writes it anew."""
    made = tmp_path / "made.md"
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", f"--behaviours={made}", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [*command, *paths()], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert made.read_text() == TABLE.read_text(), "the marks changed: make behaviours"


def test_every_difference_has_a_reason() -> None:
    rows = [line.split(" | ") for line in TABLE.read_text().splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 20
    for row in rows:
        cells = [cell.strip("| ") for cell in row]
        assert len(cells) == 3 and all(re.match(r"\d|– \S", cell) for cell in cells[1:]), row


def paths() -> list[str]:
    """What `make test-kubernetes` runs, as the Makefile says."""
    command = ["make", "-s", "--no-print-directory", "kubernetes-tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.split()


def test_a_row_counts_what_runs_where() -> None:
    row = behaviours.Row(simulated=2, real=1, why_not_real=["no kubelet"])
    assert row.cells() == ("2", "1 (not 1: no kubelet)")
    row = behaviours.Row(simulated=0, real=3, why_not_simulated=["too dear", "too dear"])
    assert row.cells() == ("– too dear", "3")
