"""Commands that run: reconcile and serve on a repository, without a cloud."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

from tests.cli.clibox import CLUSTER, CliBox

GROUPS = "clusters/demo/groups.yaml"


def test_reconcile_once_prints_the_journal_as_it_is_written(box: CliBox) -> None:
    box.commit({GROUPS: box.text(GROUPS).replace("count: 2", "count: two")})
    said = box.call("reconcile", "--once")
    assert said.code == 1, "a cluster whose documents are wrong is Stalled"
    assert "validate Failed (Invalid)" in said.out and "expected a whole number" in said.out
    assert box.call("status", CLUSTER, "--json").json["condition"] == "Stalled"
    again = box.call("reconcile", "--json")
    assert again.code == 1 and again.json["settled"] and again.json["lines"] == 0


def test_reconcile_of_a_cluster_that_is_not_there(box: CliBox) -> None:
    said = box.call("reconcile", "--cluster", "prod")
    assert said.code == 1 and "there is: demo" in said.err


def test_serve_until_sigterm(box: CliBox) -> None:
    box.commit({GROUPS: box.text(GROUPS).replace("count: 2", "count: two")})
    process = subprocess.Popen(
        [sys.executable, "-m", "web", "serve", "--port", "0", "-r", str(box.path), "--state-dir", str(box.state)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + 120
        while not box.git("for-each-ref", "refs/notes/instantstart"):
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert (
        out.startswith("Serving ") and "validate Failed" in out and out.rstrip().endswith("the journal has everything.")
    )
