"""/policy: what may happen without asking a person."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from reconciler.reads.plans import ProblemView, problem_views
from schemas.documents.policy import POLICY_PATH
from web.api import etags
from web.api.access import Reader
from web.api.house import HouseDep

router = APIRouter(prefix="/policy", tags=["policy"])


class PolicyView(BaseModel):
    """The policy in force: that of `revision`, with defaults. `blob` null: nobody wrote one, and this is what holds
    then. With `problems` nothing is changed anywhere until they are mended."""

    model_config = ConfigDict(frozen=True)

    revision: str
    path: str
    blob: str | None
    spec: dict[str, Any]
    problems: tuple[ProblemView, ...] = ()


@router.get("", operation_id="get_policy", responses=etags.RESPONSES)
def get_policy(request: Request, response: Response, house: HouseDep, _who: Reader) -> PolicyView:
    main = house.changes.store.main()
    loaded = house.engine.library.policy(main)
    file = house.repo.file(main, POLICY_PATH)
    shown = PolicyView(
        revision=main,
        path=POLICY_PATH,
        blob=file.blob if file is not None else None,
        spec=loaded.policy.spec.model_dump(mode="json", by_alias=True, exclude_none=True),
        problems=problem_views(loaded.problems),
    )
    etags.check(request, response, etags.of(shown))
    return shown
