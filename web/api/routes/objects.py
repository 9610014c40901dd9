"""/clusters/{cluster}/objects: live Kubernetes objects, read only and without secrets."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from reconciler.live.kube.kinds import Gvk
from reconciler.reads.asking import asking
from reconciler.reads.objects import shown
from reconciler.reads.parts import seen
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked, decoded, encoded
from web.api.parts import ClusterName, LivePage
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/objects", tags=["live"])
_GROUP = r"^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?v[a-z0-9]{1,20}$"
_NAME = r"^[A-Za-z0-9](?:[-A-Za-z0-9._:]{0,251}[A-Za-z0-9])?$"
_SELECTOR = r"^[-A-Za-z0-9_./=!,() ]*$"


@router.get("", operation_id="list_objects", responses=responses(404))
def list_objects(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    api_version: Annotated[str, Query(pattern=_GROUP, description="apps/v1")],
    kind: Annotated[str, Query(pattern="^[A-Z][A-Za-z0-9]{0,62}$", description="Deployment")],
    namespace: Annotated[str | None, Query(pattern=_NAME, description="Only of this namespace")] = None,
    name: Annotated[str | None, Query(pattern=_NAME, description="Only this one; 404 if it is not there")] = None,
    labels: Annotated[str | None, Query(pattern=_SELECTOR, max_length=500, description="A label selector")] = None,
) -> LivePage[dict[str, Any]]:
    """As the cluster has them, but for what is secret: Secrets show keys only, and values of variables and fields with
    a telling name are hidden. In the cluster's own order."""
    following = decoded(asked.cursor) if asked.cursor is not None else ""
    with asking():
        kube = house.reads.world(cluster).kube()
        gvk, at = Gvk(api_version, kind), house.clock.iso()
        if name is not None:
            found, more = [{**kube.get(gvk, namespace, name), "apiVersion": api_version, "kind": kind}], ""
        else:
            found, more = kube.page(gvk, namespace, label_selector=labels, limit=asked.limit, following=following)
    return LivePage[dict[str, Any]](
        items=[shown(body) for body in found],
        next=encoded(more) if more else None,
        observed_at=at,
        parts=(seen("kubernetes", at),),
    )
