"""A sample of `make crash`: one cluster's life in which the engine dies a few dozen times, at points a seed picks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).with_name("campaign.py")
PATIENCE = 1500  # seconds, of a machine that is busy with much else; alone it takes little more than one minute
SEED = 1  # another one picks other points


def test_an_engine_that_dies_again_and_again_makes_the_same_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing twice, nothing lost, the same end."""
    command = [sys.executable, str(CAMPAIGN), "--sample", "--seed", str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    with capsys.disabled():
        print(done.stdout.splitlines()[-2] if done.returncode == 0 else "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b[1-9]\d* kills, [1-9]\d* lives", done.stdout), done.stdout
