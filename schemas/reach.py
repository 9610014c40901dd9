"""What the changes of a token may touch, inside of what its scopes allow."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from schemas.documents.policy import PathGlob
from schemas.globs import any_matches

DocumentKind: TypeAlias = Literal["Cluster", "InstanceGroup", "Storage", "Operation", "Policy"]


class Reach(BaseModel):
    """`paths`: patterns of files; `kinds`: of documents. None: all of them.

    Who may touch only some kinds touches no scripts and other files beside the documents either.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: tuple[PathGlob, ...] = Field(default=(), max_length=100)
    kinds: tuple[DocumentKind, ...] = Field(default=(), max_length=20)

    @property
    def is_all(self) -> bool:
        return not self.paths and not self.kinds

    def has(self, path: str) -> bool:
        return not self.paths or any_matches(self.paths, path)

    def has_cluster(self, cluster: str) -> bool:
        """Whether everything of a cluster is within."""
        return not self.kinds and self.has(f"clusters/{cluster}/any/file")

    def holds(self, other: Reach) -> bool:
        """Whether the other reaches no further: by the same patterns, or by paths that fit them."""
        paths = not self.paths or (bool(other.paths) and all(self._gives(pattern) for pattern in other.paths))
        kinds = not self.kinds or (bool(other.kinds) and set(other.kinds) <= set(self.kinds))
        return paths and kinds

    def _gives(self, pattern: str) -> bool:
        return pattern in self.paths or ("*" not in pattern and "?" not in pattern and self.has(pattern))

    def __str__(self) -> str:
        parts = [", ".join(self.paths), ", ".join(self.kinds)]
        return "; ".join(part for part in parts if part) or "everything"


EVERYTHING: Final = Reach()
