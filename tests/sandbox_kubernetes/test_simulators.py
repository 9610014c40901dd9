"""Life in a cluster: nodes, scheduling, workloads, volumes. A simulated minute lasts a second."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from reconciler.sandbox.kubernetes.objects import dig, items
from reconciler.sandbox.kubernetes.simulators import placement
from reconciler.sandbox.kubernetes.simulators.cluster import Simulators
from reconciler.sandbox.kubernetes.simulators.kubelet import EXIT_CODE
from reconciler.sandbox.kubernetes.simulators.nodes import NodeSpec
from tests.sandbox_kubernetes.conftest import Cluster
from tests.sandbox_kubernetes.objects import claim, deployment, job, pod_spec, volume

Object = dict[str, Any]

GPU = "nvidia.com/gpu"
APPS = "/apis/apps/v1/namespaces/default"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CORE = "/api/v1/namespaces/default"
PVS = "/api/v1/persistentvolumes"


def node(number: int = 1, taints: tuple[dict[str, str], ...] = ()) -> NodeSpec:
    labels = {
        "node.kubernetes.io/instance-type": "ml.p5.48xlarge",
        "sagemaker.amazonaws.com/compute-type": "hyperpod",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
    }
    allocatable = {"cpu": "192", "memory": "2Ti", "pods": "110", GPU: "8"}
    return NodeSpec(name=f"hyperpod-i-{number}", labels=labels, allocatable=allocatable, taints=taints)


def gpu_pods(count: int, **more: Any) -> Object:
    return {"containers": [{"name": "c", "image": "i:1", "resources": {"limits": {GPU: str(count)}}}], **more}


def eventually(read: Callable[[], Any], wanted: Any, what: str) -> None:
    """Poll for at most two minutes and a half."""
    pause = threading.Event()
    found: Any = None
    for _ in range(6000):
        found = read()
        if found == wanted:
            return
        pause.wait(0.025)
    raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


def status(cluster: Cluster, path: str, *steps: str) -> Any:
    return dig(cluster.client.get(path), "status", *steps)


def phases(cluster: Cluster) -> list[str]:
    return sorted(item["status"]["phase"] for item in cluster.client.get(f"{CORE}/pods")["items"])


@pytest.mark.behaviour("Life in a cluster: workloads, jobs, daemons (simulators as clients)")
class TestWorkloads:
    def test_deployment_runs_rolls_and_goes(self, cluster: Cluster, simulators: Simulators) -> None:
        simulators.nodes.register(node())
        cluster.client.create(f"{APPS}/deployments", deployment(replicas=2))
        path = f"{APPS}/deployments/web"
        eventually(lambda: status(cluster, path, "readyReplicas"), 2, "both are ready")
        cluster.client.merge(path, {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}})

        def rolled() -> tuple[Any, ...]:
            found = cluster.client.get(path)
            generation = found["metadata"]["generation"]
            names = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas")
            return (generation, *(found["status"].get(name) for name in names))

        eventually(rolled, (2, 2, 2, 2, 2), "new pods in place of the old ones")
        cluster.client.delete(path)
        eventually(lambda: phases(cluster), [], "the pods follow")

    def test_daemon_on_every_node_that_it_may_use(self, cluster: Cluster, simulators: Simulators) -> None:
        taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
        simulators.nodes.register(node(1))
        simulators.nodes.register(node(2, taints=(taint,)))
        template = {"metadata": {"labels": {"app": "d"}}, "spec": pod_spec()}
        spec = {"selector": {"matchLabels": {"app": "d"}}, "template": template}
        path = f"{APPS}/daemonsets/d"
        cluster.client.create(f"{APPS}/daemonsets", {"metadata": {"name": "d"}, "spec": spec})
        eventually(lambda: status(cluster, path, "numberReady"), 1, "not on the tainted node")
        simulators.nodes.register(node(3))
        eventually(lambda: status(cluster, path, "numberReady"), 2, "a new node gets one")
        simulators.nodes.remove("hyperpod-i-3")
        eventually(lambda: status(cluster, path, "desiredNumberScheduled"), 1, "and loses it")

    def test_stateful_set_is_ordered(self, cluster: Cluster, simulators: Simulators) -> None:
        simulators.nodes.register(node())
        template = {"metadata": {"labels": {"app": "s"}}, "spec": pod_spec()}
        spec = {"serviceName": "s", "replicas": 2, "selector": {"matchLabels": {"app": "s"}}, "template": template}
        cluster.client.create(f"{APPS}/statefulsets", {"metadata": {"name": "s"}, "spec": spec})
        eventually(lambda: status(cluster, f"{APPS}/statefulsets/s", "readyReplicas"), 2, "both are ready")
        assert cluster.ids("api/v1/namespaces/default/pods") == ["s-0", "s-1"]

    @pytest.mark.parametrize(("exit_code", "condition"), [("0", "Complete"), ("1", "Failed")])
    def test_job_ends(self, cluster: Cluster, simulators: Simulators, exit_code: str, condition: str) -> None:
        simulators.nodes.register(node())
        body = job(backoffLimit=1)
        body["spec"]["template"]["metadata"] = {"annotations": {EXIT_CODE: exit_code}}
        cluster.client.create(JOBS, body)

        def ended() -> bool:
            found = items(cluster.client.get(f"{JOBS}/train"), "status", "conditions")
            return any(each["type"] == condition and each["status"] == "True" for each in found)

        eventually(ended, True, f"the job is {condition}")

    def test_finished_job_goes_after_its_time(self, cluster: Cluster, simulators: Simulators) -> None:
        """B46: a job with a TTL vanishes by itself."""
        simulators.nodes.register(node())
        cluster.client.create(JOBS, job(ttlSecondsAfterFinished=5))
        eventually(lambda: cluster.ids("apis/batch/v1/jobs"), [], "and is gone with its pods")
        eventually(lambda: phases(cluster), [], "the pods as well")


@pytest.mark.behaviour("Life in a cluster: nodes, reboots, lost nodes (simulators as clients)")
class TestNodes:
    def test_pods_wait_for_room(self, cluster: Cluster, simulators: Simulators) -> None:
        cluster.client.create(f"{APPS}/deployments", deployment(replicas=3, spec=gpu_pods(4)))
        eventually(lambda: phases(cluster), ["Pending"] * 3, "no node yet")

        def reasons() -> set[Any]:
            pods = cluster.client.get(f"{CORE}/pods")["items"]
            return {each.get("message") for pod in pods for each in items(pod, "status", "conditions")} - {None}

        eventually(reasons, {"0/0 nodes are available."}, "it says so")
        simulators.nodes.register(node(1))
        eventually(lambda: phases(cluster), ["Pending", "Running", "Running"], "two fit")
        eventually(lambda: f"0/1 nodes are available: 1 Insufficient {GPU}." in reasons(), True, "the third does not")
        simulators.nodes.register(node(2))
        eventually(lambda: phases(cluster), ["Running"] * 3, "a node more")

    def test_labels_and_taints_decide(self, cluster: Cluster, simulators: Simulators) -> None:
        simulators.nodes.register(node(1))
        spec = pod_spec(nodeSelector={"sagemaker.amazonaws.com/instance-group-name": "workers"})
        cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": spec})
        eventually(lambda: phases(cluster), ["Pending"], "not selected")
        simulators.nodes.apply_labels("hyperpod-i-1", {"sagemaker.amazonaws.com/instance-group-name": "workers"})
        eventually(lambda: phases(cluster), ["Running"], "labelled")

    def test_reboot_changes_the_boot_id_and_restarts_pods(self, cluster: Cluster, simulators: Simulators) -> None:
        simulators.nodes.register(node())
        cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": pod_spec()})
        eventually(lambda: phases(cluster), ["Running"], "it runs")
        before = simulators.nodes.boot_id("hyperpod-i-1")
        after = simulators.nodes.reboot("hyperpod-i-1", seconds=6)
        assert simulators.nodes.boot_id("hyperpod-i-1") == after != before

        def restarts() -> list[int]:
            return [
                each["restartCount"]
                for each in items(cluster.client.get(f"{CORE}/pods/p"), "status", "containerStatuses")
            ]

        eventually(restarts, [1], "containers start again")

    def test_pods_go_with_their_node(self, cluster: Cluster, simulators: Simulators) -> None:
        simulators.nodes.register(node())
        cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": pod_spec()})
        eventually(lambda: phases(cluster), ["Running"], "it runs")
        simulators.nodes.remove("hyperpod-i-1")
        simulators.nodes.remove("hyperpod-i-1")
        eventually(lambda: phases(cluster), [], "collected")


@pytest.mark.behaviour("Life in a cluster: volumes and claims (simulators as clients)")
class TestVolumes:
    def test_bound_released_and_not_bound_again(self, cluster: Cluster, simulators: Simulators) -> None:
        cluster.client.create(PVS, volume())
        cluster.client.create(f"{CORE}/persistentvolumeclaims", claim(volumeName="data"))
        path = f"{CORE}/persistentvolumeclaims/data"
        eventually(lambda: status(cluster, path, "phase"), "Bound", "the claim is bound")
        eventually(lambda: status(cluster, f"{PVS}/data", "phase"), "Bound", "and so is the volume")
        first = cluster.client.get(f"{PVS}/data")["spec"]["claimRef"]["uid"]
        cluster.client.delete(path)
        eventually(lambda: status(cluster, f"{PVS}/data", "phase"), "Released", "kept by its policy")
        cluster.client.create(f"{CORE}/persistentvolumeclaims", claim(volumeName="data"))
        threading.Event().wait(0.2)
        assert status(cluster, path, "phase") == "Pending", "another claim of that name is another claim"
        assert cluster.client.get(f"{PVS}/data")["spec"]["claimRef"]["uid"] == first
        cluster.client.merge(f"{PVS}/data", {"spec": {"claimRef": {"uid": None, "resourceVersion": None}}})
        eventually(lambda: status(cluster, path, "phase"), "Bound", "after a person took the uid off")

    def test_a_claim_in_use_stays(self, cluster: Cluster, simulators: Simulators) -> None:
        simulators.nodes.register(node())
        source = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
        cluster.client.create(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": pod_spec(volumes=[source])})
        eventually(lambda: phases(cluster), ["Pending"], "C22: the claim is not there")
        cluster.client.create(PVS, volume())
        cluster.client.create(f"{CORE}/persistentvolumeclaims", claim())
        eventually(lambda: phases(cluster), ["Running"], "it is bound")
        cluster.client.delete(f"{CORE}/persistentvolumeclaims/data")
        threading.Event().wait(0.1)
        assert cluster.client.get(f"{CORE}/persistentvolumeclaims/data")["metadata"]["deletionTimestamp"]
        cluster.client.delete(f"{CORE}/pods/p")
        eventually(lambda: cluster.ids("api/v1/persistentvolumeclaims"), [], "gone with its last user")

    def test_size_and_mode_must_fit(self, cluster: Cluster, simulators: Simulators) -> None:
        cluster.client.create(PVS, volume("small", size="1Gi"))
        cluster.client.create(PVS, volume("large", size="100Gi"))
        cluster.client.create(PVS, volume("right", size="10Gi"))
        names = ("small", "large", "right")
        eventually(
            lambda: [status(cluster, f"{PVS}/{name}", "phase") for name in names],
            ["Available"] * 3,
            "the controller knows all three",
        )
        cluster.client.create(f"{CORE}/persistentvolumeclaims", claim())
        path = f"{CORE}/persistentvolumeclaims/data"
        eventually(lambda: dig(cluster.client.get(path), "spec", "volumeName"), "right", "the smallest that is enough")


def test_every_namespace_gets_its_account(cluster: Cluster, simulators: Simulators) -> None:
    cluster.client.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    eventually(lambda: cluster.ids("api/v1/namespaces/team/serviceaccounts"), ["default"], "made by the controller")


def test_budget_holds_an_eviction(cluster: Cluster, simulators: Simulators) -> None:
    simulators.nodes.register(node())
    cluster.client.create(f"{APPS}/deployments", deployment(replicas=2))
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}}
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    cluster.client.create(budgets, budget)
    eventually(lambda: status(cluster, f"{budgets}/b", "currentHealthy"), 2, "both count")
    name = cluster.ids("api/v1/namespaces/default/pods")[0]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    with pytest.raises(Exception, match="disruption budget"):
        cluster.client.create(f"{CORE}/pods/{name}/eviction", eviction)


@pytest.mark.parametrize(
    ("tolerations", "fits", "reason"),
    [
        ([], False, "no toleration"),
        ([{"key": "team", "operator": "Exists"}], True, "any value, any effect"),
        ([{"key": "team", "value": "a"}], True, "that value"),
        ([{"key": "team", "value": "b"}], False, "another value"),
        ([{"key": "team", "operator": "Exists", "effect": "NoExecute"}], False, "another effect"),
        ([{"operator": "Exists"}], True, "everything"),
    ],
)
def test_tolerations(tolerations: list[Object], fits: bool, reason: str) -> None:
    tainted = {"metadata": {"name": "n"}, "spec": {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}}
    assert placement.tolerates({"tolerations": tolerations}, tainted) is fits, reason
