"""Every tool there is, by group."""

from __future__ import annotations

from typing import Final

from instantstart_mcp.toolkit import ToolValue
from instantstart_mcp.tools import (
    changes,
    clusters,
    documents,
    groups,
    history,
    live,
    logs,
    nodes,
    plans,
    storage,
)

TOOLS: Final[tuple[ToolValue, ...]] = (
    *clusters.TOOLS,
    *history.TOOLS,
    *plans.TOOLS,
    *documents.TOOLS,
    *groups.TOOLS,
    *storage.TOOLS,
    *nodes.TOOLS,
    *live.TOOLS,
    *logs.TOOLS,
    *changes.TOOLS,
)
