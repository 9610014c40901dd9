"""The environment in which a process finds an account of a sandbox, and nothing of this machine's own settings."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Account(Protocol):
    @property
    def endpoint(self) -> str: ...
    @property
    def access_key(self) -> str: ...
    @property
    def secret_key(self) -> str: ...
    @property
    def region(self) -> str: ...


def aws_environment(account: Account, folder: Path) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": account.endpoint,
        "AWS_ACCESS_KEY_ID": account.access_key,
        "AWS_SECRET_ACCESS_KEY": account.secret_key,
        "AWS_REGION": account.region,
        "AWS_CONFIG_FILE": str(folder / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "none"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }
