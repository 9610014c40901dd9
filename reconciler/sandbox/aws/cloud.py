"""The whole simulated AWS behind one function: a request in, a reply out, or a dropped connection.

On its way a request is identified, logged, perhaps made to fail, its signature checked, then answered by our own
service or by moto. Everything is serialised by the agenda's lock: each call sees and leaves a consistent world.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from reconciler.sandbox.aws import errors, s3_operations, signatures
from reconciler.sandbox.aws.agenda import Agenda
from reconciler.sandbox.aws.calls import Call, Handler
from reconciler.sandbox.aws.capacity import Capacity
from reconciler.sandbox.aws.credentials import Credentials, Identity
from reconciler.sandbox.aws.eks.access import Access
from reconciler.sandbox.aws.eks.addons import Addons
from reconciler.sandbox.aws.eks.clusters import Clusters as EksClusters
from reconciler.sandbox.aws.eks.nodegroups import NodeGroups
from reconciler.sandbox.aws.eks.pod_identity import PodIdentity
from reconciler.sandbox.aws.eks.tags import Tags as EksTags
from reconciler.sandbox.aws.eks.tags import tagged
from reconciler.sandbox.aws.errors import AwsError, Reply, not_supported
from reconciler.sandbox.aws.fault_answers import error_of
from reconciler.sandbox.aws.faults import Fault, Faults
from reconciler.sandbox.aws.hyperpod.clusters import Clusters as HyperPodClusters
from reconciler.sandbox.aws.hyperpod.nodes import Nodes
from reconciler.sandbox.aws.hyperpod.provisioning import Provisioning
from reconciler.sandbox.aws.hyperpod.tags import Tags as HyperPodTags
from reconciler.sandbox.aws.hyperpod.updates import Updates
from reconciler.sandbox.aws.identity_rules import IdentityRules, Roles
from reconciler.sandbox.aws.kubernetes_seam import KubernetesHost
from reconciler.sandbox.aws.moto_bridge import SERVICES, Moto
from reconciler.sandbox.aws.moto_effects import MotoEffects
from reconciler.sandbox.aws.network_rules import NetworkRules
from reconciler.sandbox.aws.pace import Pace
from reconciler.sandbox.aws.quotas import Quotas
from reconciler.sandbox.aws.request_log import Marked, RequestLog
from reconciler.sandbox.aws.wire import Request, Wire
from reconciler.sandbox.aws.world import World
from reconciler.sandbox.clock import Clock

_OURS = ("sagemaker", "eks", "servicequotas")
_MODELS = {"servicequotas": "service-quotas"}


@dataclass(frozen=True)
class Dropped:
    """No reply: the connection is cut."""


@dataclass(frozen=True)
class Cut:
    """The connection is cut in the middle of this reply."""

    reply: Reply


class Cloud:
    def __init__(
        self,
        clock: Clock,
        kubernetes: KubernetesHost,
        *,
        pace: Pace | None = None,
        log: RequestLog | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.agenda = Agenda(clock)
        moto, chosen = Moto(), pace or Pace()
        credentials = Credentials(moto)
        self.world = World(
            agenda=self.agenda,
            pace=chosen,
            moto=moto,
            credentials=credentials,
            roles=Roles(moto, self.agenda, chosen),
            kubernetes=kubernetes,
            capacity=Capacity(),
            quotas=Quotas(),
        )
        self.log, self.faults = log or RequestLog(), faults or Faults()
        self.provisioning = Provisioning(self.world)
        self._network = NetworkRules(moto, self.agenda, chosen)
        self._identity = IdentityRules(moto, credentials, self.world.roles)
        self._effects = MotoEffects(moto)
        self._handlers = _handlers(self.world, self.provisioning)
        self._wires: dict[str, Wire] = {}

    def start(self) -> None:
        """Start time, and import the slow parts beside the first requests."""
        self.agenda.start()
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def stop(self) -> None:
        self.agenda.stop()
        self._close_kubernetes()
        self.world.kubernetes.close()

    def reset(self) -> None:
        """An empty cloud again; accounts and clock stay."""
        with self.agenda.lock:
            self.forget()
            self.world.moto.reset()

    def forget(self) -> None:
        """Drop what is ours, log and faults too; what moto holds (EC2, IAM, S3) stays."""
        with self.agenda.lock:
            self.agenda.clear()
            self._close_kubernetes()
            self._drop_interfaces()
            self.world.eks.clear()
            self.world.hyperpod.clear()
            for part in (
                self.world.capacity,
                self.world.quotas,
                self.world.roles,
                self._network,
                self.log,
                self.faults,
            ):
                part.clear()

    def answer(self, request: Request) -> Reply | Cut | Dropped:
        signed = signatures.read(request.query, request.headers)
        service = signed.service if signed else "sts" if "Action=" in request.query else "s3"
        call = Call(
            service=service,
            operation="?",
            account="",
            region=signed.region if signed else "us-east-1",
            principal="",
            user_agent=request.headers.get("user-agent", ""),
        )
        fault: Fault | None = None
        error: AwsError | None = None
        try:
            self._name(call, request)
            fault = self.faults.take(call.service, call.operation, call.user_agent)
            identity = self._caller(signed, request)
            call.account, call.principal = identity.account, identity.principal
            reply = self._with_fault(call, request, identity, fault)
        except AwsError as refused:
            error = refused
            reply = errors.as_reply(service, refused, call.request_id)
        status = reply.status if isinstance(reply, Reply) else 0
        code = error.code if error else None if 200 <= status < 400 or status == 0 else _code(reply)
        self.log.aws(call, at=self.world.now(), status=status, error=code, fault=fault.kind if fault else None)
        return reply

    def marked(self) -> Iterator[Marked]:
        """What is alive and carries our tags."""
        with self.agenda.lock:
            for kind, identity, tags in self._alive():
                if "instantstart:cluster" in tags and "instantstart:key" in tags:
                    yield Marked(
                        kind=kind, identity=identity, cluster=tags["instantstart:cluster"], key=tags["instantstart:key"]
                    )

    # ---- the way of a request

    def _name(self, call: Call, request: Request) -> None:
        """Find the operation's name; refuse services that are not simulated."""
        if call.service in _OURS:
            call.operation, _ = self._wire(call.service).operation(request)
        elif call.service not in SERVICES:
            raise not_supported(f"service {call.service}")
        elif call.service == "s3":
            call.operation = s3_operations.operation(request.method, request.path, request.query)
        else:
            target = request.headers.get("x-amz-target", "").rpartition(".")[2]
            call.operation = target or _form(request).get("Action", "?")

    def _caller(self, signed: signatures.Signed | None, request: Request) -> Identity:
        if signed is None:
            raise AwsError("MissingAuthenticationToken", "Request is missing Authentication Token", 403)
        identity = self.world.credentials.find(signed.access_key)
        if identity is None:
            code = "InvalidClientTokenId" if signed.service in ("iam", "sts") else "UnrecognizedClientException"
            code = {"ec2": "AuthFailure", "s3": "InvalidAccessKeyId"}.get(signed.service, code)
            raise AwsError(code, "The security token included in the request is invalid.", 403)
        wrong = signatures.problem(
            signed,
            identity.secret,
            method=request.method,
            path=request.path,
            query=request.query,
            headers=request.headers,
            body=request.body,
            now=datetime.now(UTC),
        )
        if wrong:
            raise AwsError("SignatureDoesNotMatch", wrong, 403)
        return identity

    def _with_fault(
        self, call: Call, request: Request, identity: Identity, fault: Fault | None
    ) -> Reply | Cut | Dropped:
        if fault is not None:
            call.partial, call.fails = fault.kind == "partial", fault.kind == "fails"
            told = error_of(fault.kind, call.service, call.operation)
            if told is not None:
                raise told
            if fault.kind in ("slow", "timeout"):
                time.sleep(fault.seconds)  # real time: it is the caller's patience that is tested
            if fault.kind == "kill_before":
                fault.kill()
            if fault.kind in ("timeout", "kill_before"):
                return Dropped()
        try:
            with self.agenda.lock:
                self.agenda.settle()
                reply = self._serve(call, request, identity)
        except AwsError:
            if fault is not None and fault.loses_reply():
                return Dropped()
            raise
        if fault is not None and fault.loses_reply():
            return Dropped()
        return Cut(reply) if fault is not None and fault.kind == "cut" else reply

    def _serve(self, call: Call, request: Request, identity: Identity) -> Reply:
        if call.service in _OURS:
            return self._ours(call, request)
        if call.service == "sts" and call.operation == "GetCallerIdentity":
            return self._identity.who_am_i(call, identity.access_key)
        params = _form(request)
        rules = self._network if call.service == "ec2" else self._identity
        early = rules.before(call, params)
        if early is not None:
            return early
        before = self._effects.fingerprint(call, params, request)
        try:
            reply = self.world.moto.answer(call.service, call.account, request)
        except NotImplementedError as unknown:
            raise not_supported(f"{call.service}:{call.operation}") from unknown
        reply = rules.after(call, params, reply)
        if call.operation == "CreateBucket" and reply.status < 300:
            bucket = request.path.strip("/")
            self.world.moto.tag_bucket(call.account, bucket, s3_operations.creation_tags(request.body))
        self._effects.note(call, params, reply, before, self._effects.fingerprint(call, params, request))
        return reply

    def _ours(self, call: Call, request: Request) -> Reply:
        wire = self._wire(call.service)
        handler = self._handlers[call.service].get(call.operation)
        if handler is None:
            raise not_supported(f"{call.service}:{call.operation}")
        _, labels = wire.operation(request)
        try:
            params = wire.parameters(call.operation, labels, request)
            for limit in wire.page_limits(call.operation):
                params[limit] = self.faults.limited(int(params.get(limit) or 100))
            return wire.reply(handler(call, params), call.request_id)
        except AwsError as error:
            error.status = wire.error_status(error.code, error.status)
            raise

    # ---- helpers

    def _wire(self, service: str) -> Wire:
        wire = self._wires.get(service)
        if wire is None:
            wire = self._wires[service] = Wire(_MODELS.get(service, service))
        return wire

    def _warm(self) -> None:
        for service in _OURS:
            self._wire(service)
        self.world.moto.warm()

    def _alive(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        for clusters in self.world.hyperpod.values():
            yield from (
                ("hyperpod.cluster", one.arn, one.tags) for one in clusters.values() if one.status != "Deleting"
            )
        for places in self.world.eks.values():
            for cluster in places.values():
                yield from tagged(cluster)
        yield from self.world.moto.tagged()

    def _drop_interfaces(self) -> None:
        for place, clusters in self.world.hyperpod.items():
            enis = self.world.moto.backend("ec2", *place).enis
            for cluster in clusters.values():
                for node in cluster.nodes.values():
                    enis.pop(node.interface, None)
        for place, found in self.world.eks.items():
            enis = self.world.moto.backend("ec2", *place).enis
            for eks in found.values():
                for interface in eks.interfaces:
                    enis.pop(interface, None)

    def _close_kubernetes(self) -> None:
        for clusters in self.world.eks.values():
            for cluster in clusters.values():
                if cluster.kubernetes is not None:
                    cluster.kubernetes.close()


def _handlers(world: World, provisioning: Provisioning) -> dict[str, dict[str, Handler]]:
    return {
        "sagemaker": {
            **HyperPodClusters(world, provisioning).handlers(),
            **Updates(world, provisioning).handlers(),
            **Nodes(world, provisioning).handlers(),
            **HyperPodTags(world).handlers(),
        },
        "eks": {
            **EksClusters(world).handlers(),
            **Addons(world).handlers(),
            **Access(world).handlers(),
            **NodeGroups(world).handlers(),
            **PodIdentity(world).handlers(),
            **EksTags(world).handlers(),
        },
        "servicequotas": world.quotas.handlers(),
    }


def _form(request: Request) -> dict[str, str]:
    pairs = parse_qsl(request.query, keep_blank_values=True)
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        pairs += parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True)
    return dict(pairs)


def _code(reply: Reply | Cut | Dropped) -> str | None:
    if not isinstance(reply, Reply):
        return None
    _, _, rest = reply.body.decode(errors="replace").partition("<Code>")
    return rest.partition("</Code>")[0] or str(reply.status)
