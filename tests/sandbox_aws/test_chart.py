"""The chart the sandbox serves: one commit everywhere, and a sign of life that HyperPod looks for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reconciler.sandbox.chart import make_chart_repository


def test_the_commit_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    url, inside, commit = make_chart_repository(tmp_path / "one")
    _, _, again = make_chart_repository(tmp_path / "two")
    assert commit == again
    assert len(commit) == 40
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", url, str(clone)], check=True, capture_output=True, timeout=120)
    assert "version: 0.1.0" in (clone / inside / "Chart.yaml").read_text()
    assert (clone / inside / "templates" / "health-monitoring-agent.yaml").exists()
    with pytest.raises(FileExistsError):
        make_chart_repository(tmp_path / "one")
