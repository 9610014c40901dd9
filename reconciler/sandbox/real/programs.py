"""The programs of a real Kubernetes API, where somebody has built them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ETCD, API_SERVER, CONTROLLERS = "etcd", "kube-apiserver", "kube-controllers"


class Programs(Protocol):
    """Paths of executables. The controllers are those that no cluster is without: garbage, namespaces, accounts,
    gathered roles."""

    @property
    def etcd(self) -> Path: ...
    @property
    def api_server(self) -> Path: ...
    @property
    def controllers(self) -> Path: ...


@dataclass(frozen=True, kw_only=True)
class Found:
    """`Programs` that are there."""

    etcd: Path
    api_server: Path
    controllers: Path


def programs_in(folder: Path | None) -> Programs:
    """Those in a folder; without one, the newest that `make kube-assets` left. Raises FileNotFoundError."""
    place = folder or _newest()
    absent = [name for name in (ETCD, API_SERVER, CONTROLLERS) if not os.access(place / name, os.X_OK)]
    if absent:
        raise FileNotFoundError(f"no {' and no '.join(absent)} in {place}: make kube-assets builds them")
    return Found(etcd=place / ETCD, api_server=place / API_SERVER, controllers=place / CONTROLLERS)


def _newest() -> Path:
    given = os.environ.get("KUBE_ASSETS_CACHE")
    cache = Path(given) if given else Path.home() / ".cache" / "instantstart" / "kube-assets"
    versions = [place for place in cache.glob("v*") if os.access(place / CONTROLLERS, os.X_OK)]
    return max(versions, key=lambda place: place.stat().st_mtime, default=cache / "v?")
