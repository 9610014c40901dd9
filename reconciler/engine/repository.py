"""The repository that settings name, with its credential. Apart from the engine, so that commands that only read need
neither boto3 nor the kubernetes client."""

from __future__ import annotations

from pathlib import Path

from reconciler.config_repo.records import Credential
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.settings import Settings
from schemas.errors import InvalidInput


def open_repo(settings: Settings) -> ConfigRepo:
    settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return ConfigRepo.open(
        settings.repository,
        state_dir=settings.state_dir,
        branch=settings.branch,
        writer=settings.writer,
        credential=(lambda: credential(settings.credential)) if settings.credential else None,
    )


def credential(told: str | None) -> Credential | None:
    """`user:password`, or `@file` with that in its first line; read each time, so that a renewed file counts.

    Raises InvalidInput, which never holds what was told."""
    if not told:
        return None
    text = told
    if told.startswith("@"):
        try:
            text = Path(told[1:]).read_text(encoding="utf-8").splitlines()[0]
        except (OSError, IndexError):
            raise InvalidInput(f"INSTANTSTART_CREDENTIAL: {told[1:]} cannot be read or is empty") from None
    user, colon, password = text.strip().partition(":")
    if not colon or not user or not password:
        raise InvalidInput("INSTANTSTART_CREDENTIAL: expected user:password, or @file that holds it")
    return Credential(username=user, password=password)
