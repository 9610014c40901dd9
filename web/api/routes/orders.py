"""/orders: a person's word to the engine."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from ulid import ULID

from reconciler.changes import ordering
from schemas.changes import NewOrder
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import Page, PageAsked, page
from web.api.parts import ClusterName
from web.api.problems import responses

router = APIRouter(prefix="/orders", tags=["orders"])


class OrderView(BaseModel):
    """An order that the engine takes up at its next tick; from then on it stands in the cluster's timeline."""

    model_config = ConfigDict(frozen=True)

    id: str
    cluster: str
    do: str
    subject: str
    by: str
    why: str
    outcome: str | None = None
    problem: str | None = None


@router.post("", operation_id="create_order", status_code=202, responses=responses(404, 409))
def create_order(house: HouseDep, who: Reader, asked: NewOrder) -> OrderView:
    """retry and resolve need the scope operate; approve and release need approve, and nobody lets pass what they
    asked for themselves. An approval that is not used up expires as the policy says. One that waits already and says
    the same is not given twice."""
    order = str(ULID.from_datetime(house.clock.now()))
    given, body = ordering.give(house.changes.store, who, asked, order=order)
    house.nudge()
    return _view(given, body)


@router.get("", operation_id="list_orders")
def list_orders(
    house: HouseDep,
    _who: Reader,
    asked: PageAsked,
    cluster: Annotated[ClusterName | None, Query(description="Only those to it")] = None,
) -> Page[OrderView]:
    """Those that the engine has not taken up yet, oldest first."""
    views = [
        _view(one.ulid, {key: str(value) for key, value in one.body.items()}, one.problem)
        for one in house.repo.orders()
    ]
    wanted = [one for one in views if cluster is None or one.cluster == cluster]
    found, following = page(wanted, asked, key=lambda one: one.id)
    return Page[OrderView](items=found, next=following)


def _view(order: str, body: dict[str, str], problem: str | None = None) -> OrderView:
    return OrderView(
        id=order,
        cluster=body.get("cluster", ""),
        do=body.get("do", ""),
        subject=body.get("subject", ""),
        by=body.get("principal", ""),
        why=body.get("why", ""),
        outcome=body.get("as"),
        problem=problem,
    )
