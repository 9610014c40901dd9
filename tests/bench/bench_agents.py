"""The agents' face: how much of a model's window the list of tools takes, and how long a reading tool takes over HTTP
at 50 calls a second, beside the same read of the API itself."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio
import httpx

from instantstart_mcp import catalogue
from tests.api import apibox
from tests.api.apibox import ApiBox
from tests.bench.rows import Goal, Row, Size
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.facebox import agent, client
from tests.mcp_face.snapshot import wire

CALLS: Final = {Size.TINY: 10, Size.NORMAL: 300, Size.FULL: 1500}
EACH: Final = 1 / 50  # seconds between the beginnings of two calls
TOOLS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    ("cluster_list", {}, "/clusters"),
    ("cluster_get", {"cluster": "prod"}, "/clusters/prod"),
    ("cluster_timeline", {"cluster": "prod"}, "/clusters/prod/timeline"),
)


def main(size: Size = Size.NORMAL) -> list[Row]:
    listed = len(json.dumps([wire(value) for value in catalogue.TOOLS], separators=(",", ":")).encode())
    rows = [
        Row(
            bench=f"agents: the list of {len(catalogue.TOOLS)} tools as JSON",
            measured=listed / 1000,
            unit="kB",
            goal=Goal.AT_MOST,
            limit=40,
        )
    ]
    with tempfile.TemporaryDirectory() as folder:
        box = apibox.make(Path(folder))
        try:
            box.rig.commit({"cluster": cluster_yaml(), "workers": group_yaml("workers")})
            box.rig.settle()
            plain = measured_api(box, CALLS[size])
            rows += [
                _row("2026-07-28, the SDK's client", anyio.run(measured_tools, box, CALLS[size]), plain),
                _row("2025-11-25, plain HTTP", measured_messages(box, CALLS[size]), plain),
            ]
        finally:
            box.close()
    return rows


async def measured_tools(box: ApiBox, calls: int) -> list[float]:
    """Milliseconds of each call."""
    async with client(box.url, agent(box), "http", "auto") as tools:

        async def one(number: int) -> None:
            name, arguments, _ = TOOLS[number % len(TOOLS)]
            assert not (await tools.call_tool(name, arguments)).is_error

        return await _paced(one, calls)


def measured_messages(box: ApiBox, calls: int) -> list[float]:
    """Without what the SDK's client for this era adds by itself."""

    async def whole() -> list[float]:
        headers = {
            "Authorization": f"Bearer {agent(box)}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }
        async with httpx.AsyncClient(base_url=box.url, headers=headers, timeout=60, trust_env=False) as sender:

            async def one(number: int) -> None:
                name, arguments, _ = TOOLS[number % len(TOOLS)]
                call = {"name": name, "arguments": arguments}
                message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
                answer = await sender.post("/mcp", json=message)
                assert answer.status_code == 200 and '"isError":true' not in answer.text

            return await _paced(one, calls)

    return anyio.run(whole)


def measured_api(box: ApiBox, calls: int) -> list[float]:
    async def whole() -> list[float]:
        headers = {"Authorization": f"Bearer {agent(box)}"}
        async with httpx.AsyncClient(
            base_url=f"{box.url}/api/v1", headers=headers, timeout=60, trust_env=False
        ) as reader:

            async def one(number: int) -> None:
                assert (await reader.get(TOOLS[number % len(TOOLS)][2])).status_code == 200

            return await _paced(one, calls)

    return anyio.run(whole)


async def _paced(one: Callable[[int], Awaitable[None]], calls: int) -> list[float]:
    """Begins do not wait for ends: a slow answer does not make the next call later."""
    for number in range(len(TOOLS)):
        await one(number)
    took: list[float] = []

    async def timed(number: int) -> None:
        began = time.perf_counter()
        await one(number)
        took.append((time.perf_counter() - began) * 1000)

    start = time.perf_counter()
    async with anyio.create_task_group() as group:
        for number in range(calls):
            group.start_soon(timed, number)
            await anyio.sleep(max(0.0, start + (number + 1) * EACH - time.perf_counter()))
    return took


def _row(how: str, took: list[float], plain: list[float]) -> Row:
    return Row(
        bench=f"agents: a reading tool over HTTP, p95 ({how})",
        measured=_p95(took),
        unit="ms",
        reference=_p95(plain),
        against="the same reads of the API",
        goal=Goal.AT_MOST,
        limit=50,
        note=f"50 calls a second, {len(took)} of them; median {statistics.median(took):.1f} ms",
    )


def _p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]
