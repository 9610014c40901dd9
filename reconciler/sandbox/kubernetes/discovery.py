"""What clients ask before anything else: versions, groups, resources, and as much OpenAPI as kubectl looks at."""

from reconciler.sandbox.kubernetes.kinds import Kind, Kinds
from reconciler.sandbox.kubernetes.objects import Object

MAJOR, MINOR, VERSION = "1", "34", "v1.34.1"

_SUBRESOURCE_KINDS = {
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
    "binding": ("", "", "Binding"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
}
_SUBRESOURCE_VERBS = {
    "eviction": ["create"],
    "binding": ["create"],
    "token": ["create"],
    "log": ["get"],
    "finalize": ["update"],
}


def discover(parts: list[str], kinds: Kinds) -> Object | None:
    """The document at that path, or None."""
    match parts:
        case ["version"]:
            return version()
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            groups = kinds.groups()
            listed = [_group(name, versions) for name, versions in groups.items() if name]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
        case ["apis", name]:
            versions = kinds.groups().get(name)
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)} if versions else None
        case ["api", version_]:
            return _resources("", version_, kinds)
        case ["apis", group, version_]:
            return _resources(group, version_, kinds)
        case ["openapi", "v3"]:
            paths = ["api/v1", *(f"apis/{g}/{v}" for g, versions in kinds.groups().items() if g for v in versions)]
            return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}"} for path in paths}}
        case ["openapi", "v3", "api", version_]:
            return _openapi("", version_, kinds)
        case ["openapi", "v3", "apis", group, version_]:
            return _openapi(group, version_, kinds)
        case _:
            return None


def version() -> Object:
    return {
        "major": MAJOR,
        "minor": MINOR,
        "gitVersion": VERSION,
        "gitCommit": "0" * 40,
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "sandbox",
        "platform": "linux/amd64",
    }


def _group(name: str, versions: list[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resources(group: str, version_: str, kinds: Kinds) -> Object | None:
    found = kinds.in_version(group, version_)
    if not found:
        return None
    resources: list[Object] = []
    for kind in found:
        resources.append(_resource(kind))
        resources += [_subresource(kind, name) for name in sorted(kind.subresources)]
    name = f"{group}/{version_}" if group else version_
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": resources}


def _resource(kind: Kind) -> Object:
    resource: Object = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        resource["shortNames"] = list(kind.short_names)
    if kind.categories:
        resource["categories"] = list(kind.categories)
    return resource


def _subresource(kind: Kind, name: str) -> Object:
    resource: Object = {
        "name": f"{kind.plural}/{name}",
        "singularName": "",
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": _SUBRESOURCE_VERBS.get(name, ["get", "patch", "update"]),
    }
    if name in _SUBRESOURCE_KINDS:
        group, version_, resource["kind"] = _SUBRESOURCE_KINDS[name]
        if version_:
            resource["group"], resource["version"] = group, version_
    return resource


def _openapi(group: str, version_: str, kinds: Kinds) -> Object | None:
    """Enough for kubectl to see that fields are validated and dry runs possible."""
    found = kinds.in_version(group, version_)
    if not found:
        return None
    root = f"/apis/{group}/{version_}" if group else f"/api/{version_}"
    parameters = [{"name": name, "in": "query"} for name in ("dryRun", "fieldManager", "fieldValidation", "force")]
    paths: Object = {}
    for kind in found:
        scope = "namespaces/{namespace}/" if kind.namespaced else ""
        paths[f"{root}/{scope}{kind.plural}/{{name}}"] = {
            "patch": {
                "operationId": f"patch{kind.kind}",
                "responses": {},
                "parameters": parameters,
                "x-kubernetes-group-version-kind": {"group": group, "version": version_, "kind": kind.kind},
            }
        }
    info = {"title": "Kubernetes sandbox", "version": VERSION}
    return {"openapi": "3.0.0", "info": info, "components": {"schemas": {}}, "paths": paths}
