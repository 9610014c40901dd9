"""A sample of `make crash`: lives of clusters in which the engine dies a few dozen times, at points a seed picks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).with_name("campaign.py")
PATIENCE = 1500  # seconds, of a machine that is busy with much else; alone it takes little more than one minute
SEED = 1  # another one picks other points


@pytest.mark.parametrize(("kind", "percent"), [("remote", 6), ("adopt", 12)])
def test_an_engine_that_dies_again_and_again_comes_to_the_same_end(
    capsys: pytest.CaptureFixture[str], kind: str, percent: int
) -> None:
    """Nothing twice, nothing lost: a cluster that is made, and one that is taken over and let go of."""
    command = [sys.executable, str(CAMPAIGN), "--sample", "--seed", str(SEED)]
    command += ["--kind", kind, "--percent", str(percent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    with capsys.disabled():
        print(done.stdout.splitlines()[-2] if done.returncode == 0 else "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b[1-9]\d* kills, [1-9]\d* lives", done.stdout), done.stdout
