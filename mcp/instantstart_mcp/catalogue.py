"""Every tool there is, by group."""

from __future__ import annotations

from typing import Final

from instantstart_mcp.toolkit import ToolValue
from instantstart_mcp.tools import (
    changes,
    changing,
    clusters,
    diagnosis,
    documents,
    editing,
    groups,
    history,
    lifecycle,
    live,
    logs,
    nodes,
    offers,
    ordering,
    plans,
    repair,
    storage,
)

TOOLS: Final[tuple[ToolValue, ...]] = (
    *clusters.TOOLS,
    *offers.TOOLS,
    *lifecycle.TOOLS,
    *history.TOOLS,
    *plans.TOOLS,
    *documents.TOOLS,
    *editing.TOOLS,
    *groups.TOOLS,
    *storage.TOOLS,
    *nodes.TOOLS,
    *repair.TOOLS,
    *live.TOOLS,
    *logs.TOOLS,
    *diagnosis.TOOLS,
    *changes.TOOLS,
    *changing.TOOLS,
    *ordering.TOOLS,
)
