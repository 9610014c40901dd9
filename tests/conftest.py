"""Which Kubernetes API the tests run against: `--kubernetes=simulated` (the default) or `real`.

The real one is started once per process that runs tests, from binaries that `make kube-assets` builds.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reconciler.sandbox.real.processes import RealKubernetes
from tests.kube_servers.assets import Missing, find

SIMULATED, REAL = "simulated", "real"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kubernetes", choices=(SIMULATED, REAL), default=SIMULATED, help="the API server behind tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "simulated(why): not for a real API server, and why not")
    if config.getoption("--kubernetes") == REAL:
        try:
            find()
        except Missing as missing:
            raise pytest.UsageError(str(missing)) from missing


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--kubernetes") != REAL:
        return
    for item in items:
        mark = item.get_closest_marker("simulated")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"simulated only: {mark.args[0]}"))


@pytest.fixture(scope="session")
def real_kubernetes(request: pytest.FixtureRequest) -> Iterator[RealKubernetes | None]:
    """The real cluster of this process; None where the simulated one was asked for."""
    if request.config.getoption("--kubernetes") != REAL:
        yield None
        return
    started = RealKubernetes(find())
    yield started
    started.close()
