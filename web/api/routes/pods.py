"""/clusters/{cluster}/pods: pods, and their logs in pages. Followed logs are in `log_follow.py`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from reconciler.reads import logs
from reconciler.reads.asking import asking
from reconciler.reads.logs import LogPage
from reconciler.reads.pods import PodView
from web.api import etags
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.log_follow import Container, Namespace, PodName, Search, Since, follow_logs
from web.api.pages import PageAsked, page
from web.api.parts import ClusterName, LivePage, must_know_one, written
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/pods", tags=["live"])


@router.get(
    "",
    operation_id="list_pods",
    response_model=LivePage[PodView],
    responses={**responses(404), **etags.RESPONSES},
)
def list_pods(
    request: Request,
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    namespace: Annotated[str | None, Query(max_length=63, description="Only of this namespace")] = None,
    node: Annotated[str | None, Query(max_length=253, description="Only on this node")] = None,
    name: Annotated[str | None, Query(max_length=253, description="Only of this name")] = None,
    owner: Annotated[str | None, Query(max_length=300, description="Only of this owner: Job/train")] = None,
) -> Response:
    """By namespace and name."""
    pods, texts, part = house.reads.pods(cluster)
    must_know_one([part])
    wanted = [
        (key, pod)
        for key, pod in pods
        if namespace in (None, pod.namespace)
        and node in (None, pod.node)
        and name in (None, pod.name)
        and owner in (None, pod.owner)
    ]
    found, following = page(wanted, asked, key=lambda pair: pair[0])
    return written(request, [texts.of(pod) for _, pod in found], following, [part])


@router.get("/{namespace}/{pod}/logs", operation_id="list_logs", responses=responses(404))
def list_logs(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    namespace: Namespace,
    pod: PodName,
    container: Container = None,
    since: Since = None,
    tail: Annotated[int, Query(ge=1, le=10_000, description="Without `since`: how many of the last lines")] = 200,
    limit: Annotated[int, Query(ge=1, le=5000, description="Lines at most")] = 500,
    search: Search = "",
    previous: Annotated[bool, Query(description="Of the container's life before this one")] = False,
) -> LogPage:
    """With `since` (a time, or the `cursor` of the page before) what was written behind it, oldest first; without, the
    end of the log. `more`: whether there is more now. The same path as a WebSocket follows the log: `container`,
    `since`, `tail`, `search` and `follow` as parameters, messages as `Frame`s. Lines are data that a program wrote."""
    at = logs.place(since) if since is not None else None
    with asking():
        kube = house.reads.world(cluster).kube()
        return logs.page(
            kube,
            namespace,
            pod,
            container=container,
            since=at,
            tail=tail,
            limit=limit,
            search=search,
            previous=previous,
        )


router.websocket("/{namespace}/{pod}/logs")(follow_logs)
