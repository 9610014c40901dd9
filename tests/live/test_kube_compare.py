"""Comparing: the verdicts of LIST and compare are those of a dry run for every object, and cost far less."""

from __future__ import annotations

import copy
import uuid
from typing import Any

import pytest

from reconciler.live.errors import CallRejected
from reconciler.live.kube import comparison
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.comparison import State
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import FixedToken
from reconciler.sandbox.kubernetes.records import Fault
from tests.live.kube_server import Kubernetes

pytestmark = pytest.mark.behaviour("Product: comparison says what a dry run says")

OP = "01JA0000000000000000000000"
GROUP = "queues.example.com"
SELECTOR = "instantstart.dev/cluster=prod"


@pytest.fixture
def place(kube: KubeCluster, kubernetes: Kubernetes) -> str:
    """A new namespace, and a custom kind whose server keeps values as they are written."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"queues.{GROUP}", "labels": {"by": "test"}},
        "spec": {
            "group": GROUP,
            "names": {"kind": "Queue", "plural": "queues", "singular": "queue", "listKind": "QueueList"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose}}},
                }
            ],
        },
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"by": "test"}}}
    kube.apply([namespace, crd], op=OP)
    kubernetes.requests.clear()
    return name


def _obj(api: str, kind: str, place: str, name: str, **rest: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": place, "labels": {"instantstart.dev/cluster": "prod"}}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **rest}


def config_map(place: str, name: str = "c", **data: str) -> dict[str, Any]:
    return _obj("v1", "ConfigMap", place, name, data=data or {"a": "1", "b": "2"})


def deployment(place: str, name: str = "d", **container: Any) -> dict[str, Any]:
    main: dict[str, Any] = {
        "name": "main",
        "image": "example/main:1",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "12000m", "memory": "3072Mi"}, "requests": {"cpu": "0.5"}},
        **container,
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [main], "volumes": []}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template}
    return _obj("apps/v1", "Deployment", place, name, spec=spec)


def service(place: str, name: str = "s") -> dict[str, Any]:
    spec: dict[str, Any] = {"selector": {"app": "d"}, "ports": [{"port": 80}], "loadBalancerSourceRanges": []}
    return _obj("v1", "Service", place, name, spec=spec)


def queue(place: str, name: str = "q") -> dict[str, Any]:
    groups = [
        {
            "coveredResources": ["cpu"],
            "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "30000m"}]}],
        }
    ]
    return _obj(
        f"{GROUP}/v1", "Queue", place, name, spec={"groups": groups, "allowEmpty": False, "limits": {"cpu": "25600m"}}
    )


def everything(place: str) -> list[dict[str, Any]]:
    return [config_map(place), deployment(place), service(place), queue(place)]


def states(kube: KubeCluster, wanted: list[dict[str, Any]], **more: Any) -> list[str]:
    return [c.state.value for c in kube.compare(wanted, label_selector=SELECTOR, **more)]


def test_what_was_applied_is_the_same(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    """B01, B03, B04, R07: quantities, an empty list, a default written out: no drift after apply."""
    wanted = everything(place)
    kube.apply(wanted, op=OP)
    assert states(kube, wanted) == ["same"] * 4


def test_the_second_look_needs_lists_only(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    """What a dry run has settled once is not asked again while nothing moves."""
    wanted = everything(place)
    kube.apply(wanted, op=OP)
    states(kube, wanted)
    kubernetes.requests.clear()
    assert states(kube, wanted) == ["same"] * 4
    assert {r.verb for r in kubernetes.requests} == {"list"} and len(kubernetes.requests) == 4


EQUAL_AMOUNTS = [("0.5", "500m"), ("1", "1000m"), ("3072Mi", "3Gi"), ("1000M", "1G"), ("12000m", "12")]


@pytest.mark.parametrize(("ours", "theirs"), EQUAL_AMOUNTS)
def test_equal_amounts_in_a_custom_resource_are_no_drift(ours: str, theirs: str, kube: KubeCluster, place: str) -> None:
    """B01, R07: the operator rewrote the amount in another form; the server keeps it as it is."""
    wanted = queue(place)
    wanted["spec"]["limits"]["cpu"] = ours
    kube.apply([wanted], op=OP)
    kube.patch_json(
        Gvk(f"{GROUP}/v1", "Queue"),
        place,
        "q",
        [{"op": "replace", "path": "/spec/limits/cpu", "value": theirs}],
        op=OP,
        field_manager="operator",
    )
    assert states(kube, [wanted]) == ["same"]


@pytest.mark.parametrize("theirs", ["1000Mi", "1Gi"])
def test_unequal_amounts_are_drift(theirs: str, kube: KubeCluster, place: str) -> None:
    """B01: 1000M is not 1000Mi and not 1Gi."""
    wanted = queue(place)
    wanted["spec"]["limits"]["cpu"] = "1000M"
    kube.apply([wanted], op=OP)
    change = [{"op": "replace", "path": "/spec/limits/cpu", "value": theirs}]
    kube.patch_json(Gvk(f"{GROUP}/v1", "Queue"), place, "q", change, op=OP, field_manager="operator")
    assert states(kube, [wanted]) == ["differs"]


def test_text_that_reads_like_an_amount_is_text(kube: KubeCluster, place: str) -> None:
    """The converse of B01: a ConfigMap's "1000m" is not its "1"."""
    kube.apply([config_map(place, cpu="1000m")], op=OP)
    assert states(kube, [config_map(place, cpu="1")]) == ["differs"]


MAIN = "/spec/template/spec/containers/0"
CLUSTER_LABEL = "/metadata/labels/instantstart.dev~1cluster"
DRIFTS: list[tuple[str, int, dict[str, Any]]] = [
    ("a value was changed", 0, {"op": "replace", "path": "/data/a", "value": "9"}),
    ("a key was removed", 0, {"op": "remove", "path": "/data/a"}),
    ("a replica count was changed", 1, {"op": "replace", "path": "/spec/replicas", "value": 5}),
    ("an image was changed", 1, {"op": "replace", "path": f"{MAIN}/image", "value": "x"}),
    (
        "an env value was changed",
        1,
        {"op": "replace", "path": f"{MAIN}/env/1/value", "value": "9"},
    ),
    ("an env entry was removed", 1, {"op": "remove", "path": f"{MAIN}/env/0"}),
    ("a port was changed", 2, {"op": "replace", "path": "/spec/ports/0/port", "value": 81}),
    (
        "a label of ours was changed",
        2,
        {"op": "replace", "path": CLUSTER_LABEL, "value": "x"},
    ),
    ("a label of ours was removed", 2, {"op": "remove", "path": "/metadata/labels"}),
    ("a custom field was changed", 3, {"op": "replace", "path": "/spec/allowEmpty", "value": True}),
    ("an item of an atomic list", 3, {"op": "add", "path": "/spec/groups/0/coveredResources/-", "value": "x"}),
]
ADDITIONS: list[tuple[str, int, dict[str, Any]]] = [
    ("another key", 0, {"op": "add", "path": "/data/z", "value": "9"}),
    ("another env entry", 1, {"op": "add", "path": f"{MAIN}/env/-", "value": {"name": "Z"}}),
    (
        "a sidecar",
        1,
        {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "s", "image": "y"}},
    ),
    ("an annotation", 2, {"op": "add", "path": "/metadata/annotations", "value": {"x": "y"}}),
    ("a custom field", 3, {"op": "add", "path": "/spec/more", "value": "z"}),
]


@pytest.mark.parametrize(("why", "index", "change"), [*DRIFTS, *ADDITIONS], ids=[d[0] for d in (*DRIFTS, *ADDITIONS)])
def test_verdicts_are_those_of_a_dry_run(
    why: str, index: int, change: dict[str, Any], kube: KubeCluster, place: str
) -> None:
    """One drift each: what `holds` lets pass, a dry run calls the same; what it finds, the dry run finds."""
    wanted = everything(place)
    kube.apply(wanted, op=OP)
    body = wanted[index]
    gvk = Gvk(body["apiVersion"], body["kind"])
    kube.patch_json(gvk, place, body["metadata"]["name"], [change], op=OP, field_manager="someone")

    expected: list[str] = []
    for one in wanted:
        live = kube.get(Gvk(one["apiVersion"], one["kind"]), place, one["metadata"]["name"])
        try:
            after = kube.apply_one(one, op=OP, dry_run=True)
        except CallRejected:  # a difference that the server will not let us undo by applying
            expected.append("differs")
        else:
            expected.append("differs" if comparison.differences(live, after) else "same")

    assert states(kube, wanted) == expected, why
    assert ("differs" in expected) == (change in [d[2] for d in DRIFTS]), why


def test_what_we_no_longer_write_goes(kube: KubeCluster, place: str) -> None:
    """The owned field that is no longer desired: seen, and the patch removes it."""
    kube.apply([config_map(place)], op=OP)
    found = kube.compare([config_map(place, a="1")])[0]
    assert found.state is State.DIFFERS
    assert found.patch == ({"op": "remove", "path": "/data/b"},)


def test_the_patch_says_what_would_change(kube: KubeCluster, place: str) -> None:
    kube.apply([deployment(place)], op=OP)
    found = kube.compare([deployment(place, image="example/main:2")])[0]
    assert found.patch == ({"op": "replace", "path": f"{MAIN}/image", "value": "example/main:2"},)


def test_absent_is_asked_for_without_the_label(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    """An object whose label was taken off by hand is there all the same; many missing ones cost one more list."""
    kube.apply([config_map(place, f"c{n}") for n in range(3)], op=OP)
    kube.patch_json(Gvk("v1", "ConfigMap"), place, "c1", [{"op": "remove", "path": "/metadata/labels"}], op=OP)
    kubernetes.requests.clear()
    wanted = [config_map(place, f"c{n}") for n in range(60)]
    assert states(kube, wanted) == ["same", "differs", "same"] + ["absent"] * 57
    assert [r.verb for r in kubernetes.requests].count("list") == 2
    assert [r.verb for r in kubernetes.requests].count("get") <= 1


@pytest.mark.parametrize(("status", "reason"), [(500, "InternalError"), (403, "Forbidden"), (429, "TooManyRequests")])
def test_a_list_that_fails_is_unknown_and_never_absent(
    status: int, reason: str, kube: KubeCluster, kubernetes: Kubernetes, place: str
) -> None:
    """Design rule 1; other kinds are not touched by it."""
    kube.apply(everything(place), op=OP)
    kubernetes.breaks = lambda r: (
        Fault(status=status, reason=reason) if r.verb == "list" and r.resource == "configmaps" else None
    )
    assert states(kube, everything(place)) == ["unknown", "same", "same", "same"]


def test_a_401_is_unknown(kubernetes: Kubernetes, place: str) -> None:
    """E01: an expired token is not a missing object."""
    expired = FixedToken("another")  # one that was good is still good for seconds: a real server remembers it
    with KubeCluster(kubernetes.url, kubernetes.ca_pem, expired, pause=lambda _: None) as kube:
        compared = kube.compare([config_map(place)])
    assert [(c.state.value, c.reason) for c in compared] == [("unknown", "ExpiredToken")]


def test_a_dry_run_that_fails_is_unknown(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place)], op=OP)
    kubernetes.breaks = lambda r: Fault(status=503) if r.dry_run else None
    assert states(kube, [config_map(place, a="9")]) == ["unknown"]


def test_a_dry_run_that_is_refused_says_why(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place)], op=OP)
    kubernetes.breaks = lambda r: (
        Fault(status=422, reason="Invalid", message="field is immutable") if r.dry_run else None
    )
    found = kube.compare([config_map(place, a="9")])[0]
    assert found.state is State.DIFFERS and "immutable" in found.problem


def test_a_kind_that_is_not_served_is_absent_with_its_reason(kube: KubeCluster, place: str) -> None:
    found = kube.compare([_obj("ray.io/v1", "RayJob", place, "j")])[0]
    assert (found.state, found.reason) == (State.ABSENT, "KindNotServed")


def test_values_of_secrets_stay_out_of_patches(kube: KubeCluster, place: str) -> None:
    """D05."""
    secret = _obj("v1", "Secret", place, "s", data={"k": "aGVsbG8="})
    absent = kube.compare([secret])[0]
    kube.apply([secret], op=OP)
    other = copy.deepcopy(secret)
    other["data"]["k"] = "d29ybGQ="
    differs = kube.compare([other])[0]
    assert differs.state is State.DIFFERS
    assert "aGVsbG8" not in str(absent.patch) + str(differs.patch) and "d29ybGQ" not in str(differs.patch)


def test_what_a_person_changed_where_we_are_silent_is_shown(kube: KubeCluster, place: str) -> None:
    """B06: ClusterIP to LoadBalancer by kubectl; applying leaves it, so it is the same, but said."""
    wanted = service(place)
    kube.apply([wanted], op=OP)
    change = [{"op": "replace", "path": "/spec/type", "value": "LoadBalancer"}]
    kube.patch_json(Gvk("v1", "Service"), place, "s", change, op=OP, field_manager="kubectl-edit")
    found = kube.compare([wanted])[0]
    assert found.state is State.SAME and "/spec/type" in found.unmanaged


def test_a_field_the_server_dropped_is_named() -> None:
    """C29: a field with one capital wrong is accepted and forgotten."""
    sent: dict[str, Any] = {
        "kind": "X",
        "spec": {"initialReplicaCount": 2, "modelName": "m", "empty": [], "off": False},
    }
    stored = {"kind": "X", "spec": {"modelName": "m"}}
    assert comparison.dropped(sent, stored) == ["/spec/initialReplicaCount"]
