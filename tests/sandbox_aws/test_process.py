"""The sandbox as others meet it: a process found by its endpoint alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import boto3
import pytest


@pytest.mark.sandbox
def test_starts_soon_and_is_found_by_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "reconciler.sandbox", "--rate", "100"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        about = json.loads(process.stdout.readline())
        assert time.monotonic() - began < 10  # 4 s on a quiet machine
        monkeypatch.setenv("AWS_ENDPOINT_URL", about["endpoint"])
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", about["access_key"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", about["secret_key"])
        monkeypatch.setenv("AWS_DEFAULT_REGION", about["region"])
        boto: Any = boto3
        assert boto.client("sts").get_caller_identity()["Account"] == about["account"] == "111122223333"
        assert boto.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
        if process.stdout:
            process.stdout.close()
    assert process.returncode == 0
    assert os.getpid() != process.pid
