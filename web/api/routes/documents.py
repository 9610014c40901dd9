"""/clusters/{cluster}/documents: what is written, at the branch's head, another revision, or in a change."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict

from reconciler.changes.store import is_id
from reconciler.reads.plans import ProblemView, problem_views
from schemas.documents.records import Document, LoadedCluster
from schemas.errors import NotFound
from schemas.reading.read import read
from web.api import etags
from web.api.access import Reader
from web.api.house import House, HouseDep
from web.api.pages import Page, PageAsked, page
from web.api.parts import ClusterName
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/documents", tags=["documents"])
At = Annotated[
    str | None, Query(max_length=200, description="A revision, or the id of a change; the branch's head if not told")
]
Kind = Annotated[str, Path(max_length=63, pattern="^[A-Z][A-Za-z0-9]*$")]
Name = Annotated[str, Path(max_length=253)]


class DocumentSummary(BaseModel):
    """`where`: file and line. `blob`: the content of its file, which an edit is built on."""

    model_config = ConfigDict(frozen=True)

    kind: str
    name: str
    path: str
    where: str
    blob: str


class DocumentsPage(Page[DocumentSummary]):
    """`revision`: the commit that was read. `problems`: of the whole folder; what could not be read is not listed."""

    revision: str
    problems: tuple[ProblemView, ...] = ()


class DocumentView(DocumentSummary):
    """`document`: as it is written; `model`: with defaults, as the engine takes it; `text`: its lines in the file."""

    revision: str
    document: dict[str, Any]
    model: dict[str, Any]
    text: str


@router.get("", operation_id="list_documents", responses={**responses(404), **etags.RESPONSES})
def list_documents(
    request: Request,
    response: Response,
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    at: At = None,
) -> DocumentsPage:
    """By kind and name."""
    revision = _revision(house, at)
    loaded = _loaded(house, revision, cluster)
    blobs = _blobs(house, revision, cluster)
    found, following = page(loaded.documents, asked, key=lambda one: f"{one.kind}/{one.name}/{one.path}:{one.line:06}")
    shown = DocumentsPage(
        items=[_summary(one, blobs) for one in found],
        next=following,
        revision=revision,
        problems=problem_views(loaded.problems),
    )
    etags.check(request, response, etags.of(shown))
    return shown


@router.get("/{kind}/{name}", operation_id="get_document", responses={**responses(404), **etags.RESPONSES})
def get_document(
    request: Request,
    response: Response,
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    kind: Kind,
    name: Name,
    at: At = None,
) -> DocumentView:
    revision = _revision(house, at)
    loaded = _loaded(house, revision, cluster)
    found = loaded.document(kind, name)
    if found is None:
        raise NotFound(f"there is no {kind}/{name[:80]} in {cluster}", reason="NoDocument")
    blobs = _blobs(house, revision, cluster)
    data = house.repo.blobs([blobs[found.path]])[blobs[found.path]]
    etags.check(request, response, etags.of(blobs[found.path], kind, name))
    return DocumentView(
        **_summary(found, blobs).model_dump(),
        revision=revision,
        document=_written(found, data),
        model=found.model.model_dump(mode="json", by_alias=True, exclude_none=True),
        text=_text(loaded, found, data),
    )


def _revision(house: House, at: str | None) -> str:
    if at is None:
        return house.changes.store.main()
    return house.changes.state(at).change.head if is_id(at) else house.repo.resolve(at)


def _loaded(house: House, revision: str, cluster: str) -> LoadedCluster:
    loaded = house.engine.library.loaded(revision, cluster)
    if loaded is None:
        raise NotFound(f"there is no folder clusters/{cluster} at {revision[:12]}", reason="UnknownCluster")
    return loaded


def _blobs(house: House, revision: str, cluster: str) -> dict[str, str]:
    return {file.path: file.blob for file in house.repo.files(revision, f"clusters/{cluster}")}


def _summary(one: Document, blobs: dict[str, str]) -> DocumentSummary:
    where = f"{one.path}:{one.line}"
    return DocumentSummary(kind=one.kind, name=one.name, path=one.path, where=where, blob=blobs[one.path])


def _written(one: Document, data: bytes) -> dict[str, Any]:
    for raw in read(one.path, data).documents:
        if raw.spot.line == one.line:
            value: dict[str, Any] = raw.value
            return value
    return {"kind": one.kind, "metadata": {"name": one.name}, "spec": one.authored}


def _text(loaded: LoadedCluster, one: Document, data: bytes) -> str:
    """From its first line to where the next document of the file begins."""
    lines = data.decode("utf-8-sig", "replace").splitlines(keepends=True)
    later = [other.line for other in loaded.documents if other.path == one.path and other.line > one.line]
    end = min(later, default=len(lines) + 1) - 1
    text = "".join(lines[one.line - 1 : end])
    return text.removesuffix("---\n").removesuffix("---\r\n")
