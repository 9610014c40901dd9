"""The shape of a kind: its fields, their types, and how lists and maps merge.

Built-in shapes are read off the official client's models (field names,
types, what is required); how lists merge is not in those models and
stands in the tables below, after the Go types' `listType` markers. Custom
shapes come from a CRD (see `structural`). Pruning, server-side apply and
strategic merge all walk the same shapes.
"""

import types
import typing
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import kubernetes.client as _kubernetes

from reconciler.sandbox.kubernetes.objects import Object

OBJECT, MAP, LIST = "object", "map", "list"
STRING, INTEGER, NUMBER, BOOLEAN = "string", "integer", "number", "boolean"
INT_OR_STRING, QUANTITY, ANY = "int-or-string", "quantity", "any"


@dataclass(slots=True)
class Shape:
    """One node. `fields` belong to an object; `element` is the item of a list or the value of a map."""

    type: str
    fields: dict[str, "Shape"] = field(default_factory=dict[str, "Shape"])
    element: "Shape | None" = None
    keys: tuple[str, ...] = ()  # a list that is a map by these keys
    is_set: bool = False  # a list of distinct scalars, each with its own owner
    atomic: bool = True  # lists unless said otherwise; objects and maps only when marked
    patch_key: str = ""  # strategic merge key where it is not the only list-map key
    required: tuple[str, ...] = ()
    open: bool = False  # unknown fields are kept
    nullable: bool = False
    embedded: bool = False  # a whole object with apiVersion, kind and metadata of its own
    defaulted: bool = False  # `default` or one below it is set
    default: Any = None
    has_default: bool = False
    rules: Object = field(default_factory=dict[str, Any])  # enum, pattern, minimum … (custom kinds only)


ANYTHING = Shape(ANY, open=True)


@cache
def builtin_shape(group: str, version: str, kind: str) -> Shape:
    """The shape of a built-in kind; anything at all for one that the client has no model of."""
    prefix = version[0].upper() + version[1:]
    names = [f"{prefix}{kind}"]
    if kind == "Event":
        names = ["EventsV1Event" if group else "CoreV1Event"]
    for name in names:
        model = getattr(_models, name, None)
        if model is not None:
            return _model_shape(name)
    return Shape(OBJECT, atomic=False, open=True, fields={"metadata": _model_shape("V1ObjectMeta")})


def metadata_shape() -> Shape:
    return _model_shape("V1ObjectMeta")


# the client publishes no types
_models: Any = _kubernetes

# element model → keys of a list-map
_LIST_MAPS: dict[str, tuple[str, ...]] = {
    "V1Container": ("name",),
    "V1EphemeralContainer": ("name",),
    "V1ContainerPort": ("containerPort", "protocol"),
    "V1EnvVar": ("name",),
    "V1VolumeMount": ("mountPath",),
    "V1VolumeDevice": ("devicePath",),
    "V1ServicePort": ("port", "protocol"),
    "V1Volume": ("name",),
    "V1HostAlias": ("ip",),
    "V1PodResourceClaim": ("name",),
    "V1TopologySpreadConstraint": ("topologyKey", "whenUnsatisfiable"),
    "V1OwnerReference": ("uid",),
    "V1PodCondition": ("type",),
    "V1NodeCondition": ("type",),
    "V1DeploymentCondition": ("type",),
    "V1ReplicaSetCondition": ("type",),
    "V1DaemonSetCondition": ("type",),
    "V1StatefulSetCondition": ("type",),
    "V1NamespaceCondition": ("type",),
    "V1PersistentVolumeClaimCondition": ("type",),
    "V1CustomResourceDefinitionCondition": ("type",),
    "V1APIServiceCondition": ("type",),
    "V1Condition": ("type",),
    "V1MutatingWebhook": ("name",),
    "V1ValidatingWebhook": ("name",),
    "V1MatchCondition": ("name",),
    "V1PodIP": ("ip",),
    "V1HostIP": ("ip",),
    "V1ContainerResizePolicy": (),
    "V1CSINodeDriver": ("name",),
}
_LIST_MAP_FIELDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("V1PodSpec", "imagePullSecrets"): ("name",),
    ("V1ServiceAccount", "secrets"): ("name",),
    ("V1ResourceRequirements", "claims"): ("name",),
}
_SETS = {("V1ObjectMeta", "finalizers"), ("V1NodeSpec", "podCIDRs"), ("V1LoadBalancerStatus", "ingress")}
# the strategic merge key, where a list-map has two keys or (taints, addresses) is atomic for apply
_PATCH_KEYS = {
    "V1ContainerPort": "containerPort",
    "V1ServicePort": "port",
    "V1TopologySpreadConstraint": "topologyKey",
    "V1NodeAddress": "type",
    "V1Taint": "key",
    "V1JobCondition": "type",
    "V1LocalObjectReference": "name",
    "V1ObjectReference": "name",
}
_ATOMIC_OBJECTS = {
    "V1LabelSelector",
    "V1NodeSelector",
    "V1NodeSelectorTerm",
    "V1ConfigMapKeySelector",
    "V1SecretKeySelector",
    "V1ObjectFieldSelector",
    "V1ResourceFieldSelector",
    "V1LocalObjectReference",
    "V1TypedLocalObjectReference",
    "V1SecretReference",
    "V1RoleRef",
    "V1Subject",
    "V1ScopeSelector",
    "V1ManagedFieldsEntry",
}
_ATOMIC_MAPS = {("V1ServiceSpec", "selector"), ("V1PodSpec", "nodeSelector")}
_QUANTITIES = {
    ("V1ResourceRequirements", "limits"),
    ("V1ResourceRequirements", "requests"),
    ("V1VolumeResourceRequirements", "limits"),
    ("V1VolumeResourceRequirements", "requests"),
    ("V1PersistentVolumeSpec", "capacity"),
    ("V1PersistentVolumeClaimStatus", "capacity"),
    ("V1PersistentVolumeClaimStatus", "allocatedResources"),
    ("V1NodeStatus", "capacity"),
    ("V1NodeStatus", "allocatable"),
    ("V1ResourceQuotaSpec", "hard"),
    ("V1ResourceQuotaStatus", "hard"),
    ("V1ResourceQuotaStatus", "used"),
    ("V1LimitRangeItem", "default"),
    ("V1LimitRangeItem", "defaultRequest"),
    ("V1LimitRangeItem", "max"),
    ("V1LimitRangeItem", "min"),
    ("V1LimitRangeItem", "maxLimitRequestRatio"),
    ("V1PodSpec", "overhead"),
    ("V1Overhead", "podFixed"),
    ("V1EmptyDirVolumeSource", "sizeLimit"),
    ("V1ResourceFieldSelector", "divisor"),
    ("V2MetricTarget", "averageValue"),
    ("V2MetricTarget", "value"),
}
# what holds arbitrary JSON, or (a CRD's schema) is checked elsewhere
_OPEN_MODELS = {"V1JSONSchemaProps", "V1CustomResourceValidation"}


@cache
def _model_shape(name: str) -> Shape:
    if name in _OPEN_MODELS:
        return ANYTHING
    model: Any = getattr(_models, name)
    shape = Shape(OBJECT, atomic=name in _ATOMIC_OBJECTS)
    required: list[str] = []
    for python_name, info in model.model_fields.items():
        json_name: str = info.serialization_alias or python_name
        shape.fields[json_name] = _annotation_shape(name, json_name, info.annotation)
        if info.is_required():
            required.append(json_name)
    shape.required = tuple(required)
    return shape


def _annotation_shape(owner: str, field_name: str, annotation: Any) -> Shape:
    origin: Any = typing.get_origin(annotation)
    arguments: tuple[Any, ...] = typing.get_args(annotation)
    if origin is typing.Annotated:
        return _annotation_shape(owner, field_name, arguments[0])
    if origin in (typing.Union, types.UnionType):
        return _union_shape(owner, field_name, [each for each in arguments if each is not type(None)])
    if origin is list:
        return _list_shape(owner, field_name, arguments[0])
    if origin is dict:
        element = _annotation_shape(owner, field_name, arguments[1])
        atomic = (owner, field_name) in _ATOMIC_MAPS
        return Shape(MAP, element=element, atomic=atomic, open=element.type == ANY)
    if annotation is str and (owner, field_name) in _QUANTITIES:
        return Shape(QUANTITY)
    if hasattr(annotation, "model_fields"):
        return _model_shape(annotation.__name__)
    return Shape(_SCALARS.get(getattr(annotation, "__name__", ""), ANY))


def _union_shape(owner: str, field_name: str, options: list[Any]) -> Shape:
    if len(options) == 1:
        return _annotation_shape(owner, field_name, options[0])
    kinds = {_annotation_shape(owner, field_name, option).type for option in options}
    if (owner, field_name) in _QUANTITIES:
        return Shape(QUANTITY)
    if kinds == {INTEGER, STRING}:
        return Shape(INT_OR_STRING)
    if kinds == {STRING}:
        return Shape(STRING)
    if kinds <= {INTEGER, NUMBER}:
        return Shape(NUMBER)
    return ANYTHING


def _list_shape(owner: str, field_name: str, item: Any) -> Shape:
    element = _annotation_shape(owner, field_name, item)
    name = getattr(item, "__name__", "")
    keys = _LIST_MAP_FIELDS.get((owner, field_name), _LIST_MAPS.get(name, ()))
    is_set = (owner, field_name) in _SETS and element.type == STRING
    patch_key = _PATCH_KEYS.get(name, keys[0] if keys else "")
    return Shape(LIST, element=element, keys=keys, is_set=is_set, atomic=not keys and not is_set, patch_key=patch_key)


_SCALARS = {
    "str": STRING,
    "bytes": STRING,
    "int": INTEGER,
    "float": NUMBER,
    "bool": BOOLEAN,
    "datetime": STRING,
}
