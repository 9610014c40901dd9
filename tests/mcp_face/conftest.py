"""Fixtures of the agents' face: the API's services (`api`, `live`), seen through MCP; the sandbox."""

from __future__ import annotations

from tests.api.conftest import api, kube_host, live
from tests.diagnosis.conftest import ward
from tests.engine_support import chart, engine_cloud

__all__ = ["api", "chart", "engine_cloud", "kube_host", "live", "ward"]
