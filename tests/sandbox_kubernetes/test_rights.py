"""RBAC: who may what, what a refusal says, and that nobody gives what he does not have."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from reconciler.sandbox.kubernetes.access import RBAC
from reconciler.sandbox.kubernetes.simulators.client import Refused
from tests.sandbox_kubernetes.conftest import Cluster
from tests.sandbox_kubernetes.objects import config_map, deployment, pod_spec

Object = dict[str, Any]

READER = "reader-token"  # user reader, group team-a
ROLES = f"/apis/{RBAC}/v1/clusterroles"
BINDINGS = f"/apis/{RBAC}/v1/clusterrolebindings"
LOCAL_ROLES = f"/apis/{RBAC}/v1/namespaces/default/roles"
MAPS = "/api/v1/namespaces/default/configmaps"
REVIEWS = "/apis/authorization.k8s.io/v1"
APPLY = "application/apply-patch+yaml"


def ask(
    cluster: Cluster, method: str, path: str, body: Object | None = None, content_type: str = "application/json"
) -> tuple[int, Object]:
    """As the reader: the status and what was said, details included."""
    where = urlsplit(cluster.endpoint.url)
    context = ssl.create_default_context(cadata=cluster.endpoint.ca_pem)
    connection = http.client.HTTPSConnection(where.hostname or "", where.port, context=context, timeout=120)
    headers = {"Authorization": f"Bearer {READER}", "Content-Type": content_type, "User-Agent": "test"}
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def rule(verbs: str, resources: str, group: str = "", **more: Any) -> Object:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split(), **more}


def grant(cluster: Cluster, *rules: Object, name: str = "r") -> None:
    """The reader's group may that everywhere, and nothing else by this name."""
    body = {"metadata": {"name": name}, "rules": list(rules)}
    if name in cluster.ids(ROLES[1:]):
        cluster.client.merge(f"{ROLES}/{name}", {"rules": list(rules)})
        return
    cluster.client.create(ROLES, body)
    cluster.client.create(
        BINDINGS,
        {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": "team-a"}],
        },
    )


def soon(cluster: Cluster, code: int, method: str, path: str, body: Object | None = None, kind: str = "") -> Object:
    """A real server hears of a change of rights a moment after it was stored."""
    status, said = 0, Object()
    for _ in range(6000):
        status, said = ask(cluster, method, path, body, kind or "application/json")
        if status == code:
            return said
        time.sleep(0.02)
    raise AssertionError(f"{method} {path}: {status} {said}")


def may(cluster: Cluster, verb: str, resource: str, **more: str) -> Object:
    wanted = {"spec": {"resourceAttributes": {"verb": verb, "resource": resource, **more}}}
    status, said = ask(cluster, "POST", f"{REVIEWS}/selfsubjectaccessreviews", wanted)
    assert status == 201
    return dict(said["status"])


def may_soon(cluster: Cluster, verb: str, resource: str, **more: str) -> None:
    for _ in range(6000):
        if may(cluster, verb, resource, **more)["allowed"]:
            return
        time.sleep(0.02)
    raise AssertionError(f"{verb} {resource} stays forbidden")


@pytest.mark.behaviour("RBAC: what a 403 says")
class TestRefusal:
    @pytest.mark.parametrize(
        ("method", "path", "text", "details"),
        [
            (
                "GET",
                f"{MAPS}/a",
                'configmaps "a" is forbidden: User "reader" cannot get resource "configmaps" in API group "" in the '
                'namespace "default"',
                {"name": "a", "kind": "configmaps"},
            ),
            (
                "GET",
                "/api/v1/persistentvolumes",
                'persistentvolumes is forbidden: User "reader" cannot list resource "persistentvolumes" in API group '
                '"" at the cluster scope',
                {"kind": "persistentvolumes"},
            ),
            (
                "GET",
                f"{MAPS}?watch=1",
                'configmaps is forbidden: User "reader" cannot watch resource "configmaps" in API group "" in the '
                'namespace "default"',
                {"kind": "configmaps"},
            ),
            (
                "POST",
                "/apis/apps/v1/namespaces/default/deployments",
                'deployments.apps is forbidden: User "reader" cannot create resource "deployments" in API group "apps"'
                ' in the namespace "default"',
                {"group": "apps", "kind": "deployments"},
            ),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/default/deployments/web/status",
                'deployments.apps "web" is forbidden: User "reader" cannot patch resource "deployments/status" in API '
                'group "apps" in the namespace "default"',
                {"name": "web", "group": "apps", "kind": "deployments"},
            ),
            (
                "GET",
                "/api/v1/namespaces/default",
                'namespaces "default" is forbidden: User "reader" cannot get resource "namespaces" in API group "" in '
                'the namespace "default"',
                {"name": "default", "kind": "namespaces"},
            ),
            (
                "DELETE",
                MAPS,
                'configmaps is forbidden: User "reader" cannot deletecollection resource "configmaps" in API group "" '
                'in the namespace "default"',
                {"kind": "configmaps"},
            ),
            ("GET", "/metrics", 'forbidden: User "reader" cannot get path "/metrics"', {}),
        ],
    )
    def test_it_names_the_verb_and_the_resource(
        self, cluster: Cluster, method: str, path: str, text: str, details: Object
    ) -> None:
        status, said = ask(cluster, method, path, {} if method in ("POST", "PATCH") else None)
        assert (status, said["kind"], said["reason"], said["code"]) == (403, "Status", "Forbidden", 403)
        assert said["message"] == text
        assert said["details"] == details

    def test_what_is_not_served_is_forbidden_first(self, cluster: Cluster) -> None:
        status, said = ask(cluster, "GET", "/apis/ex.io/v1/gadgets")
        assert status == 403
        assert 'cannot list resource "gadgets" in API group "ex.io"' in said["message"]

    def test_everybody_may_discover(self, cluster: Cluster) -> None:
        for path in ("/api", "/apis", "/apis/apps/v1", "/openapi/v3", "/version", "/readyz"):
            where = urlsplit(cluster.endpoint.url)
            context = ssl.create_default_context(cadata=cluster.endpoint.ca_pem)
            connection = http.client.HTTPSConnection(where.hostname or "", where.port, context=context, timeout=120)
            connection.request("GET", path, headers={"Authorization": f"Bearer {READER}"})
            assert connection.getresponse().status == 200, path
            connection.close()


@pytest.mark.behaviour("RBAC: rules, names, subresources, creates by apply")
class TestRules:
    def test_an_apply_of_what_is_not_there_is_a_create(self, cluster: Cluster) -> None:
        grant(cluster, rule("patch", "configmaps"))
        path = f"{MAPS}/cm?fieldManager=git"
        may_soon(cluster, "patch", "configmaps")
        status, said = ask(cluster, "PATCH", path, config_map(a="1"), APPLY)
        assert (status, said["reason"]) == (403, "Forbidden")
        assert 'cannot create resource "configmaps"' in said["message"]
        cluster.client.create(MAPS, config_map(a="1"))
        assert ask(cluster, "PATCH", path, config_map(b="1"), APPLY)[0] == 200
        grant(cluster, rule("patch create", "configmaps"))
        may_soon(cluster, "create", "configmaps")
        assert ask(cluster, "PATCH", f"{MAPS}/other?fieldManager=git", config_map("other"), APPLY)[0] == 201

    def test_a_dry_run_needs_the_same_rights(self, cluster: Cluster) -> None:
        cluster.client.create(MAPS, config_map(a="1"))
        status, said = ask(cluster, "PATCH", f"{MAPS}/cm?fieldManager=git&dryRun=All", config_map(a="2"), APPLY)
        assert status == 403
        assert 'cannot patch resource "configmaps"' in said["message"]

    def test_one_name_of_many(self, cluster: Cluster) -> None:
        cluster.client.create(MAPS, config_map("mine"))
        cluster.client.create(MAPS, config_map("yours"))
        grant(cluster, rule("get delete", "configmaps", resourceNames=["mine"]))
        soon(cluster, 200, "GET", f"{MAPS}/mine")
        assert ask(cluster, "GET", f"{MAPS}/yours")[0] == 403
        assert ask(cluster, "GET", MAPS)[0] == 403

    def test_a_subresource_is_a_right_of_its_own(self, cluster: Cluster) -> None:
        made = deployment()
        cluster.client.create("/apis/apps/v1/namespaces/default/deployments", made)
        path = "/apis/apps/v1/namespaces/default/deployments/web"
        grant(cluster, rule("get", "deployments/scale", "apps"))
        soon(cluster, 200, "GET", f"{path}/scale")
        assert ask(cluster, "GET", path)[0] == 403
        grant(cluster, rule("get", "*/scale", "apps"))
        soon(cluster, 200, "GET", f"{path}/scale")
        grant(cluster, rule("get", "deployments", "apps"))
        soon(cluster, 200, "GET", path)
        assert ask(cluster, "GET", f"{path}/scale")[0] == 403

    def test_a_right_that_is_taken_away_is_gone(self, cluster: Cluster) -> None:
        grant(cluster, rule("get list", "nodes"))
        soon(cluster, 200, "GET", "/api/v1/nodes")
        grant(cluster, rule("get", "nodes"))
        soon(cluster, 403, "GET", "/api/v1/nodes")
        assert ask(cluster, "GET", "/api/v1/nodes/none")[0] == 404

    def test_deleting_a_collection_is_a_verb_of_its_own(self, cluster: Cluster) -> None:
        grant(cluster, rule("delete list", "configmaps"))
        may_soon(cluster, "delete", "configmaps")
        assert ask(cluster, "DELETE", MAPS)[0] == 403

    @pytest.mark.parametrize(
        ("path", "given", "text"),
        [
            (
                ROLES,
                {"apiGroups": [""], "resources": ["pods"], "verbs": []},
                'ClusterRole.rbac.authorization.k8s.io "r" is invalid: rules[0].verbs: Required value: verbs must '
                "contain at least one value",
            ),
            (
                LOCAL_ROLES,
                {"resources": ["pods"], "verbs": ["get"]},
                'Role.rbac.authorization.k8s.io "r" is invalid: rules[0].apiGroups: Required value: resource rules '
                "must supply at least one api group",
            ),
            (
                LOCAL_ROLES,
                {"apiGroups": [""], "verbs": ["get"]},
                'Role.rbac.authorization.k8s.io "r" is invalid: rules[0].resources: Required value: resource rules '
                "must supply at least one resource",
            ),
            (
                LOCAL_ROLES,
                {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
                'Role.rbac.authorization.k8s.io "r" is invalid: rules[0].nonResourceURLs: Invalid value: ["/metrics"]: '
                "namespaced rules cannot apply to non-resource URLs",
            ),
        ],
    )
    def test_half_a_rule_is_none(self, cluster: Cluster, path: str, given: Object, text: str) -> None:
        with pytest.raises(Refused) as caught:
            cluster.client.create(path, {"metadata": {"name": "r"}, "rules": [given]})
        assert (caught.value.code, str(caught.value)) == (422, f"422 Invalid: {text}")

    def test_what_is_bound_stays_bound(self, cluster: Cluster) -> None:
        grant(cluster, rule("get", "nodes"))
        text = r"is invalid: roleRef: Invalid value: .*: cannot change roleRef"
        with pytest.raises(Refused, match=text) as caught:
            cluster.client.merge(f"{BINDINGS}/r", {"roleRef": {"name": "other"}})
        assert caught.value.code == 422


@pytest.mark.behaviour("RBAC: access reviews")
class TestReviews:
    def test_may_i(self, cluster: Cluster) -> None:
        assert may(cluster, "list", "nodes") == {"allowed": False}
        grant(cluster, rule("list", "nodes"))
        may_soon(cluster, "list", "nodes")
        assert may(cluster, "list", "nodes") == {
            "allowed": True,
            "reason": 'RBAC: allowed by ClusterRoleBinding "r" of ClusterRole "r" to Group "team-a"',
        }

    def test_what_may_i(self, cluster: Cluster) -> None:
        grant(cluster, rule("list get", "nodes"))
        may_soon(cluster, "list", "nodes")
        status, said = ask(cluster, "POST", f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})
        assert status == 201
        given = [each for each in said["status"]["resourceRules"] if each["resources"] == ["nodes"]]
        assert given == [{"verbs": ["list", "get"], "apiGroups": [""], "resources": ["nodes"]}]
        assert said["status"]["incomplete"] is False


@pytest.mark.behaviour("RBAC: nobody gives what he does not have")
class TestEscalation:
    """Nobody gives what he does not have."""

    WRITES = (rule("create get update patch", "clusterroles clusterrolebindings roles rolebindings", RBAC),)

    @pytest.fixture(autouse=True)
    def _writes_roles(self, cluster: Cluster) -> None:
        grant(cluster, *self.WRITES)
        may_soon(cluster, "create", "clusterroles", group=RBAC)

    def test_a_role_with_more_than_mine(self, cluster: Cluster) -> None:
        body = {"metadata": {"name": "more"}, "rules": [rule("get list", "secrets"), rule("get", "nodes")]}
        status, said = ask(cluster, "POST", ROLES, body)
        assert (status, said["reason"]) == (403, "Forbidden")
        assert said["message"] == (
            'clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "reader" (groups=["team-a" '
            '"system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
            '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}\n'
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
        )
        assert said["details"] == {"name": "more", "group": RBAC, "kind": "clusterroles"}

    def test_a_role_with_what_i_have(self, cluster: Cluster) -> None:
        grant(cluster, *self.WRITES, rule("get list", "secrets pods/log"))
        may_soon(cluster, "list", "secrets")
        body = {"metadata": {"name": "same"}, "rules": [rule("get", "secrets"), rule("get", "pods/log")]}
        assert ask(cluster, "POST", ROLES, body)[0] == 201
        assert ask(cluster, "POST", LOCAL_ROLES, body)[0] == 201

    @pytest.mark.parametrize(
        "rules",
        [
            pytest.param([rule("*", "configmaps")], id="all verbs are more than some"),
            pytest.param([rule("get", "*")], id="all resources"),
            pytest.param([rule("get", "configmaps", "*")], id="all groups"),
            pytest.param([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}], id="a path"),
        ],
    )
    def test_a_star_is_more_than_everything_that_is_named(self, cluster: Cluster, rules: list[Object]) -> None:
        grant(cluster, *self.WRITES, rule("get list watch create update patch delete deletecollection", "configmaps"))
        may_soon(cluster, "watch", "configmaps")
        status, said = ask(cluster, "POST", ROLES, {"metadata": {"name": "star"}, "rules": rules})
        assert (status, said["reason"]) == (403, "Forbidden")
        assert "not currently held" in said["message"]

    def test_with_escalate_everything_may_be_given(self, cluster: Cluster) -> None:
        grant(cluster, *self.WRITES, rule("escalate", "clusterroles", RBAC))
        may_soon(cluster, "escalate", "clusterroles", group=RBAC)
        star = [rule("*", "*", "*")]
        assert ask(cluster, "POST", ROLES, {"metadata": {"name": "star"}, "rules": star})[0] == 201
        body: Object = {"metadata": {"name": "all"}, "rules": [], "aggregationRule": {"clusterRoleSelectors": [{}]}}
        assert ask(cluster, "POST", ROLES, body)[0] == 201

    def test_a_gathering_role_is_for_administrators(self, cluster: Cluster) -> None:
        labels = {"matchLabels": {"gather": "yes"}}
        body: Object = {"metadata": {"name": "all"}, "rules": [], "aggregationRule": {"clusterRoleSelectors": [labels]}}
        status, said = ask(cluster, "POST", ROLES, body)
        assert status == 403
        assert said["message"].endswith(
            '"all" is forbidden: must have cluster-admin privileges to use the aggregationRule'
        )

    @pytest.mark.parametrize(
        ("patch", "code", "reason"),
        [
            ({"metadata": {"labels": {"a": "b"}}}, 403, "whoever touches it must have all that it gives"),
            ({"metadata": {"finalizers": ["ex.io/a"]}}, 200, "else nothing could be collected"),
            ({}, 200, "nothing is written"),
        ],
    )
    def test_a_change_that_gives_nothing_more(self, cluster: Cluster, patch: Object, code: int, reason: str) -> None:
        cluster.client.create(ROLES, {"metadata": {"name": "big"}, "rules": [rule("get", "secrets")]})
        assert ask(cluster, "PATCH", f"{ROLES}/big", patch, "application/merge-patch+json")[0] == code, reason

    def test_applying_a_role_is_no_way_around(self, cluster: Cluster) -> None:
        body = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "more"},
            "rules": [rule("get", "secrets")],
        }
        status, said = ask(cluster, "PATCH", f"{ROLES}/more?fieldManager=helm&force=true", body, APPLY)
        assert (status, said["reason"]) == (403, "Forbidden")
        assert "not currently held" in said["message"]

    def test_a_binding_to_more_than_mine(self, cluster: Cluster) -> None:
        cluster.client.create(ROLES, {"metadata": {"name": "big"}, "rules": [rule("get", "secrets")]})
        body = {
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "big"},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "reader"}],
        }
        status, said = ask(cluster, "POST", BINDINGS, body)
        assert (status, said["reason"]) == (403, "Forbidden")
        assert said["message"].startswith(
            'clusterrolebindings.rbac.authorization.k8s.io "b" is forbidden: user "reader"'
        )
        grant(cluster, *self.WRITES, rule("bind", "clusterroles", RBAC, resourceNames=["big"]))
        may_soon(cluster, "bind", "clusterroles", group=RBAC, name="big")
        assert ask(cluster, "POST", BINDINGS, body)[0] == 201
        soon(cluster, 404, "GET", "/api/v1/namespaces/default/secrets/none")


def test_a_pod_of_the_default_account_may_nothing(cluster: Cluster) -> None:
    """A review about somebody else, asked by an administrator."""
    cluster.client.create("/api/v1/namespaces/default/pods", {"metadata": {"name": "p"}, "spec": pod_spec()})
    spec = {
        "user": "system:serviceaccount:default:default",
        "groups": ["system:serviceaccounts"],
        "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "default"},
    }
    review = cluster.client.create(f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
    assert review["status"]["allowed"] is False
