"""CustomResourceDefinitions: what is refused, and the kinds that one serves."""

from collections.abc import Iterator

from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import Object, dig, is_map, items, mapping
from reconciler.sandbox.kubernetes.rules import INVALID, REQUIRED, Cause
from reconciler.sandbox.kubernetes.shapes import Shape
from reconciler.sandbox.kubernetes.structural import custom_shape


def broken_definition(crd: Object) -> Iterator[Cause]:
    """Rules of the definition itself."""
    spec: Object = crd["spec"]
    names: Object = mapping(spec, "names")
    wanted = f"{names.get('plural')}.{spec.get('group')}"
    if crd["metadata"]["name"] != wanted:
        yield (
            "metadata.name",
            INVALID,
            f'Invalid value: "{crd["metadata"]["name"]}": must be spec.names.plural+"."+spec.group',
        )
    if spec.get("scope") not in ("Namespaced", "Cluster"):
        yield "spec.scope", REQUIRED, "Required value"
    versions: list[Object] = items(spec, "versions")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield "spec.versions", INVALID, "Invalid value: must have exactly one version marked as storage version"
    for index, version in enumerate(versions):
        schema = dig(version, "schema", "openAPIV3Schema")
        here = f"spec.versions[{index}].schema.openAPIV3Schema"
        if schema is None:
            yield here, REQUIRED, "Required value: schemas are required"
        elif schema.get("type") != "object":
            yield f"{here}.type", REQUIRED, "Required value: must be object at the root"
        else:
            yield from _not_structural(schema, here)


def broken_definition_change(old: Object, new: Object) -> Iterator[Cause]:
    for path in (("spec", "group"), ("spec", "scope"), ("spec", "names", "plural"), ("spec", "names", "kind")):
        if dig(old, *path) != dig(new, *path):
            yield ".".join(path), INVALID, f"Invalid value: {dig(new, *path)!r}: field is immutable"


def served_kinds(crd: Object) -> Iterator[Kind]:
    spec: Object = crd["spec"]
    names: Object = spec["names"]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        yield Kind(
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            kind=names["kind"],
            namespaced=spec["scope"] == "Namespaced",
            short_names=tuple(names.get("shortNames") or ()),
            subresources=frozenset(mapping(version, "subresources")),
            categories=tuple(names.get("categories") or ()),
            shape=_shape(version),
            custom=True,
            storage=storage,
            list_kind=names.get("listKind") or f"{names['kind']}List",
            singular=names.get("singular") or names["kind"].lower(),
        )


def established(crd: Object, now: str) -> Object:
    """The status of a definition that is served."""
    spec: Object = crd["spec"]
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastTransitionTime": now,
        }
        for kind, reason, message in (
            ("NamesAccepted", "NoConflicts", "no conflicts found"),
            ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        )
    ]
    stored = [version["name"] for version in spec["versions"] if version.get("storage")]
    before: list[str] = items(crd, "status", "storedVersions")
    return {
        "acceptedNames": spec["names"],
        "conditions": dig(crd, "status", "conditions") or conditions,
        "storedVersions": before + [version for version in stored if version not in before],
    }


def scale_paths(crd: Object, version: str) -> Object | None:
    """`subresources.scale` of a version: JSON paths of replicas, status replicas and selector."""
    for each in crd["spec"]["versions"]:
        if each["name"] == version:
            found: Object | None = dig(each, "subresources", "scale")
            return found
    return None


def _shape(version: Object) -> Shape:
    shape = custom_shape(version["schema"]["openAPIV3Schema"])
    if shape.type != "object":
        shape.type = "object"
    shape.atomic = False
    return shape


def _not_structural(schema: Object, path: str) -> Iterator[Cause]:
    for name, child in mapping(schema, "properties").items():
        here = f"{path}.properties[{name}]"
        if not is_map(child):
            yield here, INVALID, "Invalid value: must be a schema"
            continue
        loose = child.get("x-kubernetes-preserve-unknown-fields") or child.get("x-kubernetes-int-or-string")
        if not child.get("type") and not loose:
            yield f"{here}.type", REQUIRED, "Required value: must not be empty for specified object fields"
        if child.get("type") == "array" and "items" not in child:
            yield f"{here}.items", REQUIRED, "Required value: must be specified"
        yield from _not_structural(child, here)
        yield from _not_structural(mapping(child, "items"), f"{here}.items")
