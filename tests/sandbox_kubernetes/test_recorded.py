"""What a real API server makes of a manifest of every kind, and that the simulated one makes the same of it.

`recorded.json` is written by the real one: `UPDATE_GOLDEN=1 make test-kubernetes ARGS="-k recorded"`.
"""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from reconciler.sandbox.real.processes import RealKubernetes
from tests.kube_servers.verbs import Api
from tests.sandbox_kubernetes.manifests import MANIFESTS

pytestmark = pytest.mark.behaviour("Manifests of each kind become what they become (recorded.json)")

Object = dict[str, Any]

FILE = Path(__file__).with_name("recorded.json")


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_becomes_what_it_becomes_on_a_real_server(name: str, api: Api, real: RealKubernetes | None) -> None:
    """Applied by server-side apply: defaults, normal forms, what the server adds, who owns which field."""
    made = normal(api.apply(copy.deepcopy(MANIFESTS[name])))
    recorded: dict[str, Object] = json.loads(FILE.read_text()) if FILE.exists() else {}
    if os.environ.get("UPDATE_GOLDEN") and real is not None:
        recorded = {key: value for key, value in {**recorded, name: made}.items() if key in MANIFESTS}
        FILE.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    assert made == recorded[name]


@pytest.mark.parametrize("name", MANIFESTS)
def test_applied_again_nothing_is_written(name: str, api: Api) -> None:
    """A real server may write the second time what its reply to the first had already; never the third time."""
    first, second, third = (api.apply(copy.deepcopy(MANIFESTS[name])) for _ in range(3))
    kept = ("uid", "generation", "labels", "annotations")
    assert [second["metadata"].get(key) for key in kept] == [first["metadata"].get(key) for key in kept]
    if name != "customresourcedefinition":  # its conditions come a moment later
        assert third["metadata"] == second["metadata"]


def normal(obj: Object) -> Object:
    """Without what is another value each time: ids, times, addresses."""
    text = json.dumps(obj)
    text = text.replace(obj["metadata"]["uid"], "UID")
    text = re.sub(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"', '"TIME"', text)
    text = re.sub(r'"10\.100\.\d+\.\d+"', '"ADDRESS"', text)
    text = re.sub(r'"nodePort": \d+', '"nodePort": 0', text)
    text = re.sub(r"kube-api-access-\w+", "kube-api-access-ID", text)
    made: Object = json.loads(text)
    made["metadata"]["resourceVersion"] = "VERSION"
    return made
