"""Settings from the environment: wrong ones say which, and a credential is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.engine.repository import credential
from reconciler.engine.settings import from_env
from schemas.errors import InvalidInput


def test_defaults_and_values() -> None:
    assert from_env({}).poll == 60.0
    told = from_env({"INSTANTSTART_REPOSITORY": "file:///r", "INSTANTSTART_POLL_INTERVAL": "5"}, repository=None)
    assert (told.repository, told.poll) == ("file:///r", 5.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("INSTANTSTART_POLL_INTERVAL", "soon"), ("INSTANTSTART_POLL_INTERVAL", "0"), ("INSTANTSTART_CLOCK_RATE", "-1")],
)
def test_a_wrong_number_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        from_env({name: value})


def test_a_credential_comes_from_the_variable_or_a_file_and_is_not_printed(tmp_path: Path) -> None:
    file = tmp_path / "credential"
    file.write_text("robot:s3cr3t-value\n")
    for told in ("robot:s3cr3t-value", f"@{file}"):
        found = credential(told)
        assert found is not None
        assert (found.username, found.password) == ("robot", "s3cr3t-value")
    settings = from_env({"INSTANTSTART_CREDENTIAL": "robot:s3cr3t-value"})
    assert "s3cr3t" not in repr(settings)


@pytest.mark.parametrize("told", ["robot", ":x", "robot:", "@/nowhere/credential"])
def test_a_wrong_credential_is_refused_without_being_shown(told: str) -> None:
    with pytest.raises(InvalidInput, match="INSTANTSTART_CREDENTIAL"):
        credential(told)
