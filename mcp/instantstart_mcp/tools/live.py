"""What runs in Kubernetes: pods, and any object, read only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, cast

from pydantic import Field

from instantstart_mcp.api import Json
from instantstart_mcp.calling import Call
from instantstart_mcp.toolkit import reads
from instantstart_mcp.words import Answer, ClusterName, Cursor, Limit, Word

Namespace = Annotated[
    str, Field(pattern=r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$", description="Only of this namespace")
]
_DEEP, _LONG, _ROWS = 7, 400, 30


class Container(Answer):
    name_untrusted: str
    state: Word = ""
    ready: bool = False
    restarts: int = 0
    reason: Word = ""
    exit_code: int | None = None
    message_untrusted: str = ""


class Pod(Answer):
    namespace_untrusted: str
    name_untrusted: str
    node_untrusted: str = ""
    phase: Word = ""
    ready: str = ""
    restarts: int = 0
    reason: Word = ""
    message_untrusted: str = ""
    gpus: int = 0
    owner_untrusted: str = ""
    created: str = ""
    deleting: bool = False
    containers: tuple[Container, ...] = ()


class PodList(Answer):
    items: tuple[Pod, ...]
    next_cursor: str | None = Field(None, validation_alias="next")
    observed_at: str | None = None


class ObjectList(Answer):
    items_untrusted: tuple[dict[str, Any], ...]
    next_cursor: str | None = None
    cut: bool = False


async def pod_list(
    call: Call,
    cluster: ClusterName,
    namespace: Namespace = "",
    node: Annotated[str, Field(max_length=253, description="Only on this node")] = "",
    owner: Annotated[str, Field(max_length=300, description="Its owner, such as Job/train")] = "",
    limit: Limit = 30,
    cursor: Cursor = "",
) -> PodList:
    """Pods: phase, node, GPUs, restarts, what containers wait for. Their logs: log_read."""
    told = await call.api.get(
        "clusters", cluster, "pods", namespace=namespace, node=node, owner=owner, limit=limit, cursor=cursor
    )
    return PodList.model_validate(told)


async def object_list(
    call: Call,
    cluster: ClusterName,
    api_version: Annotated[str, Field(max_length=300, description="Such as v1 or apps/v1")],
    kind: Annotated[str, Field(pattern="^[A-Z][A-Za-z0-9]{0,62}$", description="Such as Deployment")],
    namespace: Namespace = "",
    name: Annotated[str, Field(max_length=253, description="Only this one")] = "",
    labels: Annotated[str, Field(max_length=500, description="A label selector")] = "",
    limit: Annotated[int, Field(ge=1, le=30, description="Objects at most")] = 10,
    cursor: Cursor = "",
) -> ObjectList:
    """Kubernetes objects as they are, without secrets. cut: long texts or lists were shortened, as marked."""
    told = await call.api.get(
        "clusters",
        cluster,
        "objects",
        api_version=api_version,
        kind=kind,
        namespace=namespace,
        name=name,
        labels=labels,
        limit=limit,
        cursor=cursor,
    )
    marks: list[str] = []
    rows = tuple(_cut(item, _DEEP, marks) for item in told["items"])
    return ObjectList(items_untrusted=rows, next_cursor=told.get("next"), cut=bool(marks))


def _cut(value: Any, deep: int, marks: list[str]) -> Any:
    """Short enough to read; what was left out is marked where it stood."""
    if isinstance(value, str) and len(value) > _LONG:
        marks.append("text")
        return f"{value[:_LONG]}… ({len(value) - _LONG} more characters)"
    if isinstance(value, dict):
        held = cast("Json", value)
        if not deep:
            marks.append("depth")
            return "… (deeper than is shown)"
        return {name: _cut(item, deep - 1, marks) for name, item in held.items()}
    if isinstance(value, list):
        items = list(cast("Iterable[Any]", value))
        rows = [_cut(item, deep, marks) for item in items[:_ROWS]]
        if len(items) > _ROWS:
            marks.append("rows")
            rows.append(f"… ({len(items) - _ROWS} more)")
        return rows
    return value


TOOLS = (reads(pod_list, outside=True), reads(object_list, outside=True))
