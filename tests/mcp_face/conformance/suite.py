"""The official conformance suite against our server: every scenario of a revision of the protocol."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Final

import yaml

from tests.mcp_face.conformance import node_tools, service
from tests.mcp_face.conformance.verdict import Checks, Verdict, judged, scenario_of

REVISIONS: Final = ("2025-11-25", "2026-07-28")
EXPECTED: Final = Path(__file__).with_name("expected.yaml")
_SECONDS: Final = 600


def expected(revision: str) -> dict[str, str]:
    """Reasons by name."""
    told: dict[str, dict[str, str]] = yaml.safe_load(EXPECTED.read_text())
    return told[revision]


def run(revision: str, scratch: Path, results: Path) -> Verdict:
    """`results`: a folder that is written anew, for whoever wants to know more."""
    shutil.rmtree(results, ignore_errors=True)
    with service.with_fixtures(scratch / revision) as served:
        told = node_tools.run(
            node_tools.CONFORMANCE,
            "server",
            f"--url={served.url}/mcp",
            "--suite=all",
            f"--spec-version={revision}",
            f"--output-dir={results}",
            "--timeout=120000",  # of a scenario; a busy machine is ten times slower
            seconds=_SECONDS,
        )
    found: dict[str, Checks] = {
        scenario_of(path.parent.name): json.loads(path.read_bytes()) for path in sorted(results.glob("*/checks.json"))
    }
    return judged(found, expected(revision), _listed(revision, told.err))


def _listed(revision: str, said: str) -> list[str]:
    """Raises RuntimeError if the suite knows none: then it has not run."""
    told = node_tools.run(node_tools.CONFORMANCE, "list", "--server", f"--spec-version={revision}", seconds=_SECONDS)
    names = re.findall(r"^ +- (\S+)", told.out, re.MULTILINE)
    if not names:
        raise RuntimeError(f"the conformance suite names no scenario: {told.err or told.out} {said}")
    return names
