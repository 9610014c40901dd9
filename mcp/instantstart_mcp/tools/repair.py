"""Rebooting nodes: an Operation, which happens once under its name.

The name follows from the nodes and from what they booted last: a retry is the same Operation, and once they have
rebooted the same wish is a new one.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field

from instantstart_mcp.api import ApiProblem, part
from instantstart_mcp.calling import Call
from instantstart_mcp.proposing import Proposal, propose
from instantstart_mcp.toolkit import proposes
from instantstart_mcp.tools.editing import document, putting, written
from instantstart_mcp.tools.nodes import find
from instantstart_mcp.words import ClusterName, Key, Why

_LIFE = timedelta(days=2)
Nodes = Annotated[list[str], Field(min_length=1, max_length=20, description="Instance ids, i-…")]


async def node_reboot(
    call: Call, cluster: ClusterName, nodes: Nodes, why: Why = "", idempotency_key: Key = ""
) -> Proposal:
    """Propose to reboot nodes once. Investigate first (diagnose_node_health, pod_list). What runs there is interrupted;
    what is on their disks stays."""
    boots: list[str] = []
    seen_at = ""
    for node in sorted(set(nodes)):
        item, told = await find(call, cluster, node)
        boot = part(item, "node").get("boot_id")
        if not item["instance"] or not boot:
            text = f"which boot {node} is in cannot be seen now, so a retry could not be told from a second reboot"
            raise ApiProblem("NodeUnseen", text, status=503, way_out="wait until node_get shows its boot_id")
        boots.append(f"{item['instance']} {boot}")
        seen_at = told.get("observed_at") or ""
    instances = [boot.split()[0] for boot in boots]
    name = f"reboot-{hashlib.sha256(' '.join(boots).encode()).hexdigest()[:16]}"
    known = await written(call, cluster, "Operation", name)
    expires = known["spec"]["expires"] if known is not None else _expiry(seen_at)
    spec = {"expires": expires, "reboot": {"nodes": instances}}
    title = f"Reboot {', '.join(instances[:3])}{' and more' if len(instances) > 3 else ''} of {cluster}"
    edit = putting(cluster, document("Operation", name, spec))
    wish = [{"cluster": cluster, "operation": name}]  # without the moment until which it may begin
    return await propose(call, title, [edit], why=why, key=idempotency_key, content=wish)


def _expiry(seen_at: str) -> str:
    """The end of the day after the next, by the service's own clock."""
    try:
        now = datetime.fromisoformat(seen_at).astimezone(UTC)
    except ValueError:
        now = datetime.now(UTC)
    day = (now + _LIFE).replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{day:%Y-%m-%dT%H:%M:%SZ}"


TOOLS = (proposes(node_reboot, destructive=True),)
