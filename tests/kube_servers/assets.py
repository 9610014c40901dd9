"""The binaries of a real Kubernetes API: found where they are, or built once per machine from their Go modules.

`python tests/kube_servers/assets.py [--seconds N]` builds what is missing and prints the folder. Needs nothing but
Python and go; `assets/go.mod` says which version. The folder is KUBE_ASSETS_CACHE (default
~/.cache/instantstart/kube-assets) and the version. etcd and kube-apiserver are taken from KUBEBUILDER_ASSETS where
that is set (envtest's convention).
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MODULE = Path(__file__).with_name("assets")
ETCD, API_SERVER, CONTROLLERS = "etcd", "kube-apiserver", "kube-controllers"
PACKAGES = {  # the quick ones first: what is compiled is kept, whatever happens to the others
    ETCD: "go.etcd.io/etcd/server/v3",
    API_SERVER: f"k8s.io/kubernetes/cmd/{API_SERVER}",
    CONTROLLERS: f"./{CONTROLLERS}",
}


class Missing(Exception):
    """The binaries are not there and cannot be made here; the message is one line for a person."""


@dataclass(frozen=True, kw_only=True)
class Assets:
    """Paths of the programs."""

    etcd: Path
    api_server: Path
    controllers: Path


def version() -> str:
    """Of Kubernetes, as go.mod requires it: v1.34.4."""
    found = re.search(r"k8s\.io/kubernetes (v\d+\.\d+\.\d+)", (MODULE / "go.mod").read_text())
    if found is None:
        raise Missing(f"{MODULE / 'go.mod'} names no version of k8s.io/kubernetes")
    return found.group(1)


def folder() -> Path:
    """Where the programs are built to."""
    cache = os.environ.get("KUBE_ASSETS_CACHE") or Path.home() / ".cache" / "instantstart" / "kube-assets"
    return Path(cache) / version()


def find() -> Assets:
    """Raises Missing if they were not built yet."""
    absent = [name for name in PACKAGES if not _is_there(name)]
    if absent:
        raise Missing(f"no {' and no '.join(absent)} of {version()} yet: make kube-assets builds them")
    return Assets(etcd=_place(ETCD), api_server=_place(API_SERVER), controllers=_place(CONTROLLERS))


def build(seconds: float) -> Path:
    """Make what is missing, in at most that many seconds; the next try goes on where this one ended."""
    go = shutil.which("go")
    if go is None and not all(map(_is_there, PACKAGES)):
        raise Missing(f"go is not on the PATH: a real Kubernetes {version()} cannot be built here")
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one build per machine; who waits finds everything done
        ends = time.monotonic() + seconds
        for name, package in PACKAGES.items():
            if not _is_there(name):
                _build_one(str(go), package, _place(name), ends - time.monotonic())
    return folder()


def _place(name: str) -> Path:
    given = os.environ.get("KUBEBUILDER_ASSETS")
    return (Path(given) if given and name != CONTROLLERS else folder()) / name


def _is_there(name: str) -> bool:
    if name == CONTROLLERS and not (_stamp().is_file() and _stamp().read_text() == _source()):
        return False  # or built from another source of ours
    return os.access(_place(name), os.X_OK)


def _stamp() -> Path:
    return folder() / f"{CONTROLLERS}.source"


def _source() -> str:
    files = [MODULE / "go.mod", *sorted((MODULE / CONTROLLERS).iterdir())]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _build_one(go: str, package: str, target: Path, seconds: float) -> None:
    print(f"building {target.name} {version()} ...", file=sys.stderr, flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building-") as scratch:
        made = Path(scratch) / target.name
        command = [go, "build", "-trimpath", "-ldflags", _stamps(), "-o", str(made), package]
        process = subprocess.Popen(command, cwd=MODULE, env=_environment(), stdin=subprocess.DEVNULL, process_group=0)
        try:
            code = process.wait(timeout=max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            raise Missing(f"{target.name} was not built within the time given; another try goes on from here") from None
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=10)
        if code != 0:
            raise Missing(f"go build {package} failed with exit code {code}")
        if target.name == CONTROLLERS:
            _stamp().write_text(_source())
        made.replace(target)
    print(f"built {target.name} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _environment() -> dict[str, str]:
    flags = "-p=2 -mod=readonly -buildvcs=false"
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": flags, "GOTOOLCHAIN": "local", "GOWORK": "off"}


def _stamps() -> str:
    """Without them the server says that it is v0.0.0."""
    major, minor, _ = version().removeprefix("v").split(".")
    values = {"gitVersion": version(), "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=7200.0, help="the longest that building may take")
    try:
        print(build(parser.parse_args().seconds))
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
