"""What the official Python client and its DynamicClient expect of any Kubernetes API."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# the official client publishes no types
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client as kubernetes_client
from kubernetes import dynamic as kubernetes_dynamic
from kubernetes import watch as kubernetes_watch
from kubernetes.client.exceptions import ApiException as _ApiException

from tests.sandbox_kubernetes.conftest import TOKEN, Cluster

client: Any = kubernetes_client
dynamic: Any = kubernetes_dynamic
watch: Any = kubernetes_watch
ApiException: Any = _ApiException
Object = dict[str, Any]

NAMESPACE = "work"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class Apis:
    def __init__(self, api: Any) -> None:
        self.core = client.CoreV1Api(api)
        self.apps = client.AppsV1Api(api)
        self.custom = client.CustomObjectsApi(api)
        self.extensions = client.ApiextensionsV1Api(api)
        self.authorization = client.AuthorizationV1Api(api)
        self.api = api


@pytest.fixture
def apis(cluster: Cluster, tmp_path: Path) -> Iterator[Apis]:
    ca = tmp_path / "ca.pem"
    ca.write_text(cluster.endpoint.ca_pem)
    configuration = client.Configuration()
    configuration.host = cluster.endpoint.url
    configuration.ssl_ca_cert = str(ca)
    configuration.api_key = {"authorization": f"Bearer {TOKEN}"}
    with client.ApiClient(configuration) as api:
        made = Apis(api)
        made.core.create_namespace({"metadata": {"name": NAMESPACE}})
        yield made
        api.rest_client.pool_manager.clear()


def config_map(name: str, **metadata: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, **metadata},
        "data": {"a": "1"},
    }


def pod(name: str, labels: dict[str, str] | None = None) -> Object:
    containers = [{"name": "c1", "image": "img:1"}, {"name": "c2", "image": "img:2"}]
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def deployment(name: str) -> Object:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def widgets(schema: Object | None = None) -> Object:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.ex.io"},
        "spec": {"group": "ex.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def refused(status: int, call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with pytest.raises(ApiException) as caught:
        call(*args, **kwargs)
    assert caught.value.status == status, caught.value.body


def eventually(check: Callable[[], bool], what: str) -> None:
    """Poll for at most two minutes: a real namespace takes five seconds to go, on a machine that has nothing else."""
    pause = threading.Event()
    for _ in range(6000):
        if check():
            return
        pause.wait(0.02)
    raise AssertionError(f"did not happen: {what}")


def is_gone(call: Callable[..., Any], *args: Any) -> bool:
    try:
        call(*args)
    except ApiException as error:
        return bool(error.status == 404)
    return False


def is_served(call: Callable[..., Any], *args: Any) -> bool:
    """A new kind is not found for a moment, then being made ready, then there."""
    try:
        call(*args)
    except ApiException as error:
        assert error.status in (404, 429), error
        return False
    return True


def events(call: Callable[..., Any], revision: str, act: Callable[[], None], count: int, **selectors: str) -> list[Any]:
    """(type, name) of the first `count` events of a watch that `act` causes."""
    stream = watch.Watch()
    seen: list[Any] = []
    threading.Timer(0.05, act).start()
    for event in stream.stream(call, NAMESPACE, resource_version=revision, timeout_seconds=5, **selectors):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == count:
            break
    stream.stop()
    return seen


@pytest.mark.behaviour("Official client: create, read, replace, patch, delete")
class TestObjects:
    def test_server_fields(self, apis: Apis) -> None:
        made = apis.core.create_namespaced_config_map(NAMESPACE, config_map("a")).metadata
        assert made.uid and made.resource_version and made.creation_timestamp

    def test_refusals(self, apis: Apis) -> None:
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("a"))
        refused(409, apis.core.create_namespaced_config_map, NAMESPACE, config_map("a"))
        refused(404, apis.core.create_namespaced_config_map, "nowhere", {"metadata": {"name": "x"}})
        refused(404, apis.core.read_namespaced_config_map, "zz", NAMESPACE)
        refused(422, apis.core.create_namespaced_config_map, NAMESPACE, config_map("Bad_Name"))

    def test_list(self, apis: Apis) -> None:
        listed = apis.core.list_namespaced_config_map(NAMESPACE)
        assert listed.kind == "ConfigMapList"
        assert int(listed.metadata.resource_version) > 0

    def test_replace_drops_absent_fields_and_refuses_stale_versions(self, apis: Apis) -> None:
        made = apis.core.create_namespaced_config_map(NAMESPACE, config_map("a"))
        stale = made.metadata.resource_version
        made.data = {"b": "2"}
        assert apis.core.replace_namespaced_config_map("a", NAMESPACE, made).data == {"b": "2"}
        made.metadata.resource_version, made.data = stale, {"c": "3"}
        refused(409, apis.core.replace_namespaced_config_map, "a", NAMESPACE, made)

    def test_patches(self, apis: Apis) -> None:
        patch = apis.core.patch_namespaced_config_map
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("a"))
        patch("a", NAMESPACE, {"data": {"x": "1"}}, _content_type=MERGE)
        assert patch("a", NAMESPACE, {"data": {"x": None}}, _content_type=MERGE).data == {"a": "1"}
        added = patch("a", NAMESPACE, [{"op": "add", "path": "/data/jp", "value": "v"}])
        assert added.data["jp"] == "v"
        refused(422, patch, "a", NAMESPACE, [{"op": "test", "path": "/data/jp", "value": "w"}])

    def test_strategic_merge_by_name(self, apis: Apis) -> None:
        apis.core.create_namespaced_pod(NAMESPACE, pod("p"))
        body = {"spec": {"containers": [{"name": "c2", "image": "img:3"}]}}
        patched = apis.core.patch_namespaced_pod("p", NAMESPACE, body, _content_type=STRATEGIC)
        assert [(c.name, c.image) for c in patched.spec.containers] == [("c1", "img:1"), ("c2", "img:3")]

    def test_generate_name(self, apis: Apis) -> None:
        made = apis.core.create_namespaced_config_map(NAMESPACE, {"metadata": {"generateName": "gen-"}})
        assert made.metadata.name.startswith("gen-") and len(made.metadata.name) == 9

    def test_dry_run_stores_nothing(self, apis: Apis) -> None:
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("dry"), dry_run="All")
        refused(404, apis.core.read_namespaced_config_map, "dry", NAMESPACE)

    def test_status_and_spec_are_apart(self, apis: Apis) -> None:
        apis.core.create_namespaced_pod(NAMESPACE, pod("p"))
        body = {"status": {"phase": "Failed"}, "spec": {"nodeName": "zz"}}
        patched = apis.core.patch_namespaced_pod_status("p", NAMESPACE, body)
        assert patched.status.phase == "Failed" and patched.spec.node_name is None
        apis.core.patch_namespaced_pod("p", NAMESPACE, {"status": {"phase": "Running"}})
        assert apis.core.read_namespaced_pod("p", NAMESPACE).status.phase == "Failed"

    def test_generation_and_scale(self, apis: Apis) -> None:
        made = apis.apps.create_namespaced_deployment(NAMESPACE, deployment("d"))
        relabelled = apis.apps.patch_namespaced_deployment("d", NAMESPACE, {"metadata": {"labels": {"z": "1"}}})
        assert made.metadata.generation == relabelled.metadata.generation == 1
        apis.apps.patch_namespaced_deployment_scale("d", NAMESPACE, {"spec": {"replicas": 5}})
        assert apis.apps.read_namespaced_deployment_scale("d", NAMESPACE).spec.replicas == 5
        assert apis.apps.read_namespaced_deployment("d", NAMESPACE).metadata.generation == 2


@pytest.mark.behaviour("Selectors by label and by field, pages")
class TestSelectors:
    @pytest.mark.parametrize(
        ("selector", "names"),
        [
            ("app=x", ["p1"]),
            ("app==x", ["p1"]),
            ("app in (x,y)", ["p1", "p2"]),
            ("app notin (x)", ["p2"]),
            ("app!=x", ["p2"]),
            ("tier", ["p1"]),
            ("!tier", ["p2"]),
            ("app=x,tier=b", []),
        ],
    )
    def test_labels(self, apis: Apis, selector: str, names: list[str]) -> None:
        apis.core.create_namespaced_pod(NAMESPACE, pod("p1", {"app": "x", "tier": "a"}))
        apis.core.create_namespaced_pod(NAMESPACE, pod("p2", {"app": "y"}))
        listed = apis.core.list_namespaced_pod(NAMESPACE, label_selector=selector)
        assert [each.metadata.name for each in listed.items] == names

    def test_fields(self, apis: Apis) -> None:
        for name in ("p1", "p2"):
            apis.core.create_namespaced_pod(NAMESPACE, pod(name))
        apis.core.patch_namespaced_pod_status("p2", NAMESPACE, {"status": {"phase": "Running"}})
        for selector, name in (("metadata.name=p1", "p1"), ("status.phase=Running", "p2")):
            listed = apis.core.list_namespaced_pod(NAMESPACE, field_selector=selector)
            assert [each.metadata.name for each in listed.items] == [name]
        refused(400, apis.core.list_namespaced_pod, NAMESPACE, field_selector="spec.nope=1")

    def test_pages(self, apis: Apis) -> None:
        for number in range(5):
            apis.core.create_namespaced_config_map(NAMESPACE, config_map(f"pg{number}"))
        page = apis.core.list_namespaced_config_map(NAMESPACE, limit=2)
        names = [each.metadata.name for each in page.items]
        while page.metadata._continue:
            page = apis.core.list_namespaced_config_map(NAMESPACE, limit=2, _continue=page.metadata._continue)
            names += [each.metadata.name for each in page.items]
        assert names == [f"pg{number}" for number in range(5)]


@pytest.mark.behaviour("Deletion: owners, propagation, finalizers, namespaces, grace")
class TestDeletion:
    def test_finalizer_holds(self, apis: Apis) -> None:
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("fin", finalizers=["x.io/f"]))
        apis.core.delete_namespaced_config_map("fin", NAMESPACE)
        assert apis.core.read_namespaced_config_map("fin", NAMESPACE).metadata.deletion_timestamp
        body = {"metadata": {"finalizers": None}}
        apis.core.patch_namespaced_config_map("fin", NAMESPACE, body, _content_type=MERGE)
        refused(404, apis.core.read_namespaced_config_map, "fin", NAMESPACE)

    def test_preconditions(self, apis: Apis) -> None:
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("pre"))
        options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="another"))
        refused(409, apis.core.delete_namespaced_config_map, "pre", NAMESPACE, body=options)

    def test_collection_with_selector(self, apis: Apis) -> None:
        for number in range(3):
            apis.core.create_namespaced_config_map(NAMESPACE, config_map(f"dc{number}", labels={"dc": "1"}))
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("kept"))
        apis.core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="dc=1")
        left = apis.core.list_namespaced_config_map(NAMESPACE).items
        assert [each.metadata.name for each in left] == ["kept"]

    def test_dependants_follow(self, apis: Apis) -> None:
        owner = apis.core.create_namespaced_config_map(NAMESPACE, config_map("own"))
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "own", "uid": owner.metadata.uid}
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("dep", ownerReferences=[reference]))
        apis.core.delete_namespaced_config_map("own", NAMESPACE)
        eventually(lambda: is_gone(apis.core.read_namespaced_config_map, "dep", NAMESPACE), "the dependant goes")

    def test_namespace_takes_its_content(self, apis: Apis) -> None:
        apis.core.create_namespaced_config_map(NAMESPACE, config_map("x"))
        apis.core.delete_namespace(NAMESPACE)
        eventually(lambda: is_gone(apis.core.read_namespace, NAMESPACE), "the namespace goes")

    def test_eviction(self, apis: Apis) -> None:
        apis.core.create_namespaced_pod(NAMESPACE, pod("ev"))
        eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="ev", namespace=NAMESPACE))
        apis.core.create_namespaced_pod_eviction("ev", NAMESPACE, eviction)
        refused(404, apis.core.read_namespaced_pod, "ev", NAMESPACE)


@pytest.mark.behaviour("Watches: resume, bookmarks, 410")
class TestWatch:
    def test_only_new_events_in_order(self, apis: Apis) -> None:
        revision = apis.core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

        def act() -> None:
            apis.core.create_namespaced_config_map(NAMESPACE, config_map("w"))
            apis.core.patch_namespaced_config_map("w", NAMESPACE, {"data": {"z": "1"}})
            apis.core.delete_namespaced_config_map("w", NAMESPACE)

        seen = events(apis.core.list_namespaced_config_map, revision, act, 3)
        assert seen == [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")]

    def test_leaving_the_selector_is_a_deletion(self, apis: Apis) -> None:
        revision = apis.core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

        def act() -> None:
            apis.core.create_namespaced_config_map(NAMESPACE, config_map("other"))
            apis.core.create_namespaced_config_map(NAMESPACE, config_map("wl", labels={"s": "1"}))
            body = {"metadata": {"labels": {"s": "2"}}}
            apis.core.patch_namespaced_config_map("wl", NAMESPACE, body, _content_type=MERGE)

        seen = events(apis.core.list_namespaced_config_map, revision, act, 2, label_selector="s=1")
        assert seen == [("ADDED", "wl"), ("DELETED", "wl")]

    def test_too_old_after_compaction(self, apis: Apis, cluster: Cluster) -> None:
        body = {"template": {"spec": pod("p")["spec"]}}
        revision = apis.core.list_namespaced_pod_template(NAMESPACE).metadata.resource_version
        for name in ("a", "b"):
            apis.core.create_namespaced_pod_template(NAMESPACE, {**body, "metadata": {"name": name}})
        cluster.compact()
        stream = watch.Watch().stream(
            apis.core.list_namespaced_pod_template, NAMESPACE, resource_version=revision, timeout_seconds=5
        )
        with pytest.raises(ApiException) as caught:
            list(stream)
        assert caught.value.status == 410

    @pytest.mark.simulated("a real one may remember everything since its birth")
    @pytest.mark.parametrize("revision", ["1", "50"])
    def test_too_old_from_the_start(self, apis: Apis, revision: str) -> None:
        with pytest.raises(ApiException) as caught:
            list(watch.Watch().stream(apis.core.list_namespaced_config_map, NAMESPACE, resource_version=revision))
        assert caught.value.status == 410

    def test_initial_events_end_with_a_bookmark(self, cluster: Cluster) -> None:
        kinds: list[str] = []
        query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        for event in cluster.client.watch("/api/v1/namespaces", "", lambda _: None, **query):
            kinds.append(event["type"])
            if event["type"] == "BOOKMARK":
                assert event["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
                break
        assert kinds == ["ADDED"] * 4 + ["BOOKMARK"]


@pytest.mark.behaviour("Custom kinds: schema, pruning, defaults, status, scale")
class TestCustomKinds:
    def test_definition_is_established_and_serves(self, apis: Apis) -> None:
        apis.extensions.create_custom_resource_definition(widgets())

        def is_established() -> bool:
            status = apis.extensions.read_custom_resource_definition("widgets.ex.io").status
            return any(each.type == "Established" and each.status == "True" for each in status.conditions or [])

        eventually(is_established, "the definition is established")
        where = ("ex.io", "v1", NAMESPACE, "widgets")
        eventually(lambda: is_served(apis.custom.list_namespaced_custom_object, *where), "and a moment later served")
        body = {"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"n": 1}}
        apis.custom.create_namespaced_custom_object(*where, body)
        apis.custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"ok": True}})
        found = apis.custom.get_namespaced_custom_object(*where, "w")
        assert found["status"] == {"ok": True} and found["metadata"]["generation"] == 1

        apis.extensions.delete_custom_resource_definition("widgets.ex.io")
        eventually(lambda: is_gone(apis.custom.list_namespaced_custom_object, *where), "the kind goes with its objects")

    def test_schema_defaults_prunes_and_refuses(self, apis: Apis) -> None:
        spec = {
            "type": "object",
            "required": ["n"],
            "properties": {"n": {"type": "integer", "minimum": 1}, "mode": {"type": "string", "default": "a"}},
        }
        apis.extensions.create_custom_resource_definition(widgets({"type": "object", "properties": {"spec": spec}}))
        where = ("ex.io", "v1", NAMESPACE, "widgets")
        eventually(lambda: is_served(apis.custom.list_namespaced_custom_object, *where), "the kind is served")

        def make(name: str, spec: Object, **query: str) -> Any:
            body = {"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}
            return apis.custom.create_namespaced_custom_object(*where, body, **query)

        assert make("good", {"n": 2, "junk": 1})["spec"] == {"n": 2, "mode": "a"}
        refused(422, make, "small", {"n": 0})
        refused(422, make, "none", {})
        refused(400, make, "strict", {"n": 2, "junk": 1}, field_validation="Strict")


@pytest.mark.behaviour("Official dynamic client: discovery, apply, patch")
class TestDynamicClient:
    def test_discovery_apply_and_conflict(self, apis: Apis) -> None:
        found = dynamic.DynamicClient(apis.api)
        maps = found.resources.get(api_version="v1", kind="ConfigMap")
        assert found.resources.get(api_version="v1", kind="Node").namespaced is False

        def apply(manager: str, data: dict[str, str], **options: Any) -> Any:
            body = {**config_map("ssa"), "data": data}
            return maps.server_side_apply(body=body, name="ssa", namespace=NAMESPACE, field_manager=manager, **options)

        apply("m1", {"a": "1", "b": "2"})
        assert dict(apply("m1", {"a": "1"}).data.to_dict()) == {"a": "1"}
        with pytest.raises(dynamic.exceptions.ConflictError):
            apply("m2", {"a": "9"})
        assert apply("m2", {"a": "9"}, force_conflicts=True).data["a"] == "9"

    def test_refuses_a_pod_without_containers(self, apis: Apis) -> None:
        pods = dynamic.DynamicClient(apis.api).resources.get(api_version="v1", kind="Pod")
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad"}, "spec": {}}
        with pytest.raises(dynamic.exceptions.DynamicApiError) as caught:
            pods.create(namespace=NAMESPACE, body=body)
        assert caught.value.status == 422


@pytest.mark.behaviour("Evictions, logs, tables, tokens")
class TestOthers:
    def test_nodes_are_cordoned(self, apis: Apis) -> None:
        apis.core.create_node({"metadata": {"name": "n"}, "spec": {}})
        taint = {"key": "k", "effect": "NoSchedule"}
        patched = apis.core.patch_node("n", {"spec": {"unschedulable": True, "taints": [taint]}})
        assert patched.spec.unschedulable and "k" in [each.key for each in patched.spec.taints]

    def test_access_review(self, apis: Apis) -> None:
        wanted = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        assert apis.authorization.create_self_subject_access_review(wanted).status.allowed is True

    @pytest.mark.simulated("a log comes from a kubelet, and none is there")
    def test_logs(self, apis: Apis, cluster: Cluster) -> None:
        apis.core.create_namespaced_pod(NAMESPACE, pod("p"))
        refused(400, apis.core.read_namespaced_pod_log, "p", NAMESPACE, container="c1")
        apis.core.patch_namespaced_pod_status("p", NAMESPACE, {"status": {"phase": "Running"}})
        logs = cluster.host.servers.api(cluster.endpoint.cluster).logs
        for number in range(3):
            logs.append(NAMESPACE, "p", "c1", f"step {number}")
        read = apis.core.read_namespaced_pod_log
        assert read("p", NAMESPACE, container="c1", tail_lines=2) == "step 1\nstep 2\n"
        refused(400, read, "p", NAMESPACE, container="nope")
        followed = read("p", NAMESPACE, container="c1", follow=True, tail_lines=1, _preload_content=False)
        lines = followed.stream(decode_content=True)
        assert next(lines) == b"step 2\n"
        logs.append(NAMESPACE, "p", "c1", "step 3")
        assert next(lines) == b"step 3\n"
        apis.core.patch_namespaced_pod_status("p", NAMESPACE, {"status": {"phase": "Succeeded"}})
        logs.append(NAMESPACE, "p", "c1", "the end")
        assert b"".join(lines) == b"the end\n"
        followed.release_conn()
