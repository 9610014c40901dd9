"""Documents as the rest of the system gets them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.documents.cluster import Cluster
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.kinds import AnyDocument
from schemas.documents.operation import Operation
from schemas.documents.policy import Policy
from schemas.documents.problems import Problem
from schemas.documents.storage import Storage
from schemas.resource import Source
from schemas.values import JsonObject, digest


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFile:
    """One file of a cluster's folder: its path in the repository and its bytes."""

    path: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document. `authored` is its spec exactly as written: plain JSON, no defaults, no entries without a value.

    `line` is where the document starts.
    """

    kind: str
    name: str
    model: AnyDocument
    authored: JsonObject
    path: str
    line: int

    @functools.cached_property
    def digest(self) -> str:
        """sha256 of the canonical JSON of `authored`; the same whatever the format, the order and the comments."""
        return digest(self.authored)

    @property
    def source(self) -> Source:
        """What plans and errors call it."""
        return Source(kind=self.kind, name=self.name, path=self.path, line=self.line)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedFile:
    """One file, looked at by itself: a function of path and bytes only, so it can be cached by both.

    A file that holds no documents (a lifecycle script) is only carried along.
    `refused`: the kinds of documents that could not be accepted, "" where not even that is known.
    """

    path: str
    data: bytes
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    refused: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedCluster:
    """All of one folder. With problems nothing of it may be planned; the documents are those that could be read.

    `others` are the files beside the documents, by path relative to the folder.
    """

    name: str
    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    others: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    @property
    def cluster(self) -> Cluster | None:
        """The cluster document. None only where there are problems."""
        return next((item.model for item in self.documents if isinstance(item.model, Cluster)), None)

    @property
    def groups(self) -> tuple[InstanceGroup, ...]:
        """The instance groups, by name."""
        return tuple(item.model for item in self.documents if isinstance(item.model, InstanceGroup))

    @property
    def storages(self) -> tuple[Storage, ...]:
        """The Storages, by name."""
        return tuple(item.model for item in self.documents if isinstance(item.model, Storage))

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The Operations, by name."""
        return tuple(item.model for item in self.documents if isinstance(item.model, Operation))

    def document(self, kind: str, name: str) -> Document | None:
        """One document by its identity."""
        return next((item for item in self.documents if (item.kind, item.name) == (kind, name)), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedPolicy:
    """The policy in force. With problems it is the built-in one, and nothing may be changed anywhere."""

    policy: Policy
    problems: tuple[Problem, ...] = ()
