"""What the server fills in, refuses and keeps."""

from typing import Any

import pytest

from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.objects import dig
from reconciler.sandbox.kubernetes.quantities import canonical
from tests.kube_servers.verbs import Api, Simulated
from tests.sandbox_kubernetes.objects import claim, config_map, deployment, job, pod_spec, service, volume

Object = dict[str, Any]

DEPLOYMENTS = ("apps", "deployments")
PODS = ("", "pods")
MAPS = ("", "configmaps")


class TestQuantities:
    @pytest.mark.parametrize(
        ("written", "stored", "reason"),
        [
            ("12000m", "12", "B01: milli of whole cores"),
            ("0.5", "500m", "B01: decimal fraction"),
            ("25600m", "25600m", "R07: not a whole number"),
            ("1024Mi", "1Gi", "binary goes up"),
            ("3072Mi", "3Gi", "B01"),
            ("1000M", "1G", "B01: decimal goes up"),
            ("1000Mi", "1000Mi", "B01: is neither 1000M nor 1Gi"),
            ("1.5Gi", "1536Mi", "binary without a fraction"),
            ("0.5Ki", "512", "too small for binary"),
            ("1000", "1k", "plain numbers too"),
            ("1e3", "1e3", "exponents stay"),
            ("0", "0", "zero"),
            ("0.0000000001", "1n", "nothing is finer than a nano; rounded up"),
            ("12E", "12E", "the largest suffix"),
        ],
    )
    def test_canonical(self, written: str, stored: str, reason: str) -> None:
        assert canonical(written) == stored, reason
        assert canonical(stored) == stored, "canonical twice is canonical"

    @pytest.mark.parametrize("text", ["", "abc", "1 Gi", "1GiB", "--1", "1.2.3"])
    def test_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="regular expression"):
            canonical(text)


@pytest.mark.behaviour("Defaults that the server fills in")
class TestDefaults:
    def test_deployment(self, api: Api) -> None:
        spec = api.create(DEPLOYMENTS, deployment())["spec"]
        assert spec["strategy"] == {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        }
        assert (spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (10, 600)
        pod = spec["template"]["spec"]
        assert (pod["restartPolicy"], pod["dnsPolicy"]) == ("Always", "ClusterFirst")
        container = pod["containers"][0]
        assert container["imagePullPolicy"] == "IfNotPresent"
        assert container["terminationMessagePath"] == "/dev/termination-log"

    @pytest.mark.parametrize(
        ("image", "policy"),
        [
            ("img", "Always"),
            ("img:latest", "Always"),
            ("img:1", "IfNotPresent"),
            ("host:5000/img", "Always"),
            ("img@sha256:00", "IfNotPresent"),
        ],
    )
    def test_pull_policy(self, api: Api, image: str, policy: str) -> None:
        spec = {"containers": [{"name": "c", "image": image}]}
        pod = api.create(PODS, {"metadata": {"name": "p"}, "spec": spec})
        assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy

    def test_a_removed_field_comes_back_with_its_default(self, api: Api) -> None:
        api.create(DEPLOYMENTS, deployment(replicas=3))
        assert api.merge(DEPLOYMENTS, "web", {"spec": {"replicas": None}})["spec"]["replicas"] == 1

    def test_volumes_and_services(self, api: Api) -> None:
        pv = api.create(("", "persistentvolumes"), volume())["spec"]
        assert (pv["persistentVolumeReclaimPolicy"], pv["volumeMode"]) == ("Retain", "Filesystem")
        assert api.create(("", "persistentvolumeclaims"), claim())["spec"]["volumeMode"] == "Filesystem"
        made = api.create(("", "services"), service())["spec"]
        assert (made["type"], made["sessionAffinity"], made["ports"][0]["targetPort"]) == ("ClusterIP", "None", 80)
        assert made["clusterIP"].startswith("10.100.")

    def test_limits_become_requests_in_canonical_form(self, api: Api) -> None:
        """Of a pod: a template keeps what its author left out."""
        resources = {"limits": {"cpu": "12000m", "nvidia.com/gpu": 8}}
        spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]}
        limits = {"cpu": "12", "nvidia.com/gpu": "8"}
        found = api.create(PODS, {"metadata": {"name": "p"}, "spec": spec})["spec"]["containers"][0]["resources"]
        assert found == {"limits": limits, "requests": limits}
        template = api.create(DEPLOYMENTS, deployment(spec=spec))["spec"]["template"]
        assert template["spec"]["containers"][0]["resources"] == {"limits": limits}

    def test_job_knows_its_pods(self, api: Api) -> None:
        made = api.create(("batch", "jobs"), job())
        uid = made["metadata"]["uid"]
        assert made["spec"]["selector"]["matchLabels"] == {"batch.kubernetes.io/controller-uid": uid}
        assert made["spec"]["template"]["metadata"]["labels"]["job-name"] == "train"


@pytest.mark.behaviour("What is refused (422), field by field")
class TestRefusals:
    @pytest.mark.parametrize(
        ("collection", "body", "field", "reason"),
        [
            (PODS, {"metadata": {"name": "p"}, "spec": {}}, "spec.containers", "no containers"),
            (("", "configmaps"), config_map(a="x" * (1024 * 1024 + 1)), "[]", "B43: over 1 MiB"),
            (("", "configmaps"), config_map(**{"a b": "x"}), "data[a b]", "key with a space"),
            (("batch", "jobs"), job(template={"spec": pod_spec()}), "spec.template.spec.restartPolicy", "Always"),
            (("", "services"), service(ports=[]), "spec.ports", "no ports"),
            (("", "persistentvolumeclaims"), claim(size="0"), "spec.resources[storage]", "nothing asked for"),
            (("", "persistentvolumes"), volume(csi=None), "spec", "no source"),
            (
                DEPLOYMENTS,
                {**deployment(), "spec": {**deployment()["spec"], "selector": {"matchLabels": {"app": "other"}}}},
                "spec.template.metadata.labels",
                "the selector misses its own pods",
            ),
            (
                PODS,
                {
                    "metadata": {"name": "p"},
                    "spec": {
                        "containers": [
                            {
                                "name": "c",
                                "image": "i",
                                "resources": {"requests": {"nvidia.com/gpu": 6}, "limits": {"nvidia.com/gpu": 8}},
                            }
                        ]
                    },
                },
                "spec.containers[0].resources.requests",
                "C16: GPU request and limit differ",
            ),
            (
                PODS,
                {
                    "metadata": {"name": "p"},
                    "spec": {
                        "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]
                    },
                },
                "spec.containers[0].volumeMounts[0].name",
                "mount of a volume that is not there",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) and " " in value else "",
    )
    def test_invalid(self, api: Api, collection: tuple[str, str], body: Object, field: str, reason: str) -> None:
        with pytest.raises(ApiError) as caught:
            api.create(collection, body)
        assert caught.value.code == 422, reason
        assert field in [cause["field"] for cause in caught.value.details["causes"]], reason

    def test_unknown_field_is_dropped_named_or_refused(self, api: Api) -> None:
        body = config_map()
        body["datta"] = {"a": "1"}
        assert "datta" not in api.create(MAPS, body)
        assert api.warnings == ['unknown field "datta"']
        with pytest.raises(ApiError, match='unknown field "datta"') as caught:
            api.create(MAPS, {**body, "metadata": {"name": "b"}}, strict=True)
        assert caught.value.code == 400

    def test_wrong_type(self, api: Api) -> None:
        """R05: a placeholder in a typed field."""
        body = deployment()
        body["spec"]["replicas"] = "$COUNT"
        with pytest.raises(ApiError) as caught:
            api.create(DEPLOYMENTS, body)
        assert caught.value.code == 400

    @pytest.mark.parametrize(
        ("collection", "body", "patch"),
        [
            (DEPLOYMENTS, deployment(), {"spec": {"selector": {"matchLabels": {"app": "x"}}}}),
            (
                ("batch", "jobs"),
                job(),
                {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}}},
            ),
            (("", "services"), service(), {"spec": {"clusterIP": "10.100.99.99"}}),
            (("", "persistentvolumeclaims"), claim(), {"spec": {"accessModes": ["ReadWriteOnce"]}}),
            (("", "persistentvolumeclaims"), claim(volumeName="a"), {"spec": {"volumeName": "b"}}),
            (("", "persistentvolumes"), volume(), {"spec": {"csi": {"volumeHandle": "other"}}}),
            (PODS, {"metadata": {"name": "p"}, "spec": pod_spec()}, {"spec": {"hostNetwork": True}}),
            (("", "secrets"), {"metadata": {"name": "s"}, "type": "Opaque"}, {"type": "other"}),
        ],
        ids=["selector", "job template", "clusterIP", "claim", "claim volume", "volume source", "pod", "secret type"],
    )
    def test_immutable(self, api: Api, collection: tuple[str, str], body: Object, patch: Object) -> None:
        """B46 and its kin."""
        made = api.create(collection, body)
        with pytest.raises(ApiError) as caught:
            api.merge(collection, made["metadata"]["name"], patch)
        assert caught.value.code == 422

    def test_a_claim_takes_its_volume_name_once(self, api: Api) -> None:
        api.create(("", "persistentvolumeclaims"), claim())
        api.merge(("", "persistentvolumeclaims"), "data", {"spec": {"volumeName": "data"}})


@pytest.mark.behaviour("Writes: replace, merge, generation, stale versions")
class TestWrites:
    def test_a_write_without_change_makes_no_version(self, api: Api) -> None:
        made = api.create(MAPS, config_map())
        again = api.merge(MAPS, "cm", {"data": {"a": "1"}})
        assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]

    def test_equal_quantities_are_no_change(self, api: Api) -> None:
        """B01"""
        spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "12"}}}]}
        made = api.create(DEPLOYMENTS, deployment(spec=spec))
        spec["containers"][0]["resources"]["limits"]["cpu"] = "12000m"  # type: ignore[index]
        again = api.merge(DEPLOYMENTS, "web", {"spec": {"template": {"spec": spec}}})
        assert again["metadata"]["generation"] == made["metadata"]["generation"]

    def test_effects_name_the_object_and_no_write_without_change(self) -> None:
        """The simulated server's own book of what really changed."""
        api = Simulated()
        api.create(MAPS, config_map())
        for value in ("2", "2"):
            api.merge(MAPS, "cm", {"data": {"a": value}})
        api.delete(MAPS, "cm")
        assert [(each.change, each.name) for each in api.server.take_effects()] == [
            ("created", "cm"),
            ("updated", "cm"),
            ("deleted", "cm"),
        ]


@pytest.mark.behaviour("Deletion: owners, propagation, finalizers, namespaces, grace")
class TestDeletion:
    def owned(self, api: Api, **more: Any) -> None:
        owner = api.create(("batch", "jobs"), job())
        reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": owner["metadata"]["uid"], **more}
        api.create(PODS, {"metadata": {"name": "p", "ownerReferences": [reference]}, "spec": pod_spec()})

    def remove(self, api: Api, propagation: str) -> None:
        api.delete(("batch", "jobs"), "train", propagation=propagation)

    @pytest.mark.parametrize(
        ("propagation", "left", "reason"),
        [
            ("Background", False, "the pod follows"),
            ("Foreground", False, "the pod goes first"),
            ("Orphan", True, "the pod stays"),
            ("", True, "batch/v1 jobs alone keep their pods by default"),
        ],
    )
    def test_propagation(self, api: Api, propagation: str, left: bool, reason: str) -> None:
        self.owned(api, blockOwnerDeletion=True)
        self.remove(api, propagation)
        assert api.eventually(lambda: api.get(("batch", "jobs"), "train") is None)

        def is_settled() -> bool:
            pod = api.get(PODS, "p")
            return (pod is not None and "ownerReferences" not in pod["metadata"]) if left else pod is None

        assert api.eventually(is_settled), reason

    def test_foreground_waits_for_the_dependant(self, api: Api) -> None:
        self.owned(api, blockOwnerDeletion=True)
        api.merge(PODS, "p", {"metadata": {"finalizers": ["x.io/hold"]}})
        self.remove(api, "Foreground")
        assert api.eventually(lambda: bool(dig(api.get(PODS, "p"), "metadata", "deletionTimestamp")))
        assert api.get(("batch", "jobs"), "train") is not None
        api.merge(PODS, "p", {"metadata": {"finalizers": None}})
        assert api.eventually(lambda: api.get(("batch", "jobs"), "train") is None)

    def test_an_owner_that_never_was(self, api: Api) -> None:
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "never"}
        body = config_map("dep")
        body["metadata"]["ownerReferences"] = [reference]
        api.create(MAPS, body)
        assert api.eventually(lambda: api.get(MAPS, "dep") is None)

    def test_a_bound_pod_has_its_grace(self, api: Api) -> None:
        api.create(("", "nodes"), {"metadata": {"name": "node"}})
        pod = api.create(PODS, {"metadata": {"name": "p"}, "spec": pod_spec()})
        api.bind("p", "node")
        api.delete(PODS, "p")
        found = api.get(PODS, "p")
        assert found is not None and found["metadata"]["deletionGracePeriodSeconds"] == 30
        api.delete(PODS, "p", grace=0, uid=pod["metadata"]["uid"])
        assert api.get(PODS, "p") is None

    def test_namespace_waits_for_finalizers(self, api: Api) -> None:
        api.create(("", "namespaces"), {"metadata": {"name": "team"}})
        body = config_map("held")
        body["metadata"]["finalizers"] = ["x.io/hold"]
        api.create(MAPS, body, namespace="team")
        api.create(MAPS, config_map("free"), namespace="team")
        api.delete(("", "namespaces"), "team")
        assert api.eventually(lambda: api.get(MAPS, "free", namespace="team") is None)
        namespace = api.get(("", "namespaces"), "team")
        assert dig(namespace, "status", "phase") == "Terminating"
        with pytest.raises(ApiError, match="being terminated"):
            api.create(MAPS, config_map("late"), namespace="team")
        api.merge(MAPS, "held", {"metadata": {"finalizers": None}}, namespace="team")
        assert api.eventually(lambda: api.get(("", "namespaces"), "team") is None)
