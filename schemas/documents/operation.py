"""Operation: something that is done once. A changed Operation is refused; do it again under a new name."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from schemas.documents import words
from schemas.documents.fields import documented, listed
from schemas.documents.shapes import Broken, Metadata, Ruled, Shape
from schemas.plan import Cost

_NEW_NAME: Final = "write a new Operation under a new name"


class Reboot(Ruled):
    """Restart nodes; what is on their disks stays."""

    also_known: ClassVar[dict[str, str]] = {"nodeIds": "nodes", "instances": "nodes", "instanceIds": "nodes"}

    nodes: Annotated[tuple[words.NodeId, ...], Field(min_length=1, max_length=100)] = listed(
        "The instances. Each is its own operation with its own outcome.",
        cost=Cost.REFUSED,
        way_out=_NEW_NAME,
        unique_by=(),
    )

    def rules(self) -> Iterator[Broken]:
        for index, node in enumerate(self.nodes):
            if node in self.nodes[:index]:
                yield Broken(fields=(("nodes", index),), expected="each node once", found=f"{node} again")


class OperationSpec(Shape):
    """What to do once, and until when it may still be started."""

    also_known: ClassVar[dict[str, str]] = {"expiry": "expires", "expiresAt": "expires", "deadline": "expires"}

    expires: words.UtcTime = documented(
        "After this moment it is not started any more: an old word must not reboot a node a year later.",
        cost=Cost.REFUSED,
        way_out=_NEW_NAME,
    )
    reason: words.Sentence | None = documented(
        "Why, in one line; shown in the plan and in the journal.",
        cost=Cost.REFUSED,
        way_out=_NEW_NAME,
        default=None,
    )
    reboot: Reboot = documented("Reboot nodes.", cost=Cost.REFUSED, way_out=_NEW_NAME)

    @property
    def expires_at(self) -> datetime.datetime:
        """`expires` as a moment, in UTC."""
        return datetime.datetime.fromisoformat(self.expires)


class OperationMetadata(Metadata):
    """The name under which it happens once for ever."""

    name: words.ObjectName = Field(description="The Operation's name. Never used twice.")


class Operation(Shape):
    """One Operation on the folder's cluster."""

    api_version: Literal["instantstart/v1"]
    kind: Literal["Operation"]
    metadata: OperationMetadata
    spec: OperationSpec
