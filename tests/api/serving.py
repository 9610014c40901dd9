"""`instantstart serve` as a process of its own, as a person starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.clibox import ALICE, CliBox
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


def environment(**more: str) -> dict[str, str]:
    """Nothing of this machine's person, cloud or settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "INSTANTSTART_", "GIT_"))}
    nobody = {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": ALICE[0],
        "GIT_AUTHOR_EMAIL": ALICE[1],
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "mcp")]),
        "PYTHONUNBUFFERED": "1",
    }
    return kept | nobody | more


@dataclass(kw_only=True)
class Serving:
    """Started when it is made; `said` is all that it printed so far."""

    box: CliBox
    port: int = 0
    words: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])
    said: str = ""

    def __post_init__(self) -> None:
        told = ["-r", str(self.box.path), "--state-dir", str(self.box.state)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "web", "serve", "--port", str(self.port), *told, *self.words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(**self.env),
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_for(self, form: str, seconds: float = PATIENCE) -> re.Match[str]:
        end = time.monotonic() + seconds
        while True:
            found = re.search(form, self.said)
            if found:
                return found
            assert time.monotonic() < end and self.process.poll() is None, self.said
            time.sleep(0.02)

    @property
    def url(self) -> str:
        return self.wait_for(r"on (http://127\.0\.0\.1:\d+)\.")[1]

    def stop(self, name: signal.Signals = signal.SIGTERM) -> float:
        """Seconds until it has ended."""
        began = time.monotonic()
        self.process.send_signal(name)
        self.process.wait(PATIENCE)
        took = time.monotonic() - began
        self._reader.join(PATIENCE)
        return took

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
