"""Cluster IPs of thousands of services: given once at a time, free again afterwards, whatever happened to the log."""

from __future__ import annotations

import pytest

from reconciler.sandbox.kubernetes import deletion
from reconciler.sandbox.kubernetes.apiserver import ApiServer, WriteOptions
from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.kinds import Kind

OPTIONS = WriteOptions(manager="test")


@pytest.fixture
def api() -> ApiServer:
    return ApiServer(name="addresses", now=lambda: 1790000000.0)


def service_kind(api: ApiServer) -> Kind:
    found = api.kinds.of("v1", "Service")
    assert found is not None
    return found


def create(api: ApiServer, name: str, address: str | None = None) -> str:
    spec = {"ports": [{"port": 80}], **({"clusterIP": address} if address else {})}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
    made = api.create(service_kind(api), "default", body, OPTIONS)
    return str(made.stored.obj["spec"]["clusterIP"])


def delete(api: ApiServer, name: str) -> None:
    deletion.delete(api, service_kind(api), "default", name, deletion.DeleteOptions.read({}, {}))


def test_every_service_has_an_address_of_its_own_and_headless_ones_share_none(api: ApiServer) -> None:
    given = [create(api, f"s{n}") for n in range(300)]
    assert len(set(given)) == 300
    assert [create(api, name, "None") for name in ("headless", "headless-too")] == ["None", "None"]


@pytest.mark.parametrize("forgets", [False, True], ids=["with its log", "after its log was compacted"])
def test_a_taken_address_is_refused_until_its_service_is_gone(api: ApiServer, forgets: bool) -> None:
    taken = create(api, "first")
    if forgets:
        api.store.compact()
    with pytest.raises(ApiError, match="already allocated"):
        create(api, "second", taken)
    delete(api, "first")
    if forgets:
        api.store.compact()
    assert create(api, "second", taken) == taken
    with pytest.raises(ApiError, match="already allocated"):
        create(api, "third", taken)


def test_an_address_that_somebody_chose_is_not_given_to_another(api: ApiServer) -> None:
    first = create(api, "first")
    part = first.rpartition(".")
    chosen = f"{part[0]}.{int(part[2]) + 1}"
    create(api, "chosen", chosen)
    assert chosen not in [create(api, f"s{n}") for n in range(3)]
