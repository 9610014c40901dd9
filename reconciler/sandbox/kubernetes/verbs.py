"""One request on a resource, from the parsed request to the reply's bytes. Streams are in `streams`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reconciler.sandbox.kubernetes import crds, patches
from reconciler.sandbox.kubernetes.apiserver import ApiServer, Change, WriteOptions, Written
from reconciler.sandbox.kubernetes.deletion import DeleteOptions, delete
from reconciler.sandbox.kubernetes.errors import ApiError, bad_request, no_such_path
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.listing import Page, list_body, page
from reconciler.sandbox.kubernetes.objects import Object, dig, encode, is_map, items, mapping, name_of, namespace_of
from reconciler.sandbox.kubernetes.requests import Request
from reconciler.sandbox.kubernetes.selectors import matches_selector
from reconciler.sandbox.kubernetes.store import Stored
from reconciler.sandbox.kubernetes.tables import partial, table

APPLY = ("application/apply-patch+yaml", "application/apply-patch+cbor")


@dataclass(kw_only=True)
class Reply:
    """A whole answer."""

    status: int = 200
    body: bytes
    content_type: str = "application/json"
    warnings: list[str] = field(default_factory=list[str])
    retry_after: int | None = None
    date: datetime | None = None


def answer(api: ApiServer, kind: Kind, request: Request) -> Reply:
    """Everything but watches, logs and reviews. ApiError for every refusal."""
    if request.subresource:
        return _subresource(api, kind, request)
    match request.verb:
        case "get":
            return Reply(body=_rendered(api, kind, request, api.get(kind, *_key(kind, request))))
        case "list":
            return _list(api, kind, request)
        case "create":
            if request.name:
                raise _not_allowed()
            return _written(
                api, kind, request, api.create(kind, _namespace(kind, request), request.json(), _options(request))
            )
        case "update":
            return _written(
                api, kind, request, api.replace(kind, *_key(kind, request), request.json(), _options(request))
            )
        case "patch":
            return _patch(api, kind, request)
        case "delete":
            return _delete(api, kind, request)
        case "deletecollection" if "deletecollection" in kind.verbs:
            return _delete_collection(api, kind, request)
        case _:
            raise _not_allowed()


def renderer(api: ApiServer, kind: Kind, request: Request) -> Callable[[Stored], bytes]:
    """How one object is written for this client: whole, as a table, or its metadata alone."""
    if "as=Table" in request.accept:
        crd = _definition(api, kind)

        def as_table(stored: Stored) -> bytes:
            metadata = {"resourceVersion": stored.obj["metadata"]["resourceVersion"]}
            return encode(table(kind, crd, [stored.obj], metadata, api.now()))

        return as_table
    if "as=PartialObjectMetadata" in request.accept:
        return lambda stored: encode(partial(stored.obj))
    return lambda stored: api.view(kind, stored).raw


def _rendered(api: ApiServer, kind: Kind, request: Request, stored: Stored) -> bytes:
    if "as=" not in request.accept:
        return api.view(kind, stored).raw
    return renderer(api, kind, request)(stored)


def _written(api: ApiServer, kind: Kind, request: Request, written: Written) -> Reply:
    body = _rendered(api, kind, request, written.stored) if "as=" in request.accept else written.stored.raw
    return Reply(status=201 if written.created else 200, body=body, warnings=written.warnings)


def _list(api: ApiServer, kind: Kind, request: Request) -> Reply:
    found = _page(api, kind, request)
    if "as=Table" in request.accept:
        metadata: Object = {"resourceVersion": found.revision}
        if found.token:
            metadata["continue"] = found.token
        objects = [stored.obj for stored in found.items]
        return Reply(body=encode(table(kind, _definition(api, kind), objects, metadata, api.now())))
    if "as=PartialObjectMetadata" in request.accept:
        body = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": {"resourceVersion": found.revision},
            "items": [partial(stored.obj) for stored in found.items],
        }
        return Reply(body=encode(body))
    return Reply(body=list_body(kind, found, [api.view(kind, stored).raw for stored in found.items]))


def _page(api: ApiServer, kind: Kind, request: Request) -> Page:
    query = request.query
    limit = query.get("limit") or "0"
    if not limit.isdigit():
        raise bad_request(f"limit: {limit!r} is no number")
    return page(
        api.store,
        kind,
        _scope(kind, request),
        labels=query.get("labelSelector", ""),
        fields=query.get("fieldSelector", ""),
        limit=int(limit),
        token=query.get("continue", ""),
    )


def _patch(api: ApiServer, kind: Kind, request: Request) -> Reply:
    options = _options(request)
    namespace, name = _key(kind, request)
    if request.content_type in APPLY:
        if not request.query.get("fieldManager"):
            text = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
            raise ApiError(422, "Invalid", text)
        return _written(api, kind, request, api.apply(kind, namespace, name, request.json(), options))
    return _written(api, kind, request, api.patch(kind, namespace, name, _change(kind, request), options))


def _change(kind: Kind, request: Request) -> Change:
    patch = request.value()
    match request.content_type:
        case "application/json-patch+json":
            return lambda tree: patches.json_patch(tree, patch)
        case "application/merge-patch+json":
            return lambda tree: _object(patches.merge_patch(tree, _object(patch)))
        case "application/strategic-merge-patch+json" if not kind.custom:
            return lambda tree: _object(patches.strategic_merge(tree, _object(patch), kind.shape))
        case _:
            accepted = ["application/json-patch+json", "application/merge-patch+json", *APPLY[:1]]
            text = "the body of the request was in an unknown format - accepted media types include: "
            raise ApiError(415, "UnsupportedMediaType", text + ", ".join(accepted))


def _object(value: Any) -> Object:
    if not is_map(value):
        raise bad_request("a patch must be an object")
    return value


def _delete(api: ApiServer, kind: Kind, request: Request) -> Reply:
    options = DeleteOptions.read(request.json(), request.query)
    stored, gone = delete(api, kind, *_key(kind, request), options)
    # the real server shows a pod or what still terminates, and a Status for the rest
    if not gone or kind.stored in (("", "pods"), ("", "namespaces")):
        return Reply(body=_rendered(api, kind, request, stored))
    metadata = stored.obj["metadata"]
    details = {"name": metadata["name"], "group": kind.group, "kind": kind.plural, "uid": metadata["uid"]}
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return Reply(body=encode(body))


def _delete_collection(api: ApiServer, kind: Kind, request: Request) -> Reply:
    options = DeleteOptions.read(request.json(), request.query)
    found = _page(api, kind, request)
    for stored in found.items:
        delete(api, kind, namespace_of(stored.obj), name_of(stored.obj), options)
    return Reply(body=list_body(kind, found, [api.view(kind, stored).raw for stored in found.items]))


def _subresource(api: ApiServer, kind: Kind, request: Request) -> Reply:
    if request.subresource not in kind.subresources or not request.name:
        raise no_such_path()
    match request.subresource, request.verb:
        case "status", "get":
            return Reply(body=_rendered(api, kind, request, api.get(kind, *_key(kind, request))))
        case "status", "update":
            return _written(
                api, kind, request, api.replace(kind, *_key(kind, request), request.json(), _options(request))
            )
        case "status", "patch":
            return _patch(api, kind, request)
        case "scale", "get" | "update" | "patch":
            return _scale(api, kind, request)
        case "eviction", "create":
            return _evict(api, kind, request)
        case "binding", "create":
            node = dig(request.json(), "target", "name")
            if not isinstance(node, str) or not node:
                raise ApiError(422, "Invalid", "target.name: Required value")
            api.bind(*_key(kind, request), node, _options(request))
            return Reply(status=201, body=_SUCCESS)
        case "finalize", "update":
            return _finalize(api, kind, request)
        case _:
            raise _not_allowed()


def _scale(api: ApiServer, kind: Kind, request: Request) -> Reply:
    key = _key(kind, request)
    paths = _scale_paths(api, kind)
    stored = api.get(kind, *key)
    if request.verb != "get":
        wanted = request.value()
        if request.verb == "patch":
            wanted = _change(kind, request)(_scale_of(stored.obj, paths))
        replicas = dig(wanted, "spec", "replicas")
        if not isinstance(replicas, int) or replicas < 0:
            raise ApiError(422, "Invalid", "spec.replicas: Invalid value: must be greater than or equal to 0")
        version = dig(wanted, "metadata", "resourceVersion")

        def change(tree: Object) -> Object:
            tree["metadata"]["resourceVersion"] = version or tree["metadata"]["resourceVersion"]
            return _set(tree, paths[0], replicas)

        stored = api.patch(kind, *key, change, _options(request)).stored
    return Reply(body=encode(_scale_of(stored.obj, paths)))


def _scale_paths(api: ApiServer, kind: Kind) -> tuple[list[str], list[str], list[str]]:
    if not kind.custom:
        return ["spec", "replicas"], ["status", "replicas"], ["spec", "selector"]
    crd = _definition(api, kind)
    found = (crds.scale_paths(crd, kind.version) if crd else None) or {}
    names = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
    spec, status, selector = (str(found.get(name) or "").strip(".").split(".") for name in names)
    return spec, status, selector


def _scale_of(obj: Object, paths: tuple[list[str], list[str], list[str]]) -> Object:
    metadata = {key: obj["metadata"][key] for key in _SCALE_METADATA if key in obj["metadata"]}
    selector = dig(obj, *paths[2])
    if is_map(selector):
        selector = ",".join(f"{key}={value}" for key, value in mapping(selector, "matchLabels").items())
    status: Object = {"replicas": dig(obj, *paths[1]) or 0}
    if selector:
        status["selector"] = selector
    spec = {"replicas": dig(obj, *paths[0]) or 0}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}


def _set(tree: Object, path: list[str], value: Any) -> Object:
    node: Any = tree
    for step in path[:-1]:
        node = node.setdefault(step, {})
    node[path[-1]] = value
    return tree


def _evict(api: ApiServer, kind: Kind, request: Request) -> Reply:
    namespace, name = _key(kind, request)
    pod = api.get(kind, namespace, name).obj
    labels: dict[str, str] = mapping(pod["metadata"], "labels")
    for budget in api.store.all(("policy", "poddisruptionbudgets")):
        if namespace_of(budget.obj) != namespace or not matches_selector(budget.obj["spec"].get("selector"), labels):
            continue
        if (dig(budget.obj, "status", "disruptionsAllowed") or 0) <= 0 and dig(pod, "status", "phase") == "Running":
            text = "Cannot evict pod as it would violate the pod's disruption budget."
            raise ApiError(
                429, "TooManyRequests", text, causes=[{"reason": "DisruptionBudget", "message": name_of(budget.obj)}]
            )
    body = request.json()
    options = DeleteOptions.read(mapping(body, "deleteOptions"), request.query)
    delete(api, kind, namespace, name, options)
    return Reply(status=201, body=_SUCCESS)


def _finalize(api: ApiServer, kind: Kind, request: Request) -> Reply:
    namespace = api.get(kind, "", request.name)
    wanted: list[str] = items(request.json(), "spec", "finalizers")
    new: Object = {**namespace.obj, "metadata": dict(namespace.obj["metadata"]), "spec": {"finalizers": wanted}}
    if new["metadata"].get("deletionTimestamp") and not wanted and not new["metadata"].get("finalizers"):
        return Reply(body=api.drop(kind, new).raw)
    return Reply(body=api.commit(kind, new, namespace).raw)


def _options(request: Request) -> WriteOptions:
    query = request.query
    dry_run = query.get("dryRun", "")
    if dry_run not in ("", "All"):
        raise bad_request(f'dryRun: Unsupported value: "{dry_run}": supported values: "All"')
    validation = query.get("fieldValidation") or "Warn"
    if validation not in ("Ignore", "Warn", "Strict"):
        raise bad_request(
            f'fieldValidation: Unsupported value: "{validation}": supported values: "Ignore", "Warn", "Strict"'
        )
    manager = query.get("fieldManager") or request.user_agent.partition("/")[0] or "unknown"
    return WriteOptions(
        manager=manager[:128],
        dry_run=bool(dry_run),
        validation=validation,
        force=query.get("force") == "true",
        subresource=request.subresource,
        admit=request.admit,
    )


def _key(kind: Kind, request: Request) -> tuple[str, str]:
    if not request.name:
        raise _not_allowed()
    return _namespace(kind, request), request.name


def _namespace(kind: Kind, request: Request) -> str:
    if not kind.namespaced:
        return ""
    if not request.namespace:
        raise _not_allowed()
    return request.namespace


def _scope(kind: Kind, request: Request) -> str:
    return request.namespace if kind.namespaced else ""


def _definition(api: ApiServer, kind: Kind) -> Object | None:
    if not kind.custom:
        return None
    found = api.store.get(("apiextensions.k8s.io", "customresourcedefinitions"), ("", f"{kind.plural}.{kind.group}"))
    return found.obj if found else None


def _not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


_SCALE_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_SUCCESS = encode({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
