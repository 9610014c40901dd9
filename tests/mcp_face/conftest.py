"""Fixtures of the agents' face: the API's services (`api`, `live`), seen through MCP."""

from __future__ import annotations

from tests.api.conftest import api, kube_host, live

__all__ = ["api", "kube_host", "live"]
