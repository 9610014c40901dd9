"""A chart from git at its pinned commit, with the sub-charts it needs.

What comes from documents (repository, path, commit) is checked before git sees it, and stands behind `--`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from reconciler.live.redaction import presentable
from reconciler.resources.control_plane.normal_form import overlaid
from reconciler.resources.drafts import as_list, as_map
from schemas.errors import Refused, StopUntilChange
from schemas.values import JsonObject

GIT_SECONDS = 120
MIRROR = "INSTANTSTART_CHART_MIRROR"
_REPOSITORY = re.compile(r"(?:https://|ssh://|file:///)[\w.@:/~+%\-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KEPT = ("PATH", "HOME", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSH_AUTH_SOCK")
_PASSING = ("could not resolve", "timed out", "connection", "early eof", "rpc failed", "tls", "ssl", "http 5")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Where a chart comes from."""

    repository: str
    path: str
    commit: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """A sub-chart that Chart.yaml names and the repository does not hold."""

    name: str
    version: str
    repository: str


Pull = Callable[[Missing, Path], None]


def chart_of(spec: Mapping[str, Any]) -> Chart:
    """Raises StopUntilChange if a part is not what it should be."""
    chart = Chart(repository=str(spec["repository"]), path=str(spec["path"]), commit=str(spec["commit"]))
    parts = PurePosixPath(chart.path).parts
    if not _REPOSITORY.fullmatch(chart.repository):
        raise _wrong(f"chart.repository {chart.repository!r}: an https, ssh or file URL is expected")
    if not _COMMIT.fullmatch(chart.commit):
        raise _wrong(f"chart.commit {chart.commit!r}: a full commit id is expected")
    if not parts or ".." in parts or chart.path.startswith(("/", "-", ":")):
        raise _wrong(f"chart.path {chart.path!r}: a path inside the repository is expected")
    return chart


def checked_out(chart: Chart, cache_dir: str) -> Path:
    """The chart's directory, fetched once per commit. Raises Refused if the repository cannot be reached now,
    StopUntilChange if it has no such commit or chart."""
    kept = kept_at(chart, cache_dir)
    directory = kept / chart.path
    if not (directory / "Chart.yaml").is_file():
        _fetch(chart, kept)
    if not (directory / "Chart.yaml").is_file():
        raise StopUntilChange(f"{chart.repository} has no Chart.yaml at {chart.path}", reason="ChartNotFound")
    return directory


def kept_at(chart: Chart, cache_dir: str) -> Path:
    """Where a repository lies, as it was at the chart's commit, once it was fetched."""
    place = hashlib.sha256(chart.repository.encode()).hexdigest()[:16]
    return Path(cache_dir) / "charts" / place / chart.commit


def mirrored(repository: str, mirrors: str) -> str:
    """Where a repository is really fetched from. `mirrors`: `<repository>=<mirror>` pairs with white space between
    them, for networks that do not reach the world; the commit id stays the proof of what was fetched."""
    for pair in mirrors.split():
        origin, found, mirror = pair.partition("=")
        if found and origin == repository and _REPOSITORY.fullmatch(mirror):
            return mirror
    return repository


def complete(directory: Path, values: JsonObject, work: Path, pull: Pull) -> Path:
    """A copy of the chart in `work` with all its sub-charts: those switched off by the values are left out, the
    others that the repository does not hold are pulled at the version it names."""
    copy = work / "chart"
    shutil.copytree(directory, copy)
    described = as_map(yaml.safe_load((copy / "Chart.yaml").read_text()))
    values_file = copy / "values.yaml"
    defaults = as_map(yaml.safe_load(values_file.read_text())) if values_file.is_file() else {}
    absent = _absent(described, copy / "charts")
    off = [each for each in absent if switched_off(each, overlaid(defaults, values))]
    if off:
        described["dependencies"] = [d for d in as_list(described.get("dependencies")) if d not in off]
        (copy / "Chart.yaml").write_text(json.dumps(described))  # JSON is YAML
    for each in absent:
        if each not in off:
            (copy / "charts").mkdir(exist_ok=True)
            pull(_missing(each), copy / "charts")
    return copy


def switched_off(dependency: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Helm's rule: the first path of `condition` that the values hold decides; without one the chart is on."""
    for path in str(dependency.get("condition") or "").split(","):
        found: Any = values
        for part in path.strip().split("."):
            found = as_map(found).get(part)
        if isinstance(found, bool):
            return not found
    return False


def _absent(described: Mapping[str, Any], charts: Path) -> list[JsonObject]:
    there = {child.name for child in charts.iterdir()} if charts.is_dir() else set[str]()
    needed = [as_map(each) for each in as_list(described.get("dependencies"))]
    return [each for each in needed if not _held(each, there)]


def _held(dependency: JsonObject, there: set[str]) -> bool:
    """A directory of its name, the one a file:// repository names, or a packed chart."""
    name, repository = str(dependency.get("name")), str(dependency.get("repository") or "")
    local = PurePosixPath(repository.removeprefix("file://")).name if repository.startswith("file://") else name
    packed = f"{name}-{str(dependency.get('version', '')).removeprefix('v')}.tgz"
    return bool(there & {name, local, packed, f"{name}-{dependency.get('version')}.tgz"})


def _missing(dependency: JsonObject) -> Missing:
    found = Missing(
        name=str(dependency.get("name")),
        version=str(dependency.get("version")),
        repository=str(dependency.get("repository") or ""),
    )
    if not found.repository.startswith(("https://", "oci://")):
        raise StopUntilChange(
            f"the chart needs {found.name} {found.version}, which its repository does not hold",
            reason="ChartIncomplete",
        )
    return found


def _fetch(chart: Chart, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        work = Path(scratch) / "repository"
        _git(["init", "--quiet", str(work)])
        source = mirrored(chart.repository, os.environ.get(MIRROR, ""))
        try:
            _git(["-C", str(work), "fetch", "--quiet", "--depth=1", "--no-tags", "--", source, chart.commit])
        except StopUntilChange:
            # Some servers give out branches only.
            heads = "+refs/heads/*:refs/remotes/origin/*"
            _git(["-C", str(work), "fetch", "--quiet", "--no-tags", "--", source, heads])
        _git(["-C", str(work), "checkout", "--quiet", chart.commit, "--", chart.path])
        shutil.rmtree(work / ".git")
        if kept.exists():  # another thread was first, or a half of it is left
            shutil.rmtree(kept)
        work.rename(kept)


def _git(arguments: Sequence[str]) -> None:
    environment = {
        **{
            name: os.environ[name]
            for name in ("PATH", "HOME", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
            if name in os.environ
        },
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "https:ssh:file",
        "LC_ALL": "C",
    }
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false", *arguments]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as slow:
        raise Refused(f"git did not answer within {GIT_SECONDS} s", reason="ChartNotFetched") from slow
    except OSError as error:
        raise StopUntilChange(f"git cannot be started: {error.strerror}", reason="GitMissing") from error
    if done.returncode == 0:
        return
    said = presentable(done.stderr or done.stdout)
    if any(word in said.lower() for word in _PASSING):
        raise Refused(f"the chart could not be fetched: {said}", reason="ChartNotFetched")
    raise StopUntilChange(f"the chart could not be fetched: {said}", reason="ChartNotFound")


def _wrong(message: str) -> StopUntilChange:
    return StopUntilChange(message, reason="InvalidChart")
