"""What agents are promised: every tool as it goes over the wire, and its whole answer.

`python tests/mcp_face/snapshot.py` writes it anew; the difference is read in the review.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

from instantstart_mcp import catalogue, portable
from instantstart_mcp.toolkit import ToolValue, made

FILE = Path(__file__).with_name("tools.json")


def wire(value: ToolValue) -> dict[str, Any]:
    """As tools/list gives it."""
    tool = made(value)
    assert tool.annotations is not None
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def snapshot() -> str:
    told = {
        value.name: {
            "needs": value.needs,
            **wire(value),
            "wholeAnswer": portable.whole_output(get_type_hints(value.function)["return"]),
        }
        for value in catalogue.TOOLS
    }
    return json.dumps(dict(sorted(told.items())), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(snapshot())
