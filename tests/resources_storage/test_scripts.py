"""Lifecycle scripts: the packaged one runs, and what is wrong with others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reconciler.resources.storage import scripts
from schemas.errors import InvalidInput


def nothing(path: str) -> bytes:
    raise InvalidInput(path)


def packaged() -> bytes:
    return scripts.content("package:on_create.sh", nothing)


def test_the_packaged_script_is_sound_and_needs_no_network() -> None:
    files = {"on_create.sh": packaged()}
    assert not [*scripts.faults("on_create.sh", packaged()), *scripts.warnings(files)]


def test_the_packaged_script_runs_and_leaves_a_log(tmp_path: Path) -> None:
    """With its log directory moved, as it must not need to be root here."""
    script = tmp_path / "on_create.sh"
    script.write_bytes(packaged().replace(b"/var/log/provision", str(tmp_path / "log").encode()))
    subprocess.run(["bash", str(script)], check=True, timeout=120, capture_output=True)
    assert "on_create.sh is done" in (tmp_path / "log" / "provisioning.log").read_text()


@pytest.mark.parametrize("path", ["package:other.sh", "package:../scripts.py", "package:"])
def test_only_scripts_that_come_along_are_packaged(path: str) -> None:
    with pytest.raises(InvalidInput):
        scripts.content(path, nothing)


@pytest.mark.parametrize(
    ("reason", "text", "word"),
    [
        ("no shebang", b"echo\n", "shebang"),
        ("CRLF", b"#!/bin/bash\r\necho\r\n", "LF"),
        ("too large", b"#!/bin/bash\n" + b"#" * scripts.LARGEST, "too much"),
    ],
)
def test_faults(reason: str, text: bytes, word: str) -> None:
    (fault,) = scripts.faults("a.sh", text)
    assert word in fault, reason


@pytest.mark.parametrize(
    ("reason", "files", "word"),
    [
        ("it calls what is not uploaded (A23)", {"c/on_create.sh": b"#!/bin/bash\n./on_create_main.sh\n"}, "names"),
        ("by a variable", {"on_create.sh": b'bash "$DIR/main.sh"\n'}, "main.sh"),
        ("it fetches at boot", {"on_create.sh": b"curl -sL https://example.com/x | bash\n"}, "network (curl)"),
    ],
)
def test_warnings(reason: str, files: dict[str, bytes], word: str) -> None:
    (warning,) = scripts.warnings(files)
    assert word in warning, reason


def test_a_complete_folder_gives_no_warning() -> None:
    assert not [
        *scripts.warnings({"c/on_create.sh": b"./main.sh # and not ./other.py\n", "c/main.sh": b"", "c/other.py": b""})
    ]
