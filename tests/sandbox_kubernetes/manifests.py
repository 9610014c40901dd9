"""One manifest of every kind that people put beside a cluster, each with what its kind has defaults for."""

from __future__ import annotations

from typing import Any

from tests.sandbox_kubernetes.objects import claim, config_map, deployment, job, pod_spec, service, volume

Object = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"


def _of(api_version: str, kind: str, name: str, **rest: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **rest}


def _full_pod() -> Object:
    resources = {"limits": {"cpu": "12000m", "memory": "3072Mi", "nvidia.com/gpu": 8}, "requests": {"cpu": 0.5}}
    field = {"fieldRef": {"fieldPath": "metadata.name"}}
    main = {
        "name": "main",
        "image": "example/main",
        "env": [{"name": "A", "value": "1"}, {"name": "NAME", "valueFrom": field}],
        "ports": [{"containerPort": 8080}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}],
        "resources": resources,
        "readinessProbe": {"httpGet": {"port": 8080}},
        "livenessProbe": {"grpc": {"port": 9090}, "periodSeconds": 3},
        "startupProbe": {"tcpSocket": {"port": "dns"}},
        "lifecycle": {"preStop": {"httpGet": {"port": 8080}}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }
    token = {"serviceAccountToken": {"path": "token"}}
    labels = {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}
    return {
        "initContainers": [{"name": "first", "image": "example/first@sha256:" + "0" * 64}],
        "containers": [main],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory"}},
            {"name": "nothing"},
            {"name": "config", "configMap": {"name": "cm"}},
            {"name": "secret", "secret": {"secretName": "s"}},
            {"name": "host", "hostPath": {"path": "/opt"}},
            {"name": "mixed", "projected": {"sources": [token, labels]}},
        ],
        "nodeSelector": {"sagemaker.amazonaws.com/node-health-status": "Schedulable"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
        ],
    }


def _labelled(spec: Object, **labels: str) -> Object:
    return {"metadata": {"labels": labels}, "spec": spec}


def _daemon_set() -> Object:
    pods = pod_spec(hostNetwork=True)
    pods["containers"][0]["ports"] = [{"containerPort": 9100}]
    spec = {"selector": {"matchLabels": {"app": "d"}}, "template": _labelled(pods, app="d")}
    return _of("apps/v1", "DaemonSet", "d", spec=spec)


def _stateful_set() -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}
    spec = {
        "serviceName": "s",
        "selector": {"matchLabels": {"app": "s"}},
        "template": _labelled(pod_spec(), app="s"),
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": wanted}],
    }
    return _of("apps/v1", "StatefulSet", "s", spec=spec)


def _definition() -> Object:
    spec = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "integer", "minimum": 1}, "mode": {"type": "string", "default": "a"}},
    }
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version: Object = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"plural": "gadgets", "kind": "Gadget"}
    whole: Object = {"group": "ex.io", "scope": "Namespaced", "names": names, "versions": [version]}
    return _of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets.ex.io", spec=whole)


def _webhooks(kind: str) -> Object:
    hook = {
        "name": "hook.ex.io",
        "clientConfig": {"service": {"name": "hook", "namespace": "default"}},
        "rules": [{"apiGroups": ["ex.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return _of("admissionregistration.k8s.io/v1", kind, "hook", webhooks=[hook])


_RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
_READER = {"kind": "Group", "name": "team-a"}
_TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}

MANIFESTS: dict[str, Object] = {
    "configmap": config_map(),
    "secret": _of("v1", "Secret", "s", stringData={"user": "a"}, data={"k": "aGVsbG8="}),
    "service": service(),
    "service without an address": service("headless", clusterIP="None"),
    "service for the world": service("lb", type="LoadBalancer", ports=[{"port": 443, "targetPort": "web"}]),
    "service that sticks": service("sticky", sessionAffinity="ClientIP"),
    "deployment": deployment(),
    "deployment with everything": deployment("full", spec=_full_pod()),
    "daemonset": _daemon_set(),
    "statefulset": _stateful_set(),
    "job": job(),
    "indexed job": job("indexed", completionMode="Indexed", completions=2, parallelism=2),
    "cronjob": _of("batch/v1", "CronJob", "c", spec={"schedule": "@daily", "jobTemplate": {"spec": job()["spec"]}}),
    "pod": _of("v1", "Pod", "p", spec=pod_spec()),
    "persistentvolume": volume(),
    "persistentvolumeclaim": claim(),
    "namespace": _of("v1", "Namespace", "team"),
    "serviceaccount": _of("v1", "ServiceAccount", "robot"),
    "storageclass": _of("storage.k8s.io/v1", "StorageClass", "fast", provisioner="fsx.csi.aws.com"),
    "csidriver": _of("storage.k8s.io/v1", "CSIDriver", "s3.csi.aws.com", spec={}),
    "role": _of(f"{RBAC}/v1", "Role", "r", rules=_RULES),
    "rolebinding": _of(f"{RBAC}/v1", "RoleBinding", "r", roleRef={"kind": "Role", "name": "r"}, subjects=[_READER]),
    "clusterrole": _of(f"{RBAC}/v1", "ClusterRole", "cr", rules=_RULES),
    "clusterrolebinding": _of(
        f"{RBAC}/v1", "ClusterRoleBinding", "cr", roleRef={"kind": "ClusterRole", "name": "cr"}, subjects=[_READER]
    ),
    "horizontalpodautoscaler": _of(
        "autoscaling/v2", "HorizontalPodAutoscaler", "h", spec={"scaleTargetRef": _TARGET, "maxReplicas": 3}
    ),
    "poddisruptionbudget": _of(
        "policy/v1", "PodDisruptionBudget", "b", spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    ),
    "networkpolicy": _of(
        "networking.k8s.io/v1", "NetworkPolicy", "n", spec={"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}
    ),
    "ingress": _of(
        "networking.k8s.io/v1", "Ingress", "i", spec={"ingressClassName": "alb", "rules": [{"host": "a.b"}]}
    ),
    "ingressclass": _of("networking.k8s.io/v1", "IngressClass", "alb", spec={"controller": "ingress.k8s.aws/alb"}),
    "priorityclass": _of("scheduling.k8s.io/v1", "PriorityClass", "high", value=100),
    "resourcequota": _of("v1", "ResourceQuota", "q", spec={"hard": {"limits.cpu": "1000m"}}),
    "limitrange": _of("v1", "LimitRange", "l", spec={"limits": [{"type": "Container", "max": {"cpu": "2000m"}}]}),
    "lease": _of("coordination.k8s.io/v1", "Lease", "l", spec={"holderIdentity": "a"}),
    "runtimeclass": _of("node.k8s.io/v1", "RuntimeClass", "nvidia", handler="nvidia"),
    "customresourcedefinition": _definition(),
    "mutatingwebhookconfiguration": _webhooks("MutatingWebhookConfiguration"),
    "validatingwebhookconfiguration": _webhooks("ValidatingWebhookConfiguration"),
    "node": _of("v1", "Node", "hyperpod-i-1", spec={"providerID": "aws:///usw2-az1/i-1"}),
}
