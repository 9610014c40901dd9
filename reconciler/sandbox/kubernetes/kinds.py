"""Which kinds the server knows: the built-in table, and those that CRDs add."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reconciler.sandbox.kubernetes.shapes import Shape, builtin_shape

READ_WRITE = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One served version of a kind. `storage` names the version that objects are stored in."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()
    verbs: tuple[str, ...] = READ_WRITE
    categories: tuple[str, ...] = ()
    shape: Shape
    custom: bool = False
    storage: str = ""
    list_kind: str = ""
    singular: str = ""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def stored(self) -> tuple[str, str]:
        """The key of the collection that all versions of this kind share."""
        return self.group, self.plural

    @property
    def storage_api_version(self) -> str:
        version = self.storage or self.version
        return f"{self.group}/{version}" if self.group else version


class Kinds:
    """The served kinds by (group, version, plural)."""

    def __init__(self) -> None:
        self._by_path: dict[tuple[str, str, str], Kind] = {kind_path(kind): kind for kind in _builtins()}
        self._by_storage: dict[tuple[str, str], Kind] = {kind.stored: kind for kind in self._by_path.values()}

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        return self._by_path.get((group, version, plural))

    def stored(self, group: str, plural: str) -> Kind | None:
        return self._by_storage.get((group, plural))

    def of(self, api_version: str, kind: str) -> Kind | None:
        """The kind an owner reference or a type meta speaks of."""
        for candidate in self._by_path.values():
            if candidate.kind == kind and candidate.api_version == api_version:
                return candidate
        return None

    def groups(self) -> dict[str, list[str]]:
        """Group → versions, in the order they were added."""
        groups: dict[str, list[str]] = {}
        for group, version, _ in self._by_path:
            versions = groups.setdefault(group, [])
            if version not in versions:
                versions.append(version)
        return groups

    def in_version(self, group: str, version: str) -> list[Kind]:
        return [kind for kind in self._by_path.values() if (kind.group, kind.version) == (group, version)]

    def replace_custom(self, group: str, plural: str, kinds: Iterable[Kind]) -> None:
        """What a CRD serves now; nothing if it is gone."""
        for path in [path for path in self._by_path if path[0] == group and path[2] == plural]:
            del self._by_path[path]
        self._by_storage.pop((group, plural), None)
        for kind in kinds:
            self._by_path[kind_path(kind)] = kind
            if kind.version == kind.storage or (group, plural) not in self._by_storage:
                self._by_storage[group, plural] = kind

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._by_path.values()))


def kind_path(kind: Kind) -> tuple[str, str, str]:
    return kind.group, kind.version, kind.plural


# plural, kind, scope (N = namespaced, C = cluster), short names, subresources
_TABLE: dict[str, str] = {
    "v1": """
        namespaces Namespace C ns status,finalize
        nodes Node C no status
        pods Pod N po status,log,eviction,binding
        services Service N svc status
        configmaps ConfigMap N cm -
        secrets Secret N - -
        serviceaccounts ServiceAccount N sa token
        events Event N ev -
        endpoints Endpoints N ep -
        persistentvolumes PersistentVolume C pv status
        persistentvolumeclaims PersistentVolumeClaim N pvc status
        resourcequotas ResourceQuota N quota status
        limitranges LimitRange N limits -
        replicationcontrollers ReplicationController N rc status,scale
        podtemplates PodTemplate N - -
    """,
    "apps/v1": """
        deployments Deployment N deploy status,scale
        daemonsets DaemonSet N ds status
        statefulsets StatefulSet N sts status,scale
        replicasets ReplicaSet N rs status,scale
        controllerrevisions ControllerRevision N - -
    """,
    "batch/v1": """
        jobs Job N - status
        cronjobs CronJob N cj status
    """,
    "policy/v1": "poddisruptionbudgets PodDisruptionBudget N pdb status",
    "rbac.authorization.k8s.io/v1": """
        roles Role N - -
        rolebindings RoleBinding N - -
        clusterroles ClusterRole C - -
        clusterrolebindings ClusterRoleBinding C - -
    """,
    "storage.k8s.io/v1": """
        storageclasses StorageClass C sc -
        csidrivers CSIDriver C - -
        csinodes CSINode C - -
        volumeattachments VolumeAttachment C - status
    """,
    "scheduling.k8s.io/v1": "priorityclasses PriorityClass C pc -",
    "node.k8s.io/v1": "runtimeclasses RuntimeClass C - -",
    "coordination.k8s.io/v1": "leases Lease N - -",
    "networking.k8s.io/v1": """
        ingresses Ingress N ing status
        ingressclasses IngressClass C - -
        networkpolicies NetworkPolicy N netpol -
    """,
    "autoscaling/v2": "horizontalpodautoscalers HorizontalPodAutoscaler N hpa status",
    "discovery.k8s.io/v1": "endpointslices EndpointSlice N - -",
    "events.k8s.io/v1": "events Event N ev -",
    "admissionregistration.k8s.io/v1": """
        mutatingwebhookconfigurations MutatingWebhookConfiguration C - -
        validatingwebhookconfigurations ValidatingWebhookConfiguration C - -
    """,
    "apiextensions.k8s.io/v1": "customresourcedefinitions CustomResourceDefinition C crd,crds status",
    "apiregistration.k8s.io/v1": "apiservices APIService C - status",
    "authorization.k8s.io/v1": """
        selfsubjectaccessreviews SelfSubjectAccessReview C - -
        subjectaccessreviews SubjectAccessReview C - -
        selfsubjectrulesreviews SelfSubjectRulesReview C - -
    """,
    "authentication.k8s.io/v1": """
        selfsubjectreviews SelfSubjectReview C - -
        tokenreviews TokenReview C - -
    """,
}


def _builtins() -> Iterator[Kind]:
    for api_version, table in _TABLE.items():
        group, _, version = api_version.rpartition("/")
        for line in table.strip().splitlines():
            plural, kind, scope, short, subresources = line.split()
            yield Kind(
                group=group,
                version=version,
                plural=plural,
                kind=kind,
                namespaced=scope == "N",
                short_names=() if short == "-" else tuple(short.split(",")),
                subresources=frozenset() if subresources == "-" else frozenset(subresources.split(",")),
                verbs=_verbs(plural, kind),
                categories=("all",) if plural in _IN_ALL else ("api-extensions",) if group in _EXTENSIONS else (),
                shape=builtin_shape(group, version, kind),
                list_kind=f"{kind}List",
                singular=kind.lower(),
            )


def _verbs(plural: str, kind: str) -> tuple[str, ...]:
    if kind.endswith("Review"):
        return ("create",)
    # namespaces, alone among the kinds, go one by one
    return tuple(verb for verb in READ_WRITE if plural != "namespaces" or verb != "deletecollection")


_IN_ALL = {
    "pods", "services", "deployments", "daemonsets", "statefulsets", "replicasets", "jobs", "cronjobs",
    "replicationcontrollers", "horizontalpodautoscalers",
}  # fmt: skip
_EXTENSIONS = {"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}
