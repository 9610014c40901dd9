"""Finding and building the real server's programs, without building them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kube_servers import assets

SCRIPT = Path(assets.__file__)


def run(path: Path, cache: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env={"PATH": str(path), "HOME": str(cache), "KUBE_ASSETS_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_without_go_it_says_so_in_one_line(tmp_path: Path) -> None:
    done = run(tmp_path / "nothing", tmp_path / "cache")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"go is not on the PATH: a real Kubernetes {assets.version()} cannot be built here\n"


def test_a_build_ends_in_its_time_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "go", "exec /bin/sleep 50")
    done = run(tmp_path / "bin", tmp_path / "cache", "--seconds", "0.3")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("etcd was not built within the time given")
    assert [each.name for each in (tmp_path / "cache" / assets.version()).iterdir()] == [".lock"]


def test_what_is_built_is_not_built_again(tmp_path: Path) -> None:
    """The programs of envtest serve as well; only the controllers are our own."""
    program(tmp_path / "bin" / "go", 'while [ "$1" != -o ]; do shift; done; echo made > "$2"; chmod +x "$2"')
    for name in (assets.ETCD, assets.API_SERVER):
        program(tmp_path / "envtest" / name, "exit 0")
    given = {"KUBEBUILDER_ASSETS": str(tmp_path / "envtest")}
    path = tmp_path / "bin"
    (path / "chmod").symlink_to("/bin/chmod")
    first = run(path, tmp_path / "cache", **given)
    assert first.returncode == 0, first.stderr
    assert re.findall(r"^built (\S+)", first.stderr, re.MULTILINE) == [assets.CONTROLLERS]
    again = run(tmp_path / "nothing", tmp_path / "cache", **given)
    assert (again.returncode, again.stderr) == (0, "")
    (tmp_path / "cache" / assets.version() / f"{assets.CONTROLLERS}.source").write_text("another source")
    anew = run(path, tmp_path / "cache", **given)
    assert re.findall(r"^built (\S+)", anew.stderr, re.MULTILINE) == [assets.CONTROLLERS]


def test_all_parts_are_of_one_version() -> None:
    """The parts of Kubernetes are published as modules of their own: v0.34.4 beside v1.34.4."""
    text = (assets.MODULE / "go.mod").read_text()
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (k8s\.io/\S+) (v\S+)$", text, re.MULTILINE)
    assert len(replaced) > 20
    assert {version for _, _, version in replaced} == {assets.version().replace("v1.", "v0.")}
    assert all(old == new for old, new, _ in replaced)


@pytest.mark.parametrize("name", ["go.mod", "go.sum"])
def test_no_host_of_a_registry_is_named(name: str) -> None:
    assert "://" not in (assets.MODULE / name).read_text()
