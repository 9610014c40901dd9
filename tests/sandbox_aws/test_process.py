"""The sandbox as others meet it: a process found by its endpoint alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest


@pytest.mark.sandbox
def test_it_is_found_by_environment_alone_and_ends_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "reconciler.sandbox", "--rate", "100"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        about = json.loads(process.stdout.readline())
        monkeypatch.setenv("AWS_ENDPOINT_URL", about["endpoint"])
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", about["access_key"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", about["secret_key"])
        monkeypatch.setenv("AWS_DEFAULT_REGION", about["region"])
        monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
        boto: Any = boto3.Session()  # the default session may remember the keys of an earlier test
        assert boto.client("sts").get_caller_identity()["Account"] == about["account"] == "111122223333"
        assert boto.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)
        if process.stdout:
            process.stdout.close()
    assert process.returncode == 0
    assert os.getpid() != process.pid


def test_without_a_real_api_server_it_says_so_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "reconciler.sandbox", "--kubernetes", "real", "--kubernetes-programs"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    said = f"no etcd and no kube-apiserver and no kube-controllers in {tmp_path}: make kube-assets builds them\n"
    assert done.stderr == said
