"""Stage operations: what is done once. Each node of a reboot is an op of its own."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.desired.names import Names
from schemas.documents.operation import Operation
from schemas.documents.records import Document
from schemas.once import Operation as Once
from schemas.resource import Resource, Stage


def operations(names: Names, documents: Iterable[Document]) -> list[Resource]:
    """One resource per Operation and node."""
    found: list[Resource] = []
    for doc in documents:
        model = doc.model
        assert isinstance(model, Operation)
        found.extend(
            Resource(
                key=names.operation(doc.name, node),
                type="hyperpod.Reboot",
                name=node,
                cluster=names.cluster,
                stage=Stage.OPERATIONS,
                lane=f"node/{node}",
                spec={"instance": node},
                after=(names.key("hyperpod.Cluster"),),
                source=doc.source,
            )
            for node in model.spec.reboot.nodes
        )
    return found


def identity(doc: Document) -> str:
    """Once for ever is per name and spec: `<kind>/<name>@<digest>`."""
    return f"{doc.kind}/{doc.name}@{doc.digest}"


def once(names: Names, documents: Iterable[Document]) -> list[Once]:
    """The Operations as `plan.once` wants them."""
    found: list[Once] = []
    for doc in documents:
        model = doc.model
        if isinstance(model, Operation):
            keys = tuple(names.operation(doc.name, node) for node in model.spec.reboot.nodes)
            found.append(Once(name=doc.name, digest=doc.digest, keys=keys, expires=model.spec.expires_at))
    return found
