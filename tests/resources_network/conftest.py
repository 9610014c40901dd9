"""The sandbox's EC2."""

from __future__ import annotations

from tests.resources_support import clouds, place

__all__ = ["clouds", "place"]
