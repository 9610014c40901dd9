from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.clibox import ALICE, CliBox, make


@pytest.fixture(autouse=True)
def nobody_but_alice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration, credential or variable of this machine."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "INSTANTSTART_", "GIT_"))]:
        if name != "INSTANTSTART_GOLDEN":
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_AUTHOR_NAME", ALICE[0])
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", ALICE[1])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("INSTANTSTART_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("INSTANTSTART_WRITER", "test")


@pytest.fixture
def box(tmp_path: Path) -> Iterator[CliBox]:
    yield make(tmp_path)
