"""Orders: a person's word to the engine. Agents give none."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import decides, reads
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit


class Order(Answer):
    id: str
    cluster: str
    do: str
    subject_untrusted: str = ""
    by_untrusted: str = ""
    why_untrusted: str = ""
    problem_untrusted: str | None = None


class OrderList(Answer):
    items: tuple[Order, ...]
    next_cursor: str | None = Field(None, validation_alias="next")


async def order_list(
    call: Call,
    cluster: Annotated[str, Field(max_length=40, description="Only those to it")] = "",
    limit: Limit = 30,
    cursor: Cursor = "",
) -> OrderList:
    """Orders that people gave and that the engine has not taken up yet; those it has are in cluster_timeline."""
    return OrderList.model_validate(await call.api.get("orders", cluster=cluster, limit=limit, cursor=cursor))


async def order_give(
    call: Call,
    cluster: ClusterName,
    do: Literal["approve", "release", "retry", "resolve"],
    subject: Annotated[str, Field(min_length=1, max_length=160, description="An op, key or digest of cluster_get")],
    why: Annotated[str, Field(min_length=1, max_length=2000)],
    outcome: Annotated[
        Literal["happened", "not-happened"] | None, Field(description="Of resolve: what became of the call")
    ] = None,
) -> Order:
    """Give an order that a person told you to give: approve or release what is held, retry what failed, resolve a call
    whose outcome nobody knows."""
    body = {"cluster": cluster, "do": do, "subject": subject, "why": why}
    body |= {"outcome": outcome} if outcome is not None else {}
    return Order.model_validate(await call.api.post("orders", body=body))


TOOLS = (reads(order_list), decides(order_give, "decide"))
