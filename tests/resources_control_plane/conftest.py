"""The sandbox's EKS."""

from __future__ import annotations

from tests.resources_support import clouds, place

__all__ = ["clouds", "place"]
