"""What the real server fills in before it stores a built-in object. Each function changes its argument in place.

Run on create and on every update, so a field that is taken away comes
back with its default, as it does on the real server.
"""

from collections.abc import Callable
from typing import Any

from reconciler.sandbox.kubernetes.objects import Object, is_map, items, mapping


def apply_defaults(group: str, kind: str, obj: Object) -> None:
    fill = _DEFAULTS.get((group, kind))
    if fill is not None:
        fill(obj)


def pod_spec_defaults(spec: Object) -> None:
    """Shared by pods and every template of pods."""
    _set(
        spec,
        restartPolicy="Always",
        dnsPolicy="ClusterFirst",
        terminationGracePeriodSeconds=30,
        schedulerName="default-scheduler",
    )
    spec.setdefault("securityContext", {})
    if "serviceAccountName" in spec:
        spec["serviceAccount"] = spec["serviceAccountName"]
    for container in [*items(spec, "initContainers"), *items(spec, "containers")]:
        _container(container)
    for volume in items(spec, "volumes"):
        _volume(volume)


def _set(target: Object, **values: Any) -> None:
    for key, value in values.items():
        target.setdefault(key, value)


def _container(container: Object) -> None:
    image: str = container.get("image") or ""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    latest = "@" not in image and tag in ("", "latest")
    _set(
        container,
        imagePullPolicy="Always" if latest else "IfNotPresent",
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    container.setdefault("resources", {})
    for port in items(container, "ports"):
        _set(port, protocol="TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := container.get(name):
            _probe(probe)
    for hook in mapping(container, "lifecycle").values():
        if is_map(hook) and "httpGet" in hook:
            _set(hook["httpGet"], path="/", scheme="HTTP")
    for variable in items(container, "env"):
        if reference := mapping(variable, "valueFrom").get("fieldRef"):
            _set(reference, apiVersion="v1")


def _probe(probe: Object) -> None:
    _set(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    if "httpGet" in probe:
        _set(probe["httpGet"], path="/", scheme="HTTP")
    if "grpc" in probe:
        _set(probe["grpc"], service="")


def _volume(volume: Object) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    for source in ("secret", "configMap", "downwardAPI", "projected"):
        if isinstance(volume.get(source), dict):
            _set(volume[source], defaultMode=420)
    if isinstance(volume.get("hostPath"), dict):
        _set(volume["hostPath"], type="")
    if isinstance(volume.get("ephemeral"), dict):
        _set(volume["ephemeral"].get("volumeClaimTemplate", {}).get("spec", {}), volumeMode="Filesystem")
    for source in items(mapping(volume, "projected"), "sources"):
        if "serviceAccountToken" in source:
            _set(source["serviceAccountToken"], expirationSeconds=3600)
        for item in items(mapping(source, "downwardAPI"), "items"):
            if "fieldRef" in item:
                _set(item["fieldRef"], apiVersion="v1")


def _template(spec: Object) -> None:
    template = spec.get("template")
    if is_map(template):
        template.setdefault("metadata", {})
        if is_map(template.get("spec")):
            pod_spec_defaults(template["spec"])


def _pod(obj: Object) -> None:
    spec: Object = obj["spec"]
    pod_spec_defaults(spec)
    _set(spec, enableServiceLinks=True)
    # of pods alone: a template keeps what its author left out
    for container in [*items(spec, "initContainers"), *items(spec, "containers")]:
        _requests(container["resources"])
        if spec.get("hostNetwork"):
            for port in items(container, "ports"):
                port.setdefault("hostPort", port.get("containerPort"))


def _requests(resources: Object) -> None:
    """What is limited is also requested, unless it says how much."""
    if limits := resources.get("limits"):
        requests: Object = resources.setdefault("requests", {})
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _deployment(obj: Object) -> None:
    spec: Object = obj["spec"]
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy: Object = spec.setdefault("strategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), maxUnavailable="25%", maxSurge="25%")
    _template(spec)


def _replica_set(obj: Object) -> None:
    _set(obj["spec"], replicas=1)
    _template(obj["spec"])


def _daemon_set(obj: Object) -> None:
    spec: Object = obj["spec"]
    _set(spec, revisionHistoryLimit=10)
    strategy: Object = spec.setdefault("updateStrategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), maxUnavailable=1, maxSurge=0)
    _template(spec)


def _stateful_set(obj: Object) -> None:
    spec: Object = obj["spec"]
    _set(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
    strategy: Object = spec.setdefault("updateStrategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), partition=0)
    _set(spec.setdefault("persistentVolumeClaimRetentionPolicy", {}), whenDeleted="Retain", whenScaled="Retain")
    for claim in items(spec, "volumeClaimTemplates"):
        _set(claim, apiVersion="v1", kind="PersistentVolumeClaim", status={"phase": "Pending"})
        _set(claim["spec"], volumeMode="Filesystem")
    _template(spec)


def _job(obj: Object) -> None:
    _job_spec(obj["spec"])


def _job_spec(spec: Object) -> None:
    _set(spec, backoffLimit=6, completionMode="NonIndexed", suspend=False, manualSelector=False)
    if "completions" not in spec and "parallelism" not in spec:
        _set(spec, completions=1)
    _set(spec, parallelism=1)
    _set(spec, podReplacementPolicy="Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    if spec["completionMode"] == "Indexed" and "backoffLimitPerIndex" in spec:
        _set(spec, maxFailedIndexes=None)
        if spec["maxFailedIndexes"] is None:
            del spec["maxFailedIndexes"]
    _template(spec)


def _cron_job(obj: Object) -> None:
    spec: Object = obj["spec"]
    _set(spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    if isinstance(spec.get("jobTemplate"), dict):
        spec["jobTemplate"].setdefault("metadata", {})
        template: Object = mapping(spec["jobTemplate"], "spec")
        _template(template)


def _service(obj: Object) -> None:
    spec: Object = obj.setdefault("spec", {})
    _set(spec, type="ClusterIP", sessionAffinity="None")
    if spec["sessionAffinity"] == "ClientIP":
        config: Object = spec.setdefault("sessionAffinityConfig", {})
        _set(config.setdefault("clientIP", {}), timeoutSeconds=10800)
    for port in items(spec, "ports"):
        _set(port, protocol="TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port")
    if spec["type"] == "ExternalName":
        return
    _set(spec, internalTrafficPolicy="Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        _set(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        _set(spec, allocateLoadBalancerNodePorts=True)


def _persistent_volume(obj: Object) -> None:
    _set(obj["spec"], persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    if obj["spec"].get("storageClassName") == "":
        del obj["spec"]["storageClassName"]  # no pointer, so an empty one is none; a claim's is one
    if isinstance(obj["spec"].get("hostPath"), dict):
        _set(obj["spec"]["hostPath"], type="")
    _set(obj.setdefault("status", {}), phase="Pending")


def _claim(obj: Object) -> None:
    _set(obj["spec"], volumeMode="Filesystem")
    _requests(mapping(obj["spec"], "resources"))
    _set(obj.setdefault("status", {}), phase="Pending")


def _secret(obj: Object) -> None:
    _set(obj, type="Opaque")


def _namespace(obj: Object) -> None:
    _set(obj.setdefault("spec", {}), finalizers=["kubernetes"])
    _set(obj.setdefault("status", {}), phase="Active")
    obj["metadata"]["labels"] = {
        **mapping(obj["metadata"], "labels"),
        "kubernetes.io/metadata.name": obj["metadata"]["name"],
    }


def _storage_class(obj: Object) -> None:
    _set(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _csi_driver(obj: Object) -> None:
    _set(
        obj["spec"],
        attachRequired=True,
        podInfoOnMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        requiresRepublish=False,
        seLinuxMount=False,
        volumeLifecycleModes=["Persistent"],
    )


def _role_binding(obj: Object) -> None:
    group = "rbac.authorization.k8s.io"
    _set(mapping(obj, "roleRef"), apiGroup=group)
    for subject in items(obj, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            _set(subject, apiGroup=group)


def _autoscaler(obj: Object) -> None:
    spec: Object = obj["spec"]
    _set(spec, minReplicas=1)
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    _set(spec, metrics=[cpu])
    for direction in ("scaleUp", "scaleDown"):
        if rules := mapping(spec, "behavior").get(direction):
            _set(rules, selectPolicy="Max")


def _webhooks(obj: Object) -> None:
    for webhook in items(obj, "webhooks"):
        _set(
            webhook,
            failurePolicy="Fail",
            matchPolicy="Equivalent",
            timeoutSeconds=10,
            namespaceSelector={},
            objectSelector={},
        )
        if obj["kind"].startswith("Mutating"):
            _set(webhook, reinvocationPolicy="Never")
        if service := webhook.get("clientConfig", {}).get("service"):
            _set(service, port=443)
        for rule in items(webhook, "rules"):
            _set(rule, scope="*")


def _network_policy(obj: Object) -> None:
    spec: Object = obj.setdefault("spec", {})
    _set(spec, policyTypes=["Ingress", "Egress"] if "egress" in spec else ["Ingress"])
    for rule in [*items(spec, "ingress"), *items(spec, "egress")]:
        for port in items(rule, "ports"):
            _set(port, protocol="TCP")


def _priority_class(obj: Object) -> None:
    _set(obj, preemptionPolicy="PreemptLowerPriority")


def _node(obj: Object) -> None:
    obj.setdefault("spec", {})
    status: Object = obj.setdefault("status", {})
    _set(status, daemonEndpoints={"kubeletEndpoint": {"Port": 0}})
    _set(status.setdefault("nodeInfo", {}), **dict.fromkeys(_NODE_INFO, ""))


def _limit_range(obj: Object) -> None:
    for limit in items(obj["spec"], "limits"):
        if limit.get("type") != "Container":
            continue
        usual = {**mapping(limit, "max"), **mapping(limit, "default")}
        asked = {**mapping(limit, "min"), **usual, **mapping(limit, "defaultRequest")}
        for name, amounts in (("default", usual), ("defaultRequest", asked)):
            if amounts:
                limit[name] = amounts


def _custom_resource_definition(obj: Object) -> None:
    spec: Object = obj["spec"]
    names: Object = mapping(spec, "names")
    if kind := names.get("kind"):
        _set(names, listKind=f"{kind}List", singular=str(kind).lower())
    _set(spec.setdefault("conversion", {}), strategy="None")


def _api_service(obj: Object) -> None:
    if service := obj["spec"].get("service"):
        _set(service, port=443)


_NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip

_DEFAULTS: dict[tuple[str, str], Callable[[Object], None]] = {
    ("", "Pod"): _pod,
    ("", "Service"): _service,
    ("", "PersistentVolume"): _persistent_volume,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Secret"): _secret,
    ("", "Namespace"): _namespace,
    ("", "Node"): _node,
    ("", "LimitRange"): _limit_range,
    ("", "ReplicationController"): _replica_set,
    ("apps", "Deployment"): _deployment,
    ("apps", "ReplicaSet"): _replica_set,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "Job"): _job,
    ("batch", "CronJob"): _cron_job,
    ("storage.k8s.io", "StorageClass"): _storage_class,
    ("storage.k8s.io", "CSIDriver"): _csi_driver,
    ("rbac.authorization.k8s.io", "RoleBinding"): _role_binding,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _role_binding,
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _webhooks,
    ("networking.k8s.io", "NetworkPolicy"): _network_policy,
    ("scheduling.k8s.io", "PriorityClass"): _priority_class,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _custom_resource_definition,
    ("apiregistration.k8s.io", "APIService"): _api_service,
}
