"""What the product builds on beside plain reads and writes: discovery, watches, ownership, dry runs, pages."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from reconciler.sandbox.kubernetes.kinds import Kinds
from reconciler.sandbox.kubernetes.objects import dig
from reconciler.sandbox.kubernetes.simulators.client import Refused
from tests.kube_servers.definitions import definitions
from tests.sandbox_kubernetes.conftest import Cluster
from tests.sandbox_kubernetes.objects import config_map, deployment, pod_spec

Object = dict[str, Any]

CORE = "/api/v1/namespaces/default"
MAPS = f"{CORE}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GADGETS = "/apis/ex.io/v1/namespaces/default/gadgets"


def apply(cluster: Cluster, path: str, body: Object, manager: str = "git", **query: str) -> Object:
    return cluster.client.request(
        "PATCH", path, query={"fieldManager": manager, **query}, body=body, content_type="application/apply-patch+yaml"
    )


def managers(obj: Object) -> list[tuple[str, str, str]]:
    found = [
        (each["manager"], each["operation"], each.get("subresource", "")) for each in obj["metadata"]["managedFields"]
    ]
    return sorted(found)


def serve(cluster: Cluster, spec: Object, **version: Any) -> None:
    """A kind Gadget with that schema of its spec, and wait until it is served."""
    status: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema, **version}]
    names = {"plural": "gadgets", "kind": "Gadget"}
    body = {"group": "ex.io", "scope": "Namespaced", "names": names, "versions": versions}
    cluster.client.create(DEFINITIONS, {"metadata": {"name": "gadgets.ex.io"}, "spec": body})
    established(cluster, "gadgets.ex.io")
    eventually_served(cluster, GADGETS)


def established(cluster: Cluster, name: str) -> None:
    pause = threading.Event()
    conditions: list[Object] = []
    for _ in range(6000):
        conditions = dig(cluster.client.get(f"{DEFINITIONS}/{name}"), "status", "conditions") or []
        if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return
        pause.wait(0.02)
    raise AssertionError(f"{name} is not established: {conditions}")


def eventually_served(cluster: Cluster, path: str) -> None:
    """A moment after Established the server may still say 404, or 429 while it makes room for the kind."""
    pause = threading.Event()
    for _ in range(6000):
        try:
            cluster.client.get(path)
            return
        except Refused as refused:
            assert refused.code in (404, 429)
            pause.wait(0.02)
    raise AssertionError(f"{path} is not served")


def gadget(name: str, spec: Object, **rest: Any) -> Object:
    return {"apiVersion": "ex.io/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec, **rest}


@pytest.mark.behaviour("Discovery: groups, kinds, verbs, short names")
class TestDiscovery:
    def test_every_kind_is_where_the_real_one_is(self, cluster: Cluster) -> None:
        """The simulated server's table, held against what the server says of itself."""
        said: dict[str, dict[str, Object]] = {}
        for kind in Kinds():
            root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
            if root not in said:
                said[root] = {each["name"]: each for each in cluster.client.get(root)["resources"]}
            entry = said[root][kind.plural]
            names = tuple(entry.get("shortNames", ()))
            assert (entry["kind"], entry["namespaced"], entry["singularName"], names) == (
                kind.kind,
                kind.namespaced,
                kind.singular,
                kind.short_names,
            )
            assert set(kind.verbs) == set(entry["verbs"]), kind.plural
            assert set(kind.categories) == set(entry.get("categories", ())), kind.plural
            for subresource in kind.subresources:
                assert f"{kind.plural}/{subresource}" in said[root]

    def test_groups_and_their_preferred_version(self, cluster: Cluster) -> None:
        groups = {
            each["name"]: each["preferredVersion"]["groupVersion"] for each in cluster.client.get("/apis")["groups"]
        }
        assert groups["apps"] == "apps/v1"
        assert {kind.group for kind in Kinds()} - {""} <= set(groups)
        assert cluster.client.get("/api")["versions"] == ["v1"]
        assert cluster.client.get("/version")["minor"] == "34"

    def test_schemas_are_listed(self, cluster: Cluster) -> None:
        paths = cluster.client.get("/openapi/v3")["paths"]
        assert {"api/v1", "apis/apps/v1"} <= set(paths)


@pytest.mark.behaviour("Watches: resume, bookmarks, 410")
class TestWatch:
    def test_bookmarks(self, cluster: Cluster) -> None:
        """What a watch does not show moves it on all the same; before it ends it says how far."""
        began = cluster.client.get(MAPS)["metadata"]["resourceVersion"]
        cluster.client.create(MAPS, config_map())
        seen: list[Object] = []
        elsewhere = 0
        for event in cluster.client.watch(MAPS, began, lambda _: None, timeoutSeconds="5"):
            if not seen:
                made = cluster.client.create("/api/v1/namespaces/kube-public/configmaps", config_map("elsewhere"))
                elsewhere = int(made["metadata"]["resourceVersion"])
            seen.append(event)
        assert [each["type"] for each in seen[:2]] == ["ADDED", "BOOKMARK"]
        told = seen[-1]["object"]
        assert told["kind"] == "ConfigMap"
        assert int(told["metadata"]["resourceVersion"]) >= elsewhere
        assert set(told["metadata"]) <= {"resourceVersion", "creationTimestamp"}

    def test_from_nothing_means_everything_first(self, cluster: Cluster) -> None:
        cluster.client.create(MAPS, config_map("one"))
        for event in cluster.client.watch(MAPS, "0", lambda _: None):
            assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "one")
            break

    def test_initial_events_must_be_asked_for_with_their_match(self, cluster: Cluster) -> None:
        with pytest.raises(Refused, match="NotOlderThan") as caught:
            list(cluster.client.watch(MAPS, "", lambda _: None, sendInitialEvents="true"))
        assert caught.value.code == 422


@pytest.mark.behaviour("Server-side apply: owners of fields, conflicts, lists by key")
class TestOwnership:
    def test_who_wrote_what(self, cluster: Cluster) -> None:
        path = f"{DEPLOYMENTS}/web"
        made = apply(cluster, path, deployment(replicas=2))
        assert managers(made) == [("git", "Apply", "")]
        fields = made["metadata"]["managedFields"][0]["fieldsV1"]
        assert fields["f:spec"]["f:replicas"] == {}
        assert set(fields["f:spec"]["f:template"]["f:spec"]["f:containers"]) == {'k:{"name":"c"}'}
        scaled = cluster.client.merge(f"{path}/scale", {"spec": {"replicas": 3}})
        assert scaled["spec"]["replicas"] == 3
        cluster.client.merge(f"{path}/status", {"status": {"replicas": 3}})
        found = cluster.client.get(path)
        assert managers(found) == [
            ("git", "Apply", ""),
            ("sandbox-simulators", "Update", "scale"),
            ("sandbox-simulators", "Update", "status"),
        ]

    def test_conflict_is_a_status_with_causes(self, cluster: Cluster) -> None:
        apply(cluster, f"{MAPS}/cm", config_map(a="1"))
        with pytest.raises(Refused, match=r'conflict with "git": \.data\.a') as caught:
            apply(cluster, f"{MAPS}/cm", config_map(a="2"), "other")
        assert (caught.value.code, caught.value.reason) == (409, "Conflict")
        forced = apply(cluster, f"{MAPS}/cm", config_map(a="2"), "other", force="true")
        assert managers(forced) == [("other", "Apply", "")]

    def test_apply_needs_a_manager(self, cluster: Cluster) -> None:
        with pytest.raises(Refused, match="is required for apply patch"):
            apply(cluster, f"{MAPS}/cm", config_map(), "")

    def test_apply_needs_a_name(self, cluster: Cluster) -> None:
        with pytest.raises(Refused, match="name must be provided") as caught:
            apply(cluster, f"{MAPS}/cm", {"apiVersion": "v1", "kind": "ConfigMap"})
        assert caught.value.code == 400

    def test_a_plain_write_takes_the_field_from_its_applier(self, cluster: Cluster) -> None:
        apply(cluster, f"{MAPS}/cm", config_map(a="1", b="1"))
        cluster.client.merge(f"{MAPS}/cm", {"data": {"a": "2"}})
        found = cluster.client.get(f"{MAPS}/cm")
        owned = {each["manager"]: each["fieldsV1"] for each in found["metadata"]["managedFields"]}
        assert owned == {
            "git": {"f:data": {"f:b": {}}},
            "sandbox-simulators": {"f:data": {"f:a": {}}},
        }


@pytest.mark.behaviour("Dry runs")
class TestDryRun:
    def test_no_verb_stores_anything(self, cluster: Cluster) -> None:
        made = cluster.client.create(MAPS, config_map(a="1"))
        all_ = {"dryRun": "All"}
        changed = config_map(a="2")
        shown = cluster.client.request("PUT", f"{MAPS}/cm", query=all_, body=changed)
        assert shown["data"] == {"a": "2"}
        patched = cluster.client.request(
            "PATCH", f"{MAPS}/cm", query=all_, body={"data": {"b": "1"}}, content_type="application/merge-patch+json"
        )
        assert patched["data"] == {"a": "1", "b": "1"}
        cluster.client.request("DELETE", f"{MAPS}/cm", query=all_)
        applied = apply(cluster, f"{MAPS}/new", config_map("new"), **all_)
        assert applied["metadata"]["uid"]
        found = cluster.client.get(f"{MAPS}/cm")
        assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
        assert found["data"] == {"a": "1"}
        assert "new" not in cluster.ids(MAPS[1:])

    def test_a_dry_run_is_refused_as_the_real_one_would_be(self, cluster: Cluster) -> None:
        with pytest.raises(Refused) as caught:
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
            apply(cluster, f"{CORE}/pods/p", body, dryRun="All")
        assert caught.value.code == 422


@pytest.mark.behaviour("Selectors by label and by field, pages")
class TestPages:
    def test_pages_show_one_moment(self, cluster: Cluster) -> None:
        """What comes between two pages is on neither."""
        for name in ("a", "b", "d"):
            cluster.client.create(MAPS, config_map(name))
        first = cluster.client.get(MAPS, limit="2")
        assert first["metadata"]["remainingItemCount"] == 1
        cluster.client.create(MAPS, config_map("c"))
        second = cluster.client.get(MAPS, limit="2", **{"continue": first["metadata"]["continue"]})
        names = [each["metadata"]["name"] for each in (*first["items"], *second["items"])]
        assert names == ["a", "b", "d"]
        assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]

    def test_a_page_of_the_forgotten_past(self, cluster: Cluster) -> None:
        path = f"{CORE}/podtemplates"
        for name in ("a", "b"):
            cluster.client.create(path, {"metadata": {"name": name}, "template": {"spec": pod_spec()}})
        first = cluster.client.get(path, limit="1")
        cluster.client.create(path, {"metadata": {"name": "c"}, "template": {"spec": pod_spec()}})
        cluster.compact()
        with pytest.raises(Refused) as caught:
            cluster.client.get(path, limit="1", **{"continue": first["metadata"]["continue"]})
        assert (caught.value.code, caught.value.reason) == (410, "Expired")


@pytest.mark.behaviour("Custom kinds: schema, pruning, defaults, status, scale")
class TestCustomKinds:
    def test_validation(self, cluster: Cluster) -> None:
        properties: Object = {
            "mode": {"type": "string", "enum": ["a", "b"]},
            "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
            "n": {"type": "integer", "minimum": 1, "maximum": 5},
            "amount": {"x-kubernetes-int-or-string": True},
            "list": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        }
        serve(cluster, {"type": "object", "properties": properties})
        good = {"mode": "a", "name": "abc", "n": 5, "amount": "1Gi", "list": ["x"], "map": {"k": 1}}
        assert cluster.client.create(GADGETS, gadget("good", good))["spec"] == good
        for field, value in {
            "mode": "c",
            "name": "abcd",
            "n": 6,
            "amount": 1.5,
            "list": ["x", "y", "z"],
            "map": {"k": "v"},
        }.items():
            with pytest.raises(Refused, match=f"spec.{field}") as caught:
                cluster.client.create(GADGETS, gadget("bad", {field: value}))
            assert caught.value.code == 422, field

    def test_pruning_and_nulls(self, cluster: Cluster) -> None:
        properties: Object = {
            "kept": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "maybe": {"type": "string", "nullable": True},
            "filled": {"type": "string", "default": "x"},
        }
        serve(cluster, {"type": "object", "properties": properties})
        made = cluster.client.create(
            GADGETS, gadget("g", {"kept": {"any": 1}, "junk": 1, "maybe": None, "filled": None}, extra={"a": 1})
        )
        assert made["spec"] == {"kept": {"any": 1}, "maybe": None, "filled": "x"}
        assert "extra" not in made

    def test_status_and_scale(self, cluster: Cluster) -> None:
        scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
        replicas = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
        serve(cluster, replicas, subresources={"status": {}, "scale": scale})
        made = cluster.client.create(GADGETS, gadget("g", {"replicas": 1}, status={"replicas": 9}))
        assert "status" not in made and made["metadata"]["generation"] == 1
        cluster.client.merge(f"{GADGETS}/g/status", {"status": {"replicas": 1}, "spec": {"replicas": 7}})
        cluster.client.merge(f"{GADGETS}/g/scale", {"spec": {"replicas": 2}})
        found = cluster.client.get(f"{GADGETS}/g")
        assert (found["spec"], found["status"]) == ({"replicas": 2}, {"replicas": 1})
        assert found["metadata"]["generation"] == 2
        shown = cluster.client.get(f"{GADGETS}/g/scale")
        assert (shown["kind"], shown["spec"], shown["status"]) == ("Scale", {"replicas": 2}, {"replicas": 1})

    def test_lists_are_merged_as_the_schema_says(self, cluster: Cluster) -> None:
        item = {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "v": {"type": "string"}},
        }
        keyed = {
            "type": "array",
            "items": item,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        }
        serve(cluster, {"type": "object", "properties": {"keyed": keyed, "whole": {"type": "array", "items": item}}})
        path = f"{GADGETS}/g"
        apply(cluster, path, gadget("g", {"keyed": [{"name": "a", "v": "1"}], "whole": [{"name": "a"}]}))
        both = apply(cluster, path, gadget("g", {"keyed": [{"name": "b", "v": "2"}]}), "other")
        assert [each["name"] for each in both["spec"]["keyed"]] == ["a", "b"]
        with pytest.raises(Refused, match="conflict") as caught:
            apply(cluster, path, gadget("g", {"whole": [{"name": "b"}]}), "other")
        assert caught.value.code == 409

    def test_the_operators_own_definitions_are_served(self, cluster: Cluster) -> None:
        """Those that lie beside the repository, on a server that takes only structural schemas."""
        found = list(definitions())
        if not found:
            pytest.skip("no definitions beside the repository")
        for definition in found:
            cluster.client.create(DEFINITIONS, definition)
        for definition in found:
            established(cluster, definition["metadata"]["name"])


@pytest.mark.behaviour("Names: rules, generateName")
class TestNames:
    @pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "dot.", "x" * 254])
    def test_refused(self, name: str, cluster: Cluster) -> None:
        with pytest.raises(Refused) as caught:
            cluster.client.create(MAPS, config_map(name))
        assert (caught.value.code, caught.value.reason) == (422, "Invalid")

    def test_generated(self, cluster: Cluster) -> None:
        body = {"metadata": {"generateName": "x" * 100}}
        name = cluster.client.create(MAPS, body)["metadata"]["name"]
        assert len(name) == 63 and name.startswith("x" * 58)

    def test_without_a_name(self, cluster: Cluster) -> None:
        with pytest.raises(Refused, match="name or generateName is required") as caught:
            cluster.client.create(MAPS, {"metadata": {}})
        assert caught.value.code == 422


@pytest.mark.behaviour("Admission: service accounts, taints of new nodes")
class TestPods:
    def test_a_pod_is_told_who_it_is(self, cluster: Cluster) -> None:
        """The server mounts a token of its service account."""
        made = cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": pod_spec()})
        assert made["spec"]["serviceAccountName"] == "default"
        mounts = [each["mountPath"] for each in made["spec"]["containers"][0]["volumeMounts"]]
        assert mounts == ["/var/run/secrets/kubernetes.io/serviceaccount"]

    def test_a_new_node_is_not_ready(self, cluster: Cluster) -> None:
        made = cluster.client.create("/api/v1/nodes", {"metadata": {"name": "n"}, "spec": {}})
        assert made["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
