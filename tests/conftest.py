"""Which Kubernetes API the tests run against: `--kubernetes=simulated` (the default) or `real`.

The real one is started once per process that runs tests, from binaries that `make kube-assets` builds.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from reconciler.sandbox.real.processes import RealKubernetes
from tests.kube_servers.assets import Missing, find
from tests.kube_servers.behaviours import table

SIMULATED, REAL = "simulated", "real"

# How long an example takes is no matter of a test. All else as it is: in CI the same examples each time.
settings.register_profile("patient", settings.default, deadline=None)
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kubernetes", choices=(SIMULATED, REAL), default=SIMULATED, help="the API server behind tests")
    parser.addoption("--behaviours", type=Path, help="write the table of behaviours to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "behaviour(what): what of a Kubernetes API this is about")
    config.addinivalue_line("markers", "simulated(why): not for a real API server, and why not")
    config.addinivalue_line("markers", "real(why): not for the simulated API server, and why not")
    if config.getoption("--kubernetes") == REAL:
        try:
            find()
        except Missing as missing:
            raise pytest.UsageError(str(missing)) from missing


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.getoption("--kubernetes")
    for item in items:
        mark = item.get_closest_marker(SIMULATED if chosen == REAL else REAL)
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"{mark.name} only: {mark.args[0]}"))


def pytest_collection_finish(session: pytest.Session) -> None:
    # What was imported and collected by now stays: looking for garbage in it again and again took a fifth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    path: Path | None = session.config.getoption("--behaviours")
    if path is not None:
        path.write_text(table(session.items))


@pytest.fixture(scope="session")
def real_kubernetes(request: pytest.FixtureRequest) -> Iterator[RealKubernetes | None]:
    """The real cluster of this process; None where the simulated one was asked for."""
    if request.config.getoption("--kubernetes") != REAL:
        yield None
        return
    started = RealKubernetes(find())
    yield started
    started.close()
