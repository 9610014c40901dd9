"""From settings to an engine that can tick."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from reconciler.engine.preflight import Preflight
from reconciler.engine.repository import open_repo
from reconciler.engine.settings import Settings
from reconciler.engine.tick import Engine
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.resources.registry import handlers


def open_engine(settings: Settings, *, clock: Clock | None = None) -> Engine:
    """An engine over one repository. The caller closes it."""
    return Engine(
        repo=open_repo(settings),
        accounts=AwsAccounts(profile=settings.profile, role=settings.role),
        handlers=handlers(),
        clock=clock or Clock(settings.rate, origin=settings.origin),
        pool=ThreadPoolExecutor(max_workers=settings.threads, thread_name_prefix="instantstart"),
        state_dir=settings.state_dir,
        writer=settings.writer,
        poll=settings.poll,
        preflight=Preflight(),
    )
