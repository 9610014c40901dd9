"""The API as one application: routers, errors, guard and limits."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from reconciler.cli.app import version as our_version
from web.api import contract, etags, problems
from web.api.house import House
from web.api.nothing import NothingHere
from web.api.routes import (
    version,
)

PREFIX = "/api/v1"
LARGEST = 4 << 20  # bytes of a body; documents are far smaller
ROUTERS: tuple[APIRouter, ...] = (
    # One line each, by name.
    version.router,
)


def make_api(house: House) -> FastAPI:
    """The application of one house. It starts nothing: loop and server are the composition root's."""
    app = FastAPI(
        title="InstantStart",
        version=our_version(),
        description="A GitOps control plane for Amazon SageMaker HyperPod on EKS. Every wish is a change.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        max_body_size=LARGEST,
    )
    app.state.house = house
    problems.add_to(app)
    etags.add_to(app)
    contract.add_to(app)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    app.mount("/api", NothingHere(app))
    return app
