"""Helm behind a small interface, and its command line as the one implementation.

Every call names its cluster by a kubeconfig of its own, written for this call alone and readable by us alone. Fixed
arguments; what comes from documents stands in files. Never `--wait`: no node exists yet when the chart goes in.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reconciler.resources.helm.charts import Missing
from reconciler.resources.helm.troubles import verdict
from schemas.errors import LostReply, Refused, StopUntilChange
from schemas.values import JsonObject

HELM_SECONDS = 300
HISTORY = 5


@dataclass(frozen=True, kw_only=True)
class Access:
    """How a cluster is reached: endpoint, CA as base64 of PEM, and a token that is good now."""

    endpoint: str
    ca: str
    token: str

    def __repr__(self) -> str:
        return f"Access({self.endpoint})"


class Helm(Protocol):
    """What the release handler needs of Helm."""

    def upgrade(
        self, access: Access, name: str, namespace: str, chart: Path, values: JsonObject, labels: Mapping[str, str]
    ) -> None:
        """Install or upgrade. Raises Refused, LostReply, StopUntilChange."""
        ...

    def uninstall(self, access: Access, name: str, namespace: str) -> None:
        """Take the release away; content if it is gone."""
        ...

    def pull(self, missing: Missing, into: Path) -> None:
        """One packed sub-chart at its version."""
        ...


class HelmCli:
    """The helm binary."""

    def __init__(self, binary: str, cache_dir: str) -> None:
        self._binary = binary
        self._home = Path(cache_dir) / "helm-home"

    def upgrade(
        self, access: Access, name: str, namespace: str, chart: Path, values: JsonObject, labels: Mapping[str, str]
    ) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            given = Path(scratch) / "values.json"  # JSON is YAML
            given.write_text(json.dumps(values))
            self._run(
                access,
                [
                    "upgrade",
                    "--install",
                    "--create-namespace",
                    f"--namespace={namespace}",
                    f"--values={given}",
                    f"--labels={','.join(f'{k}={v}' for k, v in sorted(labels.items()))}",
                    f"--history-max={HISTORY}",
                    f"--timeout={HELM_SECONDS - 30}s",
                    "--reset-values",
                    "--hide-notes",
                    "--output=json",
                    "--",
                    name,
                    str(chart),
                ],
            )

    def uninstall(self, access: Access, name: str, namespace: str) -> None:
        timeout = f"--timeout={HELM_SECONDS - 30}s"
        # Only with --debug helm says why it could not delete something.
        fixed = ["uninstall", "--debug", "--ignore-not-found", f"--namespace={namespace}", timeout]
        self._run(access, [*fixed, "--", name])

    def pull(self, missing: Missing, into: Path) -> None:
        where = ["--destination", str(into), "--version", missing.version]
        if missing.repository.startswith("oci://"):
            self._run(None, ["pull", *where, "--", f"{missing.repository.rstrip('/')}/{missing.name}"])
        else:
            self._run(None, ["pull", *where, "--repo", missing.repository, "--", missing.name])

    def _run(self, access: Access | None, arguments: Sequence[str]) -> str:
        self._home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            environment = self._environment(scratch)
            if access is not None:
                environment["KUBECONFIG"] = str(_kubeconfig(Path(scratch) / "kubeconfig", access))
            try:
                done = subprocess.run(
                    [self._binary, *arguments],
                    env=environment,
                    cwd=scratch,
                    capture_output=True,
                    text=True,
                    timeout=HELM_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired as slow:
                raise LostReply(f"helm {arguments[0]} did not end in {HELM_SECONDS} s", reason="HelmTimedOut") from slow
            except OSError as error:
                if error.errno == errno.ETXTBSY:
                    # Just unpacked, and a process forked meanwhile still holds the file: it passes in a moment.
                    raise Refused("helm was only just unpacked", reason="HelmBusy", after=1.0) from error
                raise StopUntilChange(f"helm cannot be started: {error.strerror}", reason="HelmMissing") from error
        if done.returncode != 0:
            raise verdict(arguments[0], done.stderr or done.stdout)
        return done.stdout

    def _environment(self, scratch: str) -> dict[str, str]:
        """Nothing of the user's Helm settings, and no plugins."""
        kept = ("PATH", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": scratch,
            "HELM_CACHE_HOME": str(self._home / "cache"),
            "HELM_CONFIG_HOME": str(self._home / "config"),
            "HELM_DATA_HOME": str(self._home / "data"),
            "HELM_DRIVER": "secret",
            "HELM_NO_PLUGINS": "1",
        }


def _kubeconfig(path: Path, access: Access) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "this",
        "clusters": [{"name": "this", "cluster": {"server": access.endpoint, "certificate-authority-data": access.ca}}],
        "users": [{"name": "this", "user": {"token": access.token}}],
        "contexts": [{"name": "this", "context": {"cluster": "this", "user": "this"}}],
    }
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        json.dump(config, out)
    return path
