"""What the server itself puts into an object on its way in, where that needs the rest of the cluster.

Service addresses, a pod's service account and priority, the default
storage class, the labels by which a job knows its pods.
"""

import base64
import secrets
from typing import Any

from reconciler.sandbox.kubernetes.errors import ApiError, forbidden, invalid
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, dig, items, mapping, namespace_of
from reconciler.sandbox.kubernetes.store import DELETED, Store

SERVICES = ("", "services")

PVC_FINALIZER = "kubernetes.io/pvc-protection"
PV_FINALIZER = "kubernetes.io/pv-protection"
NOT_READY = "node.kubernetes.io/not-ready"
SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # of generated names
_TEMPLATE_NUMBER = "deprecated.daemonset.template.generation"
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


class Admission:
    """Knows the store, and which addresses are taken."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next_address = 10
        self._addresses_in_use: set[str] = set()
        self._read = -1  # the revision up to which they are known

    def on_create(self, kind: Kind, obj: Object) -> None:
        """In place, after defaulting, before validation."""
        match kind.group, kind.kind:
            case "", "Pod":
                self._pod(obj)
            case "", "Service":
                self._addresses(obj, None)
            case "", "PersistentVolumeClaim":
                obj["metadata"].setdefault("finalizers", [PVC_FINALIZER])
                self._storage_class(obj)
            case "", "PersistentVolume":
                obj["metadata"].setdefault("finalizers", [PV_FINALIZER])
            case "", "Node":
                _not_ready(obj)
            case "batch", "Job":
                _job_selector(obj)
            case "apps", "DaemonSet":
                _number_template(obj, 1)
            case _:
                pass

    def on_update(self, kind: Kind, old: Object, new: Object) -> None:
        if (kind.group, kind.kind) == ("apps", "DaemonSet"):
            before = int(dig(old, "metadata", "annotations", _TEMPLATE_NUMBER) or 1)
            _number_template(new, before + (old["spec"]["template"] != new["spec"]["template"]))
        if (kind.group, kind.kind) == ("", "Service"):
            self._addresses(new, old)
        if (kind.group, kind.kind) == ("", "Namespace"):
            new["spec"] = old["spec"]

    def _pod(self, pod: Object) -> None:
        spec: Object = pod["spec"]
        account = spec.setdefault("serviceAccountName", "default")
        spec["serviceAccount"] = account
        namespace = namespace_of(pod)
        found = self._store.get(("", "serviceaccounts"), (namespace, account))
        # the default account is made by a controller a moment after its namespace, and the server waits for that
        if account != "default" and found is None:
            name = pod["metadata"]["name"]
            text = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
            raise forbidden(f'pods "{name}" is forbidden: {text}', name=name, kind="pods")
        if (
            spec.get("automountServiceAccountToken", dig(found and found.obj, "automountServiceAccountToken"))
            is not False
        ):
            _mount_token(spec)
        self._priority(spec, pod["metadata"]["name"])
        tolerations: list[Object] = spec.setdefault("tolerations", [])
        for key in (NOT_READY, "node.kubernetes.io/unreachable"):
            if not any(
                each.get("key") in (key, None, "") and each.get("effect") in ("NoExecute", None, "")
                for each in tolerations
            ):
                tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})

    def _priority(self, spec: Object, name: str) -> None:
        wanted = spec.get("priorityClassName")
        classes = {
            each.obj["metadata"]["name"]: each.obj for each in self._store.all(("scheduling.k8s.io", "priorityclasses"))
        }
        if wanted and wanted not in classes:
            raise forbidden(
                f'pods "{name}" is forbidden: no PriorityClass with name {wanted} was found', name=name, kind="pods"
            )
        found = classes.get(wanted) or next((each for each in classes.values() if each.get("globalDefault")), None)
        if found:
            spec["priorityClassName"] = found["metadata"]["name"]
        spec["priority"] = found["value"] if found else 0
        spec["preemptionPolicy"] = (found or {}).get("preemptionPolicy", "PreemptLowerPriority")

    def _storage_class(self, claim: Object) -> None:
        if "storageClassName" in claim["spec"]:
            return
        for stored in self._store.all(("storage.k8s.io", "storageclasses")):
            if dig(stored.obj, "metadata", "annotations", "storageclass.kubernetes.io/is-default-class") == "true":
                claim["spec"]["storageClassName"] = stored.obj["metadata"]["name"]

    def _addresses(self, service: Object, old: Object | None) -> None:
        spec: Object = service["spec"]
        before: Object = old["spec"] if old else {}
        if spec["type"] == "ExternalName":
            return
        for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"):
            if field in before and field not in spec and before.get("type") != "ExternalName":
                spec[field] = before[field]
        if not spec.get("clusterIP"):
            spec["clusterIP"] = self._free_address()
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        if old is None:
            self._refuse_taken(service)
        if spec["type"] in ("NodePort", "LoadBalancer") and spec.get("allocateLoadBalancerNodePorts", True):
            self._node_ports(spec, before)

    def _free_address(self) -> str:
        taken = self._taken()
        while True:
            self._next_address += 1
            address = f"10.100.{self._next_address // 256 % 256}.{self._next_address % 256}"
            if address not in taken:
                return address

    def _refuse_taken(self, service: Object) -> None:
        address = service["spec"]["clusterIP"]
        if address == "None":
            return
        if address in self._taken():
            text = f'Invalid value: "{address}": failed to allocate IP {address}: provided IP is already allocated'
            name = service["metadata"]["name"]
            raise invalid("Service", "", name, [("spec.clusterIPs", "FieldValueInvalid", text)])

    def _taken(self) -> set[str]:
        """Cluster IPs in use. Kept up with the log: thousands of services must not each look at all others."""
        log = self._store.log(SERVICES)
        if self._read < log.floor:
            self._addresses_in_use = {_cluster_ip(each.obj) for each in self._store.all(SERVICES)}
        else:
            for event in log.since(self._read):
                if event.old is not None:
                    self._addresses_in_use.discard(_cluster_ip(event.old.obj))
                if event.type != DELETED:
                    self._addresses_in_use.add(_cluster_ip(event.new.obj))
        self._read = self._store.revision
        return self._addresses_in_use

    def _node_ports(self, spec: Object, before: Object) -> None:
        had = {(port["port"], port["protocol"]): port.get("nodePort") for port in items(before, "ports")}
        taken = {
            port.get("nodePort")
            for each in self._store.all(("", "services"))
            for port in items(each.obj, "spec", "ports")
        }
        candidate = 30000
        for port in items(spec, "ports"):
            if port.get("nodePort"):
                continue
            port["nodePort"] = had.get((port["port"], port["protocol"]))
            while not port["nodePort"]:
                candidate += 1
                if candidate > 32767:
                    raise ApiError(500, "InternalError", "failed to allocate a nodePort: range is full")
                if candidate not in taken:
                    port["nodePort"] = candidate
                    taken.add(candidate)


def _not_ready(node: Object) -> None:
    """Until a controller has seen that it is ready."""
    taints: list[Object] = node["spec"].setdefault("taints", [])
    if not any(each.get("key") == NOT_READY and each.get("effect") == "NoSchedule" for each in taints):
        taints.append({"key": NOT_READY, "effect": "NoSchedule"})


def _mount_token(spec: Object) -> None:
    """A token of the pod's account, in every container that has nothing else in that place."""
    name = ""
    for container in [*items(spec, "initContainers"), *items(spec, "containers")]:
        if any(mount.get("mountPath") == _TOKEN_PATH for mount in items(container, "volumeMounts")):
            continue
        name = name or "kube-api-access-" + "".join(secrets.choice(SUFFIX) for _ in range(5))
        container.setdefault("volumeMounts", []).append({"name": name, "readOnly": True, "mountPath": _TOKEN_PATH})
    if not name:
        return
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]
    spec.setdefault("volumes", []).append({"name": name, "projected": {"sources": sources, "defaultMode": 420}})


def _job_selector(job: Object) -> None:
    spec: Object = job["spec"]
    if spec.get("manualSelector"):
        return
    uid, name = job["metadata"]["uid"], job["metadata"]["name"]
    labels = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template: Object = spec["template"]
    metadata: Object = template.setdefault("metadata", {})
    metadata["labels"] = {**mapping(metadata, "labels"), **labels}
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    job["metadata"].setdefault("labels", dict(metadata["labels"]))  # a job without labels has its template's


def _number_template(daemon_set: Object, number: int) -> None:
    daemon_set["metadata"].setdefault("annotations", {})[_TEMPLATE_NUMBER] = str(number)


def fold_string_data(secret: Object) -> None:
    text: Any = secret.pop("stringData", None)
    if text:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in text.items()}
        secret["data"] = {**mapping(secret, "data"), **encoded}


def quality_of_service(pod: Object) -> str:
    """The QoS class."""
    resources = [mapping(each, "resources") for each in items(pod, "spec", "containers")]
    if not any(each.get("limits") or each.get("requests") for each in resources):
        return "BestEffort"
    for each in resources:
        limits = mapping(each, "limits")
        if not {"cpu", "memory"} <= set(limits) or (each.get("requests") or limits) != limits:
            return "Burstable"
    return "Guaranteed"


def _cluster_ip(service: Object) -> str:
    return str(dig(service, "spec", "clusterIP") or "")
