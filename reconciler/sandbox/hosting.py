"""Where the two halves of the sandbox meet: a Kubernetes API of our own behind each EKS cluster, one log for both."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reconciler.sandbox.aws.calls import Effect, Json
from reconciler.sandbox.aws.cloud import Cloud
from reconciler.sandbox.aws.fault_answers import SKEW
from reconciler.sandbox.aws.faults import Faults
from reconciler.sandbox.aws.kubernetes_seam import Authenticate as AwsAuthenticate
from reconciler.sandbox.aws.kubernetes_seam import KubernetesCluster, KubernetesHost
from reconciler.sandbox.aws.pace import Pace
from reconciler.sandbox.aws.request_log import RequestLog
from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes import deletion
from reconciler.sandbox.kubernetes.access import MASTERS, Attributes, Authenticate, UserInfo, rbac_allows
from reconciler.sandbox.kubernetes.admission import NOT_READY
from reconciler.sandbox.kubernetes.apiserver import ApiServer, WriteOptions
from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.objects import clone, items
from reconciler.sandbox.kubernetes.records import AFTER, BEFORE, MIDDLE, Fault, RequestRecord
from reconciler.sandbox.kubernetes.server import ApiServers, Endpoint
from reconciler.sandbox.kubernetes.simulators.cluster import Simulators
from reconciler.sandbox.kubernetes.store import Store
from reconciler.sandbox.real.hosting import RealHost
from reconciler.sandbox.real.programs import Programs

_OWN = UserInfo(name="system:sandbox", groups=(MASTERS,))
_OPTIONS = WriteOptions(manager="eks")
_STOP_SECONDS = 10.0
_READS = ("get", "list", "watch")
_ANSWERS = {
    "throttle": (429, "TooManyRequests", "Too many requests, please try again later."),
    "error500": (500, "InternalError", "Internal error occurred: an injected failure"),
    "access_denied": (403, "Forbidden", "this is forbidden: the user is not allowed to do it"),
    "expired_token": (401, "Unauthorized", "Unauthorized"),
    "skewed": (401, "Unauthorized", "Unauthorized"),
    "conflict": (409, "Conflict", "the object has been modified; please apply your changes to the latest version"),
    "quota": (403, "Forbidden", "exceeded quota: objects, requested: count=1, used: count=9, limited: count=9"),
    "invalid": (422, "Invalid", "a value is not valid"),
}


def compose(
    clock: Clock, *, pace: Pace | None = None, simulators: bool = False, programs: Programs | None = None
) -> Cloud:
    """A cloud whose EKS clusters are served; with `simulators` each has a scheduler, kubelets and controllers. With
    `programs` a real API server stands behind each."""
    log, faults = RequestLog(), Faults()
    host: KubernetesHost = (
        RealHost(programs, clock, lambda done: log_request(log, clock, done), simulators=simulators)
        if programs
        else Host(clock, log, faults, simulators)
    )
    return Cloud(clock, host, pace=pace, log=log, faults=faults)


def log_request(log: RequestLog, clock: Clock, done: RequestRecord) -> None:
    """Into the one log of both halves."""
    effects = [
        Effect(
            verb=one.change,
            kind=f"kubernetes.{one.resource}",
            identity="/".join(part for part in (done.cluster, one.namespace, one.name) if part),
        )
        for one in done.effects
    ]
    log.kubernetes(
        at=clock.now(),
        cluster=done.cluster,
        operation=_operation(done),
        path=done.path,
        user_agent=done.user_agent,
        status=done.status,
        fault=done.fault or None,
        effects=effects,
    )


class Host:
    def __init__(self, clock: Clock, log: RequestLog, faults: Faults, simulators: bool) -> None:
        self._clock, self._log, self._faults, self._simulators = clock, log, faults, simulators
        self._own_token = secrets.token_urlsafe(24)
        self._callers: dict[str, AwsAuthenticate] = {}
        self._servers = ApiServers(
            authenticate=self._authenticate,
            authorize=authorize,
            on_request=self._record,
            before_request=self._fault,
            page=faults.limited,
            clock=clock,
        )

    def open(self, name: str, version: str, authenticate: AwsAuthenticate) -> KubernetesCluster:
        self._callers[name] = authenticate
        endpoint = self._servers.start(name)
        return Hosted(self._servers, endpoint, self._simulated(endpoint) if self._simulators else None)

    def close(self) -> None:
        self._servers.close()

    def _simulated(self, endpoint: Endpoint) -> Callable[[], None]:
        """Start what lives in the cluster, beside: it lists everything first, and the cloud waits for nobody."""
        simulators = Simulators(endpoint.url, endpoint.ca_pem, lambda: self._own_token, clock=self._clock)
        starting = threading.Thread(target=simulators.start, name=f"simulators {endpoint.cluster}", daemon=True)
        starting.start()

        def stop() -> None:
            starting.join(_STOP_SECONDS)
            simulators.stop()

        return stop

    def _authenticate(self, cluster: str) -> Authenticate:
        def user(token: str) -> UserInfo | None:
            if secrets.compare_digest(token.encode(), self._own_token.encode()):
                return _OWN
            found = self._callers[cluster](token)
            return UserInfo(name=found.name, groups=found.groups) if found else None

        return user

    def _record(self, done: RequestRecord) -> None:
        if done.user == _OWN.name:
            return  # the cluster's own controllers: no call of a client
        log_request(self._log, self._clock, done)

    def _fault(self, coming: RequestRecord) -> Fault | None:
        if coming.user == _OWN.name:
            return None
        told = self._faults.take("kubernetes", _operation(coming), coming.user_agent)
        if told is None:
            return None
        if told.kind in _ANSWERS:
            status, reason, said = _ANSWERS[told.kind]
            after = 1 if status == 429 else None
            date = datetime.now(UTC) + SKEW if told.kind == "skewed" else None
            return Fault(status=status, reason=reason, message=said, retry_after=after, date=date)
        if told.kind == "slow":
            return Fault(delay=told.seconds)
        if told.kind == "timeout":
            return Fault(delay=told.seconds, drop=BEFORE)
        if told.kind == "kill_before":
            return Fault(drop=BEFORE, then=told.kill)
        if told.kind == "cut":
            return Fault(drop=MIDDLE)
        return Fault(drop=AFTER, then=told.kill if told.kind == "kill_after" else None)


class Hosted:
    """One served cluster, as the AWS side uses it: through the API's own rules, but without HTTP."""

    def __init__(self, servers: ApiServers, endpoint: Endpoint, stop: Callable[[], None] | None) -> None:
        self._servers, self._name, self._stop = servers, endpoint.cluster, stop
        self.endpoint = endpoint.url
        self.ca = endpoint.ca_pem.encode()

    def read(self, api_version: str, kind: str, name: str, namespace: str = "") -> Json | None:
        def read(api: ApiServer) -> Json | None:
            stored = api.store.get(_kind(api, api_version, kind).stored, (namespace, name))
            return clone(stored.obj) if stored else None

        return self._servers.call(self._name, read)

    def listing(self, api_version: str, kind: str) -> list[Json]:
        def listing(api: ApiServer) -> list[Json]:
            # Stored objects are never changed in place, so they may leave the loop as they are.
            return [stored.obj for stored in api.store.all(_kind(api, api_version, kind).stored)]

        return self._servers.call(self._name, listing)

    def put(self, manifest: Json) -> None:
        def put(api: ApiServer) -> None:
            kind = _kind(api, manifest["apiVersion"], manifest["kind"])
            namespace = str(manifest["metadata"].get("namespace", "")) if kind.namespaced else ""
            if namespace and api.store.get(("", "namespaces"), ("", namespace)) is None:
                api.create(_kind(api, "v1", "Namespace"), "", {**_NAMESPACE, "metadata": {"name": namespace}}, _OPTIONS)
            _write(api, kind, namespace, clone(manifest))
            api.take_effects()  # no client's doing

        self._servers.call(self._name, put)

    def remove(self, api_version: str, kind: str, name: str, namespace: str = "") -> None:
        def remove(api: ApiServer) -> None:
            found = _kind(api, api_version, kind)
            if api.store.get(found.stored, (namespace, name)) is not None:
                deletion.delete(api, found, namespace, name, deletion.DeleteOptions.read({}, {}))
            api.take_effects()

        self._servers.call(self._name, remove)

    def write_log(self, namespace: str, pod: str, container: str, line: str) -> None:
        self._servers.api(self._name).logs.append(namespace, pod, container, line)

    def read_log(self, namespace: str, pod: str, container: str) -> list[str]:
        return [line.text for line in self._servers.api(self._name).logs.after((namespace, pod, container), 0)]

    def close(self) -> None:
        if self._stop:
            self._stop()
        self._servers.stop(self._name)


_NAMESPACE: Json = {"apiVersion": "v1", "kind": "Namespace"}


def authorize(user: UserInfo, wanted: Attributes, store: Store) -> bool:
    """RBAC, and before it what access policies give: group `eks:<policy>` everywhere, `eks:<policy>:<ns>` there."""
    for group in user.groups:
        what, _, rest = group.partition(":")
        policy, _, namespace = rest.partition(":")
        if what == "eks" and namespace in ("", wanted.namespace) and _policy_allows(policy, bool(namespace), wanted):
            return True
    return rbac_allows(user, wanted, store)


def _policy_allows(policy: str, scoped: bool, wanted: Attributes) -> bool:
    if wanted.path or (scoped and not wanted.namespace):
        return False
    if policy == "cluster-admin":
        return True
    if wanted.verb in _READS:
        return policy in ("admin", "edit") or wanted.resource != "secrets"
    rights = wanted.group == "rbac.authorization.k8s.io"
    return bool(wanted.namespace) and (policy == "admin" or (policy == "edit" and not rights))


def _write(api: ApiServer, kind: Kind, namespace: str, manifest: Json) -> None:
    name = str(manifest["metadata"]["name"])
    status: Any = manifest.pop("status", None)
    old = api.store.get(kind.stored, (namespace, name))
    if old is None:
        api.create(kind, namespace, manifest, _OPTIONS)
    else:
        api.patch(kind, namespace, name, lambda live: _merged(live, manifest), _OPTIONS)
    if kind.stored == ("", "nodes"):
        _settle_readiness(api, kind, name, status)
    if status is not None:
        options = WriteOptions(manager="kubelet", subresource="status")
        api.patch(kind, namespace, name, lambda live: {**live, "status": status}, options)


def _settle_readiness(api: ApiServer, kind: Kind, name: str, status: Any) -> None:
    """The node controller's part: the taint that the server gives a new node goes when the node is ready."""
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in items(status, "conditions"))
    spec: Json = api.get(kind, "", name).obj["spec"]
    left = [taint for taint in items(spec, "taints") if taint["key"] != NOT_READY]
    if ready and len(left) < len(items(spec, "taints")):
        api.patch(kind, "", name, lambda live: {**live, "spec": {**spec, "taints": left}}, _OPTIONS)


def _merged(live: Json, wanted: Json) -> Json:
    metadata = {**live["metadata"], "labels": dict(wanted["metadata"].get("labels") or {})}
    return {**live, **wanted, "metadata": metadata}


def _kind(api: ApiServer, api_version: str, kind: str) -> Kind:
    found = api.kinds.of(api_version, kind)
    if found is None:
        raise ApiError(404, "NotFound", f"no kind {api_version} {kind}")
    return found


def _operation(record: RequestRecord) -> str:
    resource = f"{record.resource}/{record.subresource}" if record.subresource else record.resource
    return f"{record.verb} {resource or record.path}"
