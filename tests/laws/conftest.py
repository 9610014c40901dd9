"""Fixtures of the engine's tests."""

from __future__ import annotations

from tests.engine_support import chart, engine_cloud, site

__all__ = ["chart", "engine_cloud", "site"]
