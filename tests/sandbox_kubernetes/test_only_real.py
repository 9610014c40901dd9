"""What the simulated server does not do and the real one does: so the product must not rest on either answer."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from reconciler.sandbox.kubernetes.simulators.client import Refused
from tests.sandbox_kubernetes.conftest import Cluster
from tests.sandbox_kubernetes.objects import config_map, pod_spec
from tests.sandbox_kubernetes.test_contract import GADGETS, gadget, serve

Object = dict[str, Any]
CORE = "/api/v1/namespaces/default"


@pytest.mark.behaviour("CEL rules in the schemas of custom kinds")
@pytest.mark.real("a rule is stored and shown, and not asked")
def test_rules_of_a_schema(cluster: Cluster) -> None:
    rule = {"rule": "self.most >= self.least", "message": "most is less than least"}
    numbers = {name: {"type": "integer"} for name in ("least", "most")}
    serve(cluster, {"type": "object", "properties": numbers, "x-kubernetes-validations": [rule]})
    cluster.client.create(GADGETS, gadget("good", {"least": 1, "most": 2}))
    with pytest.raises(Refused, match="most is less than least") as caught:
        cluster.client.create(GADGETS, gadget("bad", {"least": 2, "most": 1}))
    assert caught.value.code == 422


@pytest.mark.behaviour("Validating admission policies")
@pytest.mark.real("the kind is not served")
def test_admission_policies_are_served(cluster: Cluster) -> None:
    found = cluster.client.get("/apis/admissionregistration.k8s.io/v1")["resources"]
    assert "validatingadmissionpolicies" in {each["name"] for each in found}


@pytest.mark.behaviour("LimitRange: defaults and limits of pods")
@pytest.mark.real("the object is stored, and no pod is held to it")
def test_a_limit_range(cluster: Cluster) -> None:
    limits = [{"type": "Container", "default": {"cpu": "500m"}, "max": {"cpu": "1"}}]
    cluster.client.create(f"{CORE}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    made = cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": pod_spec()})
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "500m"}
    large = pod_spec()
    large["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    with pytest.raises(Refused, match="maximum cpu usage per Container is 1") as caught:
        cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "large"}, "spec": large})
    assert caught.value.code == 403


@pytest.mark.behaviour("ResourceQuota: how much a namespace may hold")
@pytest.mark.real("the object is stored, and nothing is counted")
def test_a_quota(cluster: Cluster) -> None:
    path = f"{CORE}/resourcequotas/q"
    cluster.client.create(f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "0"}}})
    cluster.client.merge(f"{path}/status", {"status": {"hard": {"configmaps": "0"}, "used": {"configmaps": "0"}}})
    with pytest.raises(Refused, match="exceeded quota") as caught:
        cluster.client.create(f"{CORE}/configmaps", config_map())
    assert caught.value.code == 403


@pytest.mark.behaviour("Roles that every cluster has (admin, edit, view, system:…)")
@pytest.mark.real("only cluster-admin is there; discovery is allowed to everybody without a role")
def test_roles_from_the_start(cluster: Cluster) -> None:
    names = set(cluster.ids("apis/rbac.authorization.k8s.io/v1/clusterroles"))
    assert {"cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"} <= names


@pytest.mark.behaviour("Roles that gather others (aggregationRule)")
@pytest.mark.real("the rule is stored, and nothing is gathered")
def test_a_gathering_role(cluster: Cluster) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    labels = {"gather": "yes"}
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]
    selectors = {"clusterRoleSelectors": [{"matchLabels": labels}]}
    cluster.client.create(roles, {"metadata": {"name": "all"}, "rules": [], "aggregationRule": selectors})
    cluster.client.create(roles, {"metadata": {"name": "one", "labels": labels}, "rules": rules})
    pause = threading.Event()
    for _ in range(6000):
        if cluster.client.get(f"{roles}/all")["rules"] == rules:
            return
        pause.wait(0.02)
    raise AssertionError("nothing was gathered")
