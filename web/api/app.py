"""The API as one application: routers, errors, guard and limits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

from reconciler.cli.app import version as our_version
from web import ui_files
from web.access.guard import Guard
from web.access.headers import SecurityHeaders
from web.api import contract, etags, mcp, problems
from web.api.house import House
from web.api.nothing import NothingHere
from web.api.outer import BodyLimit, Heads, Mistakes, Timed
from web.api.routes import (
    changes,
    cluster_events,
    clusters,
    diagnoses,
    documents,
    drift,
    events,
    groups,
    nodes,
    objects,
    offerings,
    orders,
    plans,
    pods,
    policy,
    probes,
    resources,
    reverts,
    session,
    storages,
    timeline,
    tokens,
    version,
)

PREFIX = "/api/v1"
LARGEST = 4 << 20  # bytes of a body; documents are far smaller
ROUTERS: tuple[APIRouter, ...] = (
    # One line each, by name.
    changes.router,
    cluster_events.router,
    clusters.router,
    diagnoses.router,
    documents.router,
    drift.router,
    events.router,
    groups.router,
    nodes.router,
    objects.router,
    offerings.router,
    orders.router,
    plans.router,
    pods.router,
    policy.router,
    resources.router,
    reverts.router,
    session.router,
    storages.router,
    timeline.router,
    tokens.router,
    version.router,
)


def make_api(house: House | None, *, hosts: Iterable[str] = ()) -> FastAPI:
    """The application of one house. It starts nothing: loop and server are the composition root's.

    `hosts`: names that browsers may use beside those of loopback. Without a house only the contract can be read.
    """
    app = FastAPI(
        title="InstantStart",
        version=our_version(),
        description="A GitOps control plane for Amazon SageMaker HyperPod on EKS. Every wish is a change.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.house = house
    problems.add_to(app)
    etags.add_to(app)
    contract.add_to(app)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    app.include_router(probes.router)
    app.mount("/api", NothingHere(app))
    if house is not None:
        mcp.add_to(app, house)
    ui_files.add_to(app)  # answers what no route before it does
    # The last one added is the outermost.
    app.add_middleware(Mistakes)
    app.add_middleware(BodyLimit, most=LARGEST)
    app.add_middleware(Guard, hosts=tuple(hosts))
    if house is not None:
        app.add_middleware(Timed, tell=house.metrics.request)
    app.add_middleware(Heads)
    app.add_middleware(SecurityHeaders)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    async with mcp.running(app):
        yield
