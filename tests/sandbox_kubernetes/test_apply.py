"""Server-side apply: ownership, conflicts, removal."""

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconciler.sandbox.kubernetes import ownership
from reconciler.sandbox.kubernetes.errors import ApiError
from tests.kube_servers.verbs import MANAGER, Api
from tests.sandbox_kubernetes.objects import config_map, deployment, pod_spec

pytestmark = pytest.mark.behaviour("Server-side apply: owners of fields, conflicts, lists by key")

Object = dict[str, Any]

_names = (f"law-{number}" for number in itertools.count())


def managers(obj: Object) -> list[tuple[str, str]]:
    return sorted((each["manager"], each["operation"]) for each in obj["metadata"]["managedFields"])


def test_what_is_no_longer_applied_goes(api: Api) -> None:
    api.apply(config_map(a="1", b="2"))
    assert api.apply(config_map(a="1"))["data"] == {"a": "1"}


def test_an_object_with_nothing_but_a_name_is_applied_and_applied_again(api: Api) -> None:
    """A bare Namespace is the first thing people apply."""
    body: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bare"}}
    for _ in range(2):
        stored = api.apply(body)
        assert (stored["apiVersion"], stored["kind"], stored["metadata"]["name"]) == ("v1", "Namespace", "bare")


def test_what_another_manager_owns_stays(api: Api) -> None:
    api.apply(config_map(a="1", b="2"))
    api.apply(config_map(b="2"), "other")
    left = api.apply(config_map(a="1"))
    assert left["data"] == {"a": "1", "b": "2"}
    assert managers(left) == [("git", "Apply"), ("other", "Apply")]


def test_conflict_names_field_and_manager(api: Api) -> None:
    api.apply(deployment(replicas=1))
    api.merge(("apps", "deployments"), "web", {"spec": {"replicas": 5}})
    with pytest.raises(ApiError) as caught:
        api.apply(deployment(replicas=2))
    assert caught.value.code == 409
    assert [cause["field"] for cause in caught.value.details["causes"]] == [".spec.replicas"]
    assert f'conflict with "{MANAGER}"' in caught.value.message
    forced = api.apply(deployment(replicas=2), force=True)
    assert forced["spec"]["replicas"] == 2
    assert managers(forced) == [("git", "Apply")]


def test_same_value_is_shared_not_fought_over(api: Api) -> None:
    api.apply(config_map(a="1"))
    assert managers(api.apply(config_map(a="1"), "other")) == [("git", "Apply"), ("other", "Apply")]


def test_list_items_have_owners(api: Api) -> None:
    sidecar = {"name": "sidecar", "image": "s:1"}
    api.apply(deployment())
    extra = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [sidecar]}}},
    }
    both = api.apply(extra, "injector")
    assert [each["name"] for each in both["spec"]["template"]["spec"]["containers"]] == ["c", "sidecar"]
    again = api.apply(deployment())
    assert len(again["spec"]["template"]["spec"]["containers"]) == 2, "not ours to remove"


def test_a_removed_item_goes_with_its_defaults(api: Api) -> None:
    two = pod_spec()
    two["containers"].append({"name": "d", "image": "d:1"})
    api.apply(deployment(spec=two))
    left = api.apply(deployment())["spec"]["template"]["spec"]["containers"]
    assert [each["name"] for each in left] == ["c"]


def test_ports_are_keyed_by_port_and_protocol(api: Api) -> None:
    spec = pod_spec()
    spec["containers"][0]["ports"] = [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53}]
    made = api.apply(deployment(spec=spec))
    assert made["spec"]["template"]["spec"]["containers"][0]["ports"] == [
        {"containerPort": 53, "protocol": "UDP"},
        {"containerPort": 53, "protocol": "TCP"},
    ]


def test_unknown_field_is_refused(api: Api) -> None:
    body = config_map()
    body["dta"] = {}
    with pytest.raises(ApiError, match=r"\.dta: field not declared in schema"):
        api.apply(body)


def test_dry_run_shows_and_stores_nothing(api: Api) -> None:
    made = api.apply(config_map(a="1"))
    assert api.apply(config_map(a="2"), dry_run=True)["data"] == {"a": "2"}
    assert api.apply(config_map(a="1"))["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_status_is_not_applied_through_the_main_endpoint(api: Api) -> None:
    body = deployment()
    body["status"] = {"readyReplicas": 7}
    assert api.apply(body)["status"] == {}


_data = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1", "2"]), max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_data, _data)
def test_apply_is_the_configuration_whatever_came_before(
    api: Api, first: dict[str, str], second: dict[str, str]
) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": next(_names)}}
    api.apply({**body, "data": first})
    once = api.apply({**body, "data": second})
    assert once.get("data", {}) == second
    assert api.apply({**body, "data": second}) == once, "twice is once"


_nothing: st.SearchStrategy[Object] = st.builds(dict[str, Any])
_fields: st.SearchStrategy[Object] = st.recursive(
    _nothing,
    lambda inner: st.dictionaries(st.sampled_from(["f:a", "f:b", "f:c"]), inner, min_size=1, max_size=3),
    max_leaves=8,
)


@given(_fields, _fields)
def test_sets_of_fields_obey_the_laws(a: Object, b: Object) -> None:
    def members(fields: Object) -> set[str]:
        return set(ownership.paths(fields))

    assert members(ownership.union(a, b)) == members(a) | members(b)
    assert members(ownership.intersection(a, b)) == members(a) & members(b)
    assert members(ownership.difference(a, b)) == members(a) - members(b)
