"""Everything about who may in, as one thing that the house holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from reconciler.live.clock import real_now
from schemas.principals import Principal
from web.access.files import folder_of
from web.access.tokens import Tokens


class Access:
    """`state_dir`: where the files are kept; `now`: real time, UTC."""

    def __init__(self, state_dir: Path, *, now: Callable[[], datetime] = real_now) -> None:
        self.folder = folder_of(state_dir)
        self.tokens = Tokens(self.folder, now=now)

    def by_bearer(self, token: str) -> Principal | None:
        return self.tokens.find(token)
