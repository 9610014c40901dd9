"""The API server's state and its verbs, synchronous: on one event loop every request is atomic.

A write goes: read the body against the kind's shape, merge, default,
admit, validate, own, store. What the real cluster does a moment after the
reply (garbage collection, ending a namespace, establishing a CRD) waits
in `deferred` until `settle` is called.
"""

import secrets
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from reconciler.sandbox.kubernetes import (
    applying,
    crds,
    defaults,
    deletion,
    immutability,
    managers,
    rules,
    structural,
    writes,
)
from reconciler.sandbox.kubernetes.admission import SUFFIX, Admission, fold_string_data, quality_of_service
from reconciler.sandbox.kubernetes.errors import (
    ApiError,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    invalid,
    not_found,
)
from reconciler.sandbox.kubernetes.kinds import Kind, Kinds
from reconciler.sandbox.kubernetes.objects import Object, clone, dig, items, rfc3339
from reconciler.sandbox.kubernetes.pod_logs import PodLogs
from reconciler.sandbox.kubernetes.pruning import Findings, prune
from reconciler.sandbox.kubernetes.requests import Admit, anything
from reconciler.sandbox.kubernetes.seed import seed
from reconciler.sandbox.kubernetes.store import Collection, Key, Store, Stored

CREATED, UPDATED, DELETED = "created", "updated", "deleted"


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One change of stored state."""

    change: str  # created, updated, deleted
    group: str
    resource: str
    namespace: str
    name: str
    uid: str
    resource_version: str


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """What the query of a write says. `validation`: Strict, Warn or Ignore."""

    manager: str = "unknown"
    dry_run: bool = False
    validation: str = "Warn"
    force: bool = False
    subresource: str = ""
    admit: Admit = anything


@dataclass(kw_only=True)
class Written:
    """The object after a write, whether it is new, and warnings for the reply's headers."""

    stored: Stored
    created: bool = False
    warnings: list[str] = field(default_factory=list[str])


Change = Callable[[Object], Object]


class ApiServer:
    """One cluster's API. `now` gives epoch seconds for the timestamps in objects."""

    def __init__(self, *, name: str = "sandbox", now: Callable[[], float] = time.time, window: int = 10_000) -> None:
        self.name = name
        self.now = now
        self.kinds = Kinds()
        self.store = Store(window=window)
        self.logs = PodLogs()
        self.effects: list[Effect] = []
        self.deferred: deque[Callable[[], None]] = deque()
        # for garbage collection: where each uid is, and what names it as owner
        self.places: dict[str, tuple[Collection, Key]] = {}
        self.owned: dict[str, set[tuple[Collection, Key]]] = {}
        self._admission = Admission(self.store)
        seed(lambda group, plural, body: self._seed(self.kind(group, plural), body))
        self.effects.clear()

    # ---- reading -----------------------------------------------------------------

    def get(self, kind: Kind, namespace: str, name: str) -> Stored:
        """ApiError 404 if it is not there."""
        stored = self.store.get(kind.stored, (namespace, name))
        if stored is None:
            raise not_found(kind.plural, kind.group, name)
        return stored

    def view(self, kind: Kind, stored: Stored) -> Stored:
        """The object in the version that was asked for."""
        if not kind.custom or stored.obj["apiVersion"] == kind.api_version:
            return stored
        return Stored({**stored.obj, "apiVersion": kind.api_version})

    # ---- writing -----------------------------------------------------------------

    def create(self, kind: Kind, namespace: str, body: Object, options: WriteOptions) -> Written:
        """POST. ApiError 409 if the name is taken, 404 if the namespace is not there."""
        obj, warnings, findings = self._read(kind, body, options.validation)
        self._name(kind, namespace, obj)
        metadata: Object = obj["metadata"]
        self._refuse_namespace(kind, namespace, metadata["name"])
        if self.store.get(kind.stored, (metadata.get("namespace", ""), metadata["name"])) is not None:
            raise already_exists(kind.plural, kind.group, metadata["name"])
        self._fresh(kind, obj)
        self._complete(kind, obj, None, findings)
        metadata["managedFields"] = managers.after_update(
            None, obj, kind.shape, manager=options.manager, subresource="", now=self._stamp()
        )
        if not metadata["managedFields"]:
            del metadata["managedFields"]
        return Written(stored=self._insert(kind, obj, options), created=True, warnings=warnings)

    def replace(self, kind: Kind, namespace: str, name: str, body: Object, options: WriteOptions) -> Written:
        """PUT."""
        old = self.get(kind, namespace, name)
        obj, warnings, findings = self._read(kind, body, options.validation)
        if obj["metadata"].get("name", name) != name:
            raise bad_request(
                f"the name of the object ({obj['metadata']['name']}) does not match the name on the URL ({name})"
            )
        if not obj["metadata"].get("resourceVersion") and writes.needs_version(kind):
            cause = ("metadata.resourceVersion", rules.INVALID, "Invalid value: 0: must be specified for an update")
            raise invalid(kind.kind, kind.group, name, [cause])
        return self._change(kind, old, obj, options, warnings, findings)

    def patch(self, kind: Kind, namespace: str, name: str, change: Change, options: WriteOptions) -> Written:
        """PATCH in one of the three classic formats; `change` makes the new tree from a private copy."""
        old = self.get(kind, namespace, name)
        body = change(clone(old.obj if not kind.custom else self.view(kind, old).obj))
        obj, warnings, findings = self._read(kind, body, options.validation)
        return self._change(kind, old, obj, options, warnings, findings)

    def apply(self, kind: Kind, namespace: str, name: str, body: Object, options: WriteOptions) -> Written:
        """Server-side apply, which creates what is not there. ApiError 409 names conflicting managers."""
        wanted, findings = prune(body, kind.shape, custom=kind.custom)
        self._refuse_untyped(kind, name, wanted, findings)
        metadata: Object = wanted.setdefault("metadata", {})
        if not metadata.get("name"):
            raise bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
        if metadata["name"] != name:
            raise bad_request(
                f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
            )
        if metadata.get("managedFields"):
            raise bad_request("metadata.managedFields must be nil")
        old = self.store.get(kind.stored, (namespace, name))
        if old is None:
            return self._apply_new(kind, namespace, name, wanted, options)
        live = self.view(kind, old).obj
        merged = applying.applied(
            live,
            wanted,
            kind.shape,
            manager=options.manager,
            force=options.force,
            subresource=options.subresource,
            now=self._stamp(),
            has_status="status" in kind.subresources,
        )
        for key in ("uid", "resourceVersion"):
            if metadata.get(key):
                merged["metadata"][key] = metadata[key]
        if managers.is_as_stored(live, merged):
            return Written(stored=self.view(kind, old))
        obj, _ = prune(merged, kind.shape, custom=kind.custom)
        return self._change(kind, old, obj, options, [], Findings(), applied=True)

    def _apply_new(self, kind: Kind, namespace: str, name: str, wanted: Object, options: WriteOptions) -> Written:
        if options.subresource:
            raise not_found(kind.plural, kind.group, name)
        if wanted["metadata"].get("uid") or wanted["metadata"].get("resourceVersion"):
            raise conflict(kind.plural, kind.group, name, "the object does not exist")
        self._refuse_namespace(kind, namespace, name)
        self._name(kind, namespace, {"metadata": {**wanted["metadata"], "name": name}})
        skeleton: Object = {"apiVersion": wanted["apiVersion"], "kind": wanted["kind"], "metadata": {"name": name}}
        obj = applying.applied(
            skeleton,
            wanted,
            kind.shape,
            manager=options.manager,
            force=True,
            subresource="",
            now=self._stamp(),
            has_status="status" in kind.subresources,
        )
        if kind.namespaced:
            obj["metadata"]["namespace"] = namespace
        obj, findings = prune(obj, kind.shape, custom=kind.custom)
        self._fresh(kind, obj)
        self._complete(kind, obj, None, findings)
        return Written(stored=self._insert(kind, obj, options), created=True)

    def bind(self, namespace: str, name: str, node: str, options: WriteOptions) -> None:
        """The binding subresource. ApiError 409 if the pod has a node already."""
        kind = self.kind("", "pods")
        old = self.get(kind, namespace, name)
        if dig(old.obj, "metadata", "deletionTimestamp"):
            raise conflict("pods/binding", "", name, f"pod {name} is being deleted, cannot be assigned to a host")
        if old.obj["spec"].get("nodeName"):
            raise conflict(
                "pods/binding", "", name, f'pod {name} is already assigned to node "{old.obj["spec"]["nodeName"]}"'
            )
        if options.dry_run:
            return
        new: Object = clone(old.obj)
        new["spec"]["nodeName"] = node
        condition = {
            "type": "PodScheduled",
            "status": "True",
            "lastTransitionTime": self._stamp(),
            "lastProbeTime": None,
        }
        others = [each for each in items(new["status"], "conditions") if each["type"] != "PodScheduled"]
        new["status"]["conditions"] = [*others, condition]
        self.commit(kind, new, old)

    # ---- the steps of a write ----------------------------------------------------

    def _change(
        self,
        kind: Kind,
        old: Stored,
        obj: Object,
        options: WriteOptions,
        warnings: list[str],
        findings: Findings,
        *,
        applied: bool = False,
    ) -> Written:
        before = old.obj
        self._refuse_stale(kind, before, obj)
        obj = writes.with_kept_parts(kind, before, obj, options.subresource)
        if options.subresource != "status":
            self._complete(kind, obj, before, findings)
        elif kind.custom:
            self._validate_custom(kind, obj)
        if writes.has_generation(kind) and writes.meaning(kind, obj) != writes.meaning(kind, before):
            obj["metadata"]["generation"] = before["metadata"].get("generation", 0) + 1
        options.admit(kind, before, obj)
        entries = managers.entries_of(obj)
        if not applied:
            entries = managers.after_update(
                before, obj, kind.shape, manager=options.manager, subresource=options.subresource, now=self._stamp()
            )
        same = managers.same_but_for_time(entries, managers.entries_of(before)) if applied else True
        if same and writes.without_book_keeping(obj) == writes.without_book_keeping(before):
            return Written(stored=self.view(kind, old), warnings=warnings)
        if entries:
            obj["metadata"]["managedFields"] = entries
        else:
            obj["metadata"].pop("managedFields", None)
        if options.dry_run:
            return Written(stored=self.view(kind, Stored(obj)), warnings=warnings)
        if obj["metadata"].get("deletionTimestamp") and writes.may_go(kind, obj):
            return Written(stored=self.drop(kind, obj), warnings=warnings)
        return Written(stored=self.view(kind, self.commit(kind, obj, old)), warnings=warnings)

    def _read(self, kind: Kind, body: Object, validation: str) -> tuple[Object, list[str], Findings]:
        """A clean copy of a body, or 400: not this kind, wrong types, unknown fields under Strict."""
        if body.get("kind", kind.kind) != kind.kind or body.get("apiVersion", kind.api_version) != kind.api_version:
            got = f"{body.get('apiVersion')}/{body.get('kind')}"
            raise bad_request(
                f"the object provided is unrecognized (must be of type {kind.kind} {kind.api_version}): {got}"
            )
        obj, findings = prune(body, kind.shape, custom=kind.custom)
        if findings.mistyped and not kind.custom:
            path, expected = findings.mistyped[0]
            text = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}'
            raise bad_request(
                f"{text}: json: cannot unmarshal into Go struct field {kind.kind}.{path} of type {expected}"
            )
        warnings: list[str] = []
        if findings.unknown and validation == "Strict":
            listed = ", ".join(f'unknown field "{path}"' for path in findings.unknown)
            raise bad_request(
                f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
                f"strict decoding error: {listed}"
            )
        if findings.unknown and validation == "Warn":
            warnings = [f'unknown field "{path}"' for path in findings.unknown]
        obj["apiVersion"], obj["kind"] = kind.api_version, kind.kind
        if not isinstance(obj.get("metadata"), dict):
            obj["metadata"] = {}
        return obj, warnings, findings

    def _refuse_untyped(self, kind: Kind, name: str, wanted: Object, findings: Findings) -> None:
        if wanted.get("kind") != kind.kind or wanted.get("apiVersion") != kind.api_version:
            raise bad_request(f"an apply needs apiVersion {kind.api_version} and kind {kind.kind}")
        problems = [f".{path}: field not declared in schema" for path in findings.unknown]
        problems += [f".{path}: expected {expected}" for path, expected in findings.mistyped]
        if problems:
            what = f"{name}; {kind.api_version}, Kind={kind.kind}"
            raise ApiError(500, "", f"failed to create typed patch object ({what}): {'; '.join(problems)}")

    def _name(self, kind: Kind, namespace: str, obj: Object) -> None:
        metadata: Object = obj["metadata"]
        if not metadata.get("name"):
            if not metadata.get("generateName"):
                cause = ("metadata.name", rules.REQUIRED, "Required value: name or generateName is required")
                raise invalid(kind.kind, kind.group, "", [cause])
            metadata["name"] = metadata["generateName"][:58] + "".join(secrets.choice(SUFFIX) for _ in range(5))
        if not kind.namespaced:
            metadata.pop("namespace", None)
            return
        if metadata.setdefault("namespace", namespace) != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")

    def _refuse_namespace(self, kind: Kind, namespace: str, name: str) -> None:
        if not kind.namespaced:
            return
        found = self.store.get(("", "namespaces"), ("", namespace))
        if found is None:
            raise not_found("namespaces", "", namespace)
        if found.obj["metadata"].get("deletionTimestamp"):
            resource = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            text = f'{resource} "{name}" is forbidden: {why}'
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
            raise forbidden(text, name=name, kind=kind.plural, causes=[cause])

    def _fresh(self, kind: Kind, obj: Object) -> None:
        """What the server alone says about a new object."""
        metadata: Object = obj["metadata"]
        for key in ("uid", "resourceVersion", "creationTimestamp", "selfLink", "generation", "deletionTimestamp"):
            metadata.pop(key, None)
        metadata.pop("deletionGracePeriodSeconds", None)
        metadata["uid"] = str(uuid.uuid4())
        metadata["creationTimestamp"] = self._stamp()
        if writes.has_generation(kind):
            metadata["generation"] = 1
        if "status" in kind.subresources and kind.plural != "nodes":
            obj.pop("status", None)
            if not kind.custom:
                obj["status"] = writes.first_status(kind, obj, self._stamp())
        if kind.stored == ("", "pods"):
            obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj)}

    def _complete(self, kind: Kind, obj: Object, before: Object | None, findings: Findings) -> None:
        """Default, admit, validate. ApiError 422 with every cause."""
        if kind.custom:
            structural.fill_defaults(obj, kind.shape)
            causes = list(rules.broken_metadata(kind.kind, obj["metadata"]))
            causes += structural.broken_schema(obj, kind.shape)
        else:
            causes = rules.missing_fields(findings)
            if not causes:
                causes = self._complete_builtin(kind, obj, before)
        if causes:
            raise invalid(kind.kind, kind.group, obj["metadata"]["name"], causes)

    def _complete_builtin(self, kind: Kind, obj: Object, before: Object | None) -> list[rules.Cause]:
        if kind.stored == ("", "secrets"):
            fold_string_data(obj)
        defaults.apply_defaults(kind.group, kind.kind, obj)
        if before is None:
            self._admission.on_create(kind, obj)
        else:
            self._admission.on_update(kind, before, obj)
        causes = list(rules.broken_metadata(kind.kind, obj["metadata"]))
        causes += rules.broken_rules(kind.kind, obj)
        if kind.kind == "CustomResourceDefinition":
            causes += crds.broken_definition(obj)
            if before is not None:
                causes += crds.broken_definition_change(before, obj)
        elif before is not None:
            causes += immutability.broken_changes(kind.kind, before, obj)
        return causes

    def _validate_custom(self, kind: Kind, obj: Object) -> None:
        causes = list(structural.broken_schema(obj, kind.shape))
        if causes:
            raise invalid(kind.kind, kind.group, obj["metadata"]["name"], causes)

    def _refuse_stale(self, kind: Kind, before: Object, obj: Object) -> None:
        metadata, live = obj["metadata"], before["metadata"]
        if metadata.get("uid", live["uid"]) != live["uid"]:
            text = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {live['uid']}"
            raise conflict(kind.plural, kind.group, live["name"], text)
        if metadata.get("resourceVersion", "") not in ("", live["resourceVersion"]):
            text = "the object has been modified; please apply your changes to the latest version and try again"
            raise conflict(kind.plural, kind.group, live["name"], text)

    def _insert(self, kind: Kind, obj: Object, options: WriteOptions) -> Stored:
        if kind.custom:
            obj["apiVersion"] = kind.storage_api_version
        options.admit(kind, None, obj)
        if options.dry_run:
            return self.view(kind, Stored(obj))
        return self.view(kind, self.commit(kind, obj, None))

    # ---- what every change ends in -----------------------------------------------

    def commit(self, kind: Kind, obj: Object, old: Stored | None) -> Stored:
        """Store `obj` (which is given away) and note the effect."""
        if kind.custom and obj["apiVersion"] != kind.storage_api_version:
            obj["apiVersion"] = kind.storage_api_version
        stored = self.store.put(kind.stored, obj)
        self._note(CREATED if old is None else UPDATED, kind, obj)
        deletion.after_commit(self, kind, obj)
        if kind.plural == "customresourcedefinitions":
            self._serve(obj)
        return stored

    def drop(self, kind: Kind, obj: Object) -> Stored:
        """Remove the object for good; its dependants and its namespace are looked at later."""
        stored = self.store.remove(kind.stored, obj)
        self._note(DELETED, kind, obj)
        deletion.after_drop(self, kind, obj)
        if kind.plural == "customresourcedefinitions":
            spec: Object = obj["spec"]
            self.kinds.replace_custom(spec["group"], spec["names"]["plural"], ())
            self.store.forget((spec["group"], spec["names"]["plural"]))
        if kind.stored == ("", "pods"):
            self.logs.forget(obj["metadata"]["namespace"], obj["metadata"]["name"])
        return stored

    def settle(self, limit: int = 100_000) -> None:
        """Do what the cluster does after a reply, until nothing is left to do."""
        for _ in range(limit):
            if not self.deferred:
                return
            self.deferred.popleft()()
        raise RuntimeError("the cluster does not settle")

    def kind(self, group: str, plural: str) -> Kind:
        """A kind that is known to be served."""
        kind = self.kinds.stored(group, plural)
        if kind is None:
            raise not_found(plural, group, "")
        return kind

    def take_effects(self) -> list[Effect]:
        taken, self.effects = self.effects, []
        return taken

    def _note(self, change: str, kind: Kind, obj: Object) -> None:
        metadata: Object = obj["metadata"]
        self.effects.append(
            Effect(
                change=change,
                group=kind.group,
                resource=kind.plural,
                namespace=metadata.get("namespace", ""),
                name=metadata["name"],
                uid=metadata["uid"],
                resource_version=metadata["resourceVersion"],
            )
        )

    def _serve(self, crd: Object) -> None:
        spec: Object = crd["spec"]
        self.kinds.replace_custom(spec["group"], spec["names"]["plural"], crds.served_kinds(crd))
        wanted = crds.established(crd, self._stamp())
        if crd.get("status") != wanted:
            self.deferred.append(lambda: self._establish(crd["metadata"]["name"]))

    def _establish(self, name: str) -> None:
        kind = self.kind("apiextensions.k8s.io", "customresourcedefinitions")
        old = self.store.get(kind.stored, ("", name))
        if old is None or old.obj["metadata"].get("deletionTimestamp"):
            return
        status = crds.established(old.obj, self._stamp())
        if old.obj.get("status") != status:
            self.commit(kind, {**old.obj, "metadata": dict(old.obj["metadata"]), "status": status}, old)

    def _seed(self, kind: Kind, body: Object) -> None:
        self.create(kind, "", body, WriteOptions(manager="kube-apiserver"))

    def _stamp(self) -> str:
        return rfc3339(self.now())
