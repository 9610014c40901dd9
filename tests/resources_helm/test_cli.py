"""Starting helm: what passes in a moment is told from what does not."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from reconciler.resources.helm.cli import Access, HelmCli
from schemas.errors import Refused, StopUntilChange

ACCESS = Access(endpoint="https://127.0.0.1:1", ca=base64.b64encode(b"ca").decode(), token="t")


def test_a_binary_that_is_still_being_written_is_later_and_one_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """A process forked while helm was unpacked holds the file open for writing: the kernel says "text file busy"."""
    binary = tmp_path / "helm"
    binary.write_text("#!/bin/sh\nexit 0\n")
    binary.chmod(0o755)
    helm = HelmCli(str(binary), str(tmp_path))
    with binary.open("a"), pytest.raises(Refused) as busy:
        helm.uninstall(ACCESS, "release", "kube-system")
    assert busy.value.reason == "HelmBusy"
    helm.uninstall(ACCESS, "release", "kube-system")
    binary.unlink()
    with pytest.raises(StopUntilChange):
        helm.uninstall(ACCESS, "release", "kube-system")
