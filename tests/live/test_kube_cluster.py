"""Apply, read, delete against an API server over TLS."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from reconciler.live.errors import AlreadyExists, CallRefused, CallRejected, NotFound, ReplyLost
from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import FixedToken
from reconciler.sandbox.kubernetes.records import AFTER, BEFORE, Fault
from schemas.errors import InstantStartError
from tests.live.kube_server import TOKEN, Kubernetes, Simulated

pytestmark = pytest.mark.behaviour("Product: apply, lists, deletes and errors of the Kubernetes client")

OP = "01JA0000000000000000000000"
CONFIG_MAP = Gvk("v1", "ConfigMap")
NAMESPACE = Gvk("v1", "Namespace")


@pytest.fixture
def place(kube: KubeCluster, kubernetes: Kubernetes) -> str:
    """A new namespace."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    kube.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"by": "test"}}}], op=OP)
    kubernetes.requests.clear()
    return name


def config_map(place: str, name: str, **data: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": place, "labels": {"app": "x"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data or {"a": "1"}}


def test_apply_brings_what_was_asked_in_the_order_given(kube: KubeCluster, place: str) -> None:
    wanted = [config_map(place, f"c{n}") for n in range(40)]
    live = kube.apply(wanted, op=OP)
    assert [o["metadata"]["name"] for o in live] == [f"c{n}" for n in range(40)]
    assert kube.get(CONFIG_MAP, place, "c7")["data"] == {"a": "1"}


def test_namespaces_and_crds_go_first(kube: KubeCluster, kubernetes: Kubernetes) -> None:
    """Everything in one call, in the worst order: nothing fails, the CRD's own kind included."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    group = f"{name}.example.com"
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}", "labels": {"by": "test"}},
        "spec": {
            "group": group,
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }
    widget = {
        "apiVersion": f"{group}/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": name, "labels": {"by": "test"}},
        "spec": {},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"by": "test"}}}
    kube.apply([widget, config_map(name, "c"), crd, namespace], op=OP)
    assert kube.get(Gvk(f"{group}/v1", "Widget"), name, "w")["kind"] == "Widget"


def test_the_op_rides_in_the_user_agent_of_changes_only(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place, "c")], op=OP)
    kube.get(CONFIG_MAP, place, "c")
    kube.delete(CONFIG_MAP, place, "c", op=OP)
    agents = {r.verb: r.user_agent for r in kubernetes.requests if r.resource == "configmaps"}
    assert agents == {
        "patch": f"instantstart instantstart-op/{OP}",
        "get": "instantstart",
        "delete": f"instantstart instantstart-op/{OP}",
    }


def test_a_list_is_all_pages(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place, f"c{n:04d}") for n in range(501)], op=OP)
    kubernetes.requests.clear()
    found = kube.list(CONFIG_MAP, place, "app=x")
    assert len(found) == 501 and found[0]["kind"] == "ConfigMap"
    assert len([r for r in kubernetes.requests if r.verb == "list"]) == 2


def test_a_broken_second_page_is_an_error(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    """A partial list never passes for a whole one (E04, B11)."""
    kube.apply([config_map(place, f"c{n:04d}") for n in range(501)], op=OP)
    kubernetes.breaks = lambda r: Fault(status=500) if r.verb == "list" and "continue=" in r.query else None
    with pytest.raises(ReplyLost):
        kube.list(CONFIG_MAP, place)


def test_delete_only_the_very_one(kube: KubeCluster, place: str) -> None:
    kube.apply([config_map(place, "c")], op=OP)
    uid = kube.get(CONFIG_MAP, place, "c")["metadata"]["uid"]
    with pytest.raises(CallRefused) as caught:
        kube.delete(CONFIG_MAP, place, "c", op=OP, uid="another")
    assert caught.value.reason == "Conflict"
    kube.delete(CONFIG_MAP, place, "c", op=OP, uid=uid)
    with pytest.raises(NotFound):
        kube.get(CONFIG_MAP, place, "c")


def test_runs_are_created_once(kube: KubeCluster, place: str) -> None:
    kube.create(config_map(place, "run"), op=OP)
    with pytest.raises(AlreadyExists):
        kube.create(config_map(place, "run"), op=OP)


def test_json_patch_with_a_guard(kube: KubeCluster, place: str) -> None:
    kube.apply([config_map(place, "c")], op=OP)
    change = [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data/a", "value": "2"}]
    assert kube.patch_json(CONFIG_MAP, place, "c", change, op=OP)["data"] == {"a": "2"}
    with pytest.raises(InstantStartError):
        kube.patch_json(CONFIG_MAP, place, "c", change, op=OP)


def test_a_dry_run_changes_nothing(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place, "c")], op=OP, dry_run=True)
    with pytest.raises(NotFound):
        kube.get(CONFIG_MAP, place, "c")


def test_a_large_object_needs_no_annotation(kube: KubeCluster, place: str) -> None:
    """B43: 300 KB of training configuration."""
    live = kube.apply([config_map(place, "big", text="x" * 300_000)], op=OP)[0]
    assert "annotations" not in live["metadata"]


@pytest.mark.parametrize(
    ("fault", "expected", "reason"),
    [
        (Fault(status=500), ReplyLost, "ServerError"),
        (Fault(status=503, reason="ServiceUnavailable"), ReplyLost, "ServerError"),
        (Fault(status=429, reason="TooManyRequests", retry_after=3), CallRefused, "Throttled"),
        (Fault(status=409, reason="Conflict"), CallRefused, "Conflict"),
        (Fault(status=422, reason="Invalid"), CallRejected, "Invalid"),
        (Fault(status=403, reason="Forbidden"), CallRejected, "AccessDenied"),
        (Fault(drop=BEFORE), ReplyLost, "ConnectionLost"),
        (Fault(drop=AFTER), ReplyLost, "ConnectionLost"),
        (Fault(status=500, message="failed calling webhook x: no endpoints"), CallRefused, "WebhookUnavailable"),
    ],
)
def test_a_change_is_sent_once_however_it_ends(
    fault: Fault,
    expected: type[InstantStartError],
    reason: str,
    kube: KubeCluster,
    kubernetes: Kubernetes,
    place: str,
) -> None:
    kubernetes.breaks = lambda r: fault if r.verb == "patch" else None
    with pytest.raises(expected) as caught:
        kube.apply([config_map(place, "c")], op=OP)
    assert caught.value.reason == reason
    assert len([r for r in kubernetes.requests if r.verb == "patch"]) == 1


def test_a_read_is_repeated(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place, "c")], op=OP)
    left = [Fault(status=500), Fault(status=429, retry_after=1), Fault(drop=AFTER)]
    kubernetes.breaks = lambda r: left.pop() if r.verb == "get" and left else None
    assert kube.get(CONFIG_MAP, place, "c")["data"] == {"a": "1"}


def test_some_fail_and_all_are_tried(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kubernetes.breaks = lambda r: Fault(status=422, reason="Invalid") if r.name == "c3" else None
    outcomes = kube.apply_each([config_map(place, f"c{n}") for n in range(6)], op=OP)
    assert [o.error is None for o in outcomes] == [True, True, True, False, True, True]
    with pytest.raises(CallRejected, match=r"1 of 6 objects: ConfigMap .*/c3"):
        kube.apply([config_map(place, f"c{n}") for n in range(6)], op=OP)


def test_a_kind_that_is_not_served_is_named(kube: KubeCluster) -> None:
    """R08: and it may be served later, so it is no last word."""
    job = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "j", "namespace": "default"}}
    with pytest.raises(NotFound, match=r"RayJob of ray\.io/v1") as caught:
        kube.apply([job], op=OP)
    assert caught.value.reason == "KindNotServed"


def test_another_ca_is_a_tls_error_and_not_drift(kubernetes: Kubernetes) -> None:
    """E09: reads and changes are refused, nothing is absent."""
    other = Simulated()
    try:
        with KubeCluster(kubernetes.url, other.ca_pem, FixedToken(TOKEN), pause=lambda _: None) as kube:
            with pytest.raises(CallRefused) as caught:
                kube.list(NAMESPACE)
            assert caught.value.reason == "TlsError"
            compared = kube.compare([config_map("default", "c")])
            assert [c.state for c in compared] == ["unknown"]
    finally:
        other.close()


def test_when_nobody_listens_the_rest_is_not_tried(kubernetes: Kubernetes) -> None:
    lost = Simulated()
    with KubeCluster(lost.url, lost.ca_pem, FixedToken(TOKEN), pause=lambda _: None) as kube:
        kube.served(CONFIG_MAP)
        lost.close()
        outcomes = kube.apply_each([config_map("default", f"c{n}") for n in range(400)], op=OP)
    reasons = [o.error.reason for o in outcomes if o.error]
    assert len(reasons) == 400 and set(reasons) <= {"NotConnected", "ConnectionLost"}
    assert any("not sent" in o.error.message for o in outcomes if o.error)


def test_an_op_id_cannot_smuggle_a_header(kube: KubeCluster, place: str) -> None:
    with pytest.raises(CallRejected):
        kube.apply([config_map(place, "c")], op="x\r\nEvil: 1")


def test_names_from_outside_stay_in_their_place(kube: KubeCluster, place: str) -> None:
    """A name is data: it cannot climb to another path."""
    with pytest.raises(InstantStartError):
        kube.get(CONFIG_MAP, place, "../../../../api/v1/namespaces/default")


def test_after_close_nothing_is_sent(kubernetes: Kubernetes) -> None:
    kube = KubeCluster(kubernetes.url, kubernetes.ca_pem, FixedToken(TOKEN))
    kube.list(NAMESPACE)
    kube.close()
    with pytest.raises(CallRefused, match="closed"):
        kube.list(NAMESPACE)
