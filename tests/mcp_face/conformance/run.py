"""`make conformance`: the official conformance suite and the MCP Inspector in strict mode against our server.

The suite meets our application with its real door, frame and tools, and what it wants to find itself beside them
(fixtures.py); the Inspector meets it as it is. Results of the suite are left in build/conformance.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mcp_face.conformance import inspector, node_tools, service, suite

RESULTS = inspector.ROOT / "build" / "conformance"


def main() -> int:
    try:
        node_tools.install()
    except node_tools.NoNode as error:
        print(f"MCP conformance is not examined here: {error}.", file=sys.stderr)
        return 0
    except node_tools.NoPackages as error:
        print(f"{error}\nThe MCP tools could not be installed from npm.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        wrong = [*_suite(Path(scratch)), *_inspector(Path(scratch))]
    for one in wrong:
        print(f"  {one}", file=sys.stderr)
    return 1 if wrong else 0


def _suite(scratch: Path) -> list[str]:
    wrong = list[str]()
    for revision in suite.REVISIONS:
        began = time.monotonic()
        told = suite.run(revision, scratch, RESULTS / revision)
        checks = f"{told.passed} checks passed, {told.expected} expected not to, {len(told.wrong)} wrong"
        seconds = time.monotonic() - began
        print(f"conformance {revision}: {told.scenarios} scenarios, {checks} ({seconds:.0f} s)", flush=True)
        wrong += [f"conformance {revision}: {one}" for one in told.wrong]
    return wrong


def _inspector(scratch: Path) -> list[str]:
    began = time.monotonic()
    looks = list(inspector.plan())
    with service.ours(scratch / "inspected") as served, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(inspector.wrong, served, way, era, look, home=scratch) for way, era, look in looks]
        wrong = [
            f"inspector {way} {era} {look}: {flaw}"
            for (way, era, look), one in zip(looks, asked, strict=True)
            if (flaw := one.result())
        ]
    print(f"inspector: {len(looks)} looks, {len(wrong)} wrong ({time.monotonic() - began:.0f} s)", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
