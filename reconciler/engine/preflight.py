"""Step 4c: what can be known before anything is sent. Defaults are resolved, and the world is asked whether what the
plan wants can be had.

Resolved values stand in the plan and are what is sent. What cannot be resolved is refused with the name that was
tried, and nothing is created for a cluster that is not there yet: better none than half of one. Everything else is a
finding. Facts are asked for only when a plan needs them, and kept for some minutes; a fact that cannot be read claims
nothing.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar, cast

from reconciler.engine.scope import Scope
from reconciler.live.aws.sessions import AwsSession
from reconciler.live.clock import real_monotonic
from reconciler.plan import preflight
from reconciler.plan.preflight import Facts
from reconciler.resources.handler import World
from reconciler.resources.helm import charts
from reconciler.resources.storage import scripts
from schemas.errors import InstantStartError, Refused, RetryLater
from schemas.plan import Action, Finding, Plan, Refusal, Severity, Verb
from schemas.resource import Presence
from schemas.values import JsonObject

KEPT = 600.0  # real seconds
KEPT_FAILURE = 300.0
MOST_KEPT = 1000

T = TypeVar("T")


class Preflight:
    """Remembers what it asked. Safe to share between the threads of a tick."""

    def __init__(self, monotonic: Callable[[], float] = real_monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: dict[Any, tuple[float, Any]] = {}

    def see(self, scope: Scope) -> None:
        """Complete the plan of this tick."""
        if scope.plan is None or scope.world is None or scope.desired is None:
            return
        world, desired = scope.world, scope.desired.resources
        blind: list[InstantStartError] = []
        actions: list[Action] = []
        refusals: list[Refusal] = []
        for action in scope.plan.actions:
            try:
                found = self._resolved(world, action)
            except InstantStartError as error:
                blind.append(error)
                found = action
            (actions if isinstance(found, Action) else refusals).append(cast("Any", found))
        facts = self._facts(world, scope.plan, blind)
        findings = [
            *preflight.findings(scope.plan, desired, scope.observed, facts),
            *_scripts(world, scope.plan),
            *_blindness(blind),
        ]
        if refusals and _is_new(scope):
            actions = [action for action in actions if action.verb is not Verb.CREATE]
        scope.plan = dataclasses.replace(
            scope.plan,
            actions=tuple(actions),
            refusals=(*scope.plan.refusals, *refusals),
            findings=(*scope.plan.findings, *findings),
        )
        scope.memory.plan = scope.plan

    def _resolved(self, world: World, action: Action) -> Action | Refusal:
        """The action with its defaults written out. Raises what a question raises."""
        if action.type == "eks.Addon" and action.verb is Verb.ADOPT:
            return self._with_its_version(world, action)
        if action.verb not in (Verb.CREATE, Verb.UPDATE):
            return action
        if action.type == "eks.Addon" and (action.verb is Verb.CREATE or "version" in action.fields):
            return self._addon(world, action)
        if action.type == "helm.Release":
            return self._chart(world, action)
        return action

    def _addon(self, world: World, action: Action) -> Action | Refusal:
        cluster = world.desired.get(f"eks.Cluster/{world.cluster}")
        kubernetes = str(cluster.spec.get("version")) if cluster is not None else ""
        versions = self._ask(
            (world.account, world.region, "addon", action.name, kubernetes),
            lambda: _addon_versions(world.aws, action.name, kubernetes),
        )
        wanted = action.want.get("version")
        if wanted in versions:
            return action
        if wanted is not None:
            message = f"{action.name} {wanted} is no version for Kubernetes {kubernetes}"
            way_out = f"one of {', '.join([*versions][:5])}" if versions else "correct the name or kubernetesVersion"
            return _refused(action, "AddonVersionMissing", message, way_out)
        default = next((version for version, is_default in versions.items() if is_default), None)
        if default is None:
            message = f"EKS names no version of {action.name} for Kubernetes {kubernetes}"
            return _refused(action, "AddonVersionMissing", message, "correct the name or kubernetesVersion")
        said = f"version {default}: what EKS recommends for Kubernetes {kubernetes}"
        return dataclasses.replace(action, want={**action.want, "version": default}, notes=(*action.notes, said))

    def _with_its_version(self, world: World, action: Action) -> Action:
        """An add-on that is adopted keeps its version unless the document says one."""
        resource, live = world.desired.get(action.key), world.attr(action.key, "version")
        if resource is None or "version" in resource.spec:
            return action
        kubernetes = str(world.attr(f"eks.Cluster/{world.cluster}", "version"))
        versions = self._ask(
            (world.account, world.region, "addon", action.name, kubernetes),
            lambda: _addon_versions(world.aws, action.name, kubernetes),
        )
        default = next((version for version, is_default in versions.items() if is_default), live)
        if default == live:
            return action
        said = f"version {live} stays; EKS recommends {default} for Kubernetes {kubernetes}"
        return dataclasses.replace(action, notes=(*action.notes, said))

    def _chart(self, world: World, action: Action) -> Action | Refusal:
        spec = cast("JsonObject", action.want.get("chart") or {})
        tried = f"{spec.get('repository')} {spec.get('path')} at {spec.get('commit')}"
        try:
            self._ask(
                ("chart", world.cache_dir, tried), lambda: charts.checked_out(charts.chart_of(spec), world.cache_dir)
            )
        except RetryLater:
            raise
        except InstantStartError as error:
            return _refused(action, error.reason, f"{tried}: {error.message}", "correct dependencies.chart")
        return action

    def _facts(self, world: World, plan: Plan, blind: list[InstantStartError]) -> Facts:
        machines = preflight.growing(plan, world.observed)
        if not machines:
            return Facts()
        place = (world.account, world.region)
        zones: dict[str, frozenset[str]] = {}
        quotas: dict[str, int] = {}
        try:
            for kind in sorted({str(action.want.get("instanceType")) for action in machines}):
                zones[kind] = self._ask((*place, "zones", kind), partial(_zones, world.aws, kind))
        except InstantStartError as error:
            blind.append(error)
        try:
            quotas = self._ask((*place, "quotas"), lambda: _quotas(world.aws))
        except InstantStartError as error:
            blind.append(error)
        return Facts(zones=zones, quotas=quotas)

    def _ask(self, key: Any, question: Callable[[], T]) -> T:
        """The answer, or the error, kept for a while."""
        with self._lock:
            until, kept = self._kept.get(key, (0.0, None))
        if self._monotonic() >= until:
            try:
                kept, lasts = question(), KEPT
            except InstantStartError as error:
                kept, lasts = error, KEPT_FAILURE
            except OSError as error:  # the cache of charts cannot be written, say
                kept, lasts = Refused(str(error), reason="NotAsked"), KEPT_FAILURE
            with self._lock:
                if len(self._kept) >= MOST_KEPT:
                    self._kept.clear()
                self._kept[key] = (self._monotonic() + lasts, kept)
        if isinstance(kept, InstantStartError):
            raise kept
        return cast("T", kept)


# Questions -----------------------------------------------------------------------------------------------------------


def _addon_versions(aws: AwsSession, name: str, kubernetes: str) -> dict[str, bool]:
    """Versions for this Kubernetes, newest first, and whether EKS recommends them."""
    asked = {"addonName": name, "kubernetesVersion": kubernetes}
    found: dict[str, bool] = {}
    for addon in aws.pages("eks", "DescribeAddonVersions", "addons", **asked):
        for version in addon.get("addonVersions") or ():
            fits = version.get("compatibilities") or ()
            default = any(c.get("defaultVersion") and c.get("clusterVersion") == kubernetes for c in fits)
            found[str(version["addonVersion"])] = default
    return found


def _zones(aws: AwsSession, kind: str) -> frozenset[str]:
    """Zone ids that offer a type."""
    offers = aws.pages(
        "ec2",
        "DescribeInstanceTypeOfferings",
        "InstanceTypeOfferings",
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [kind.removeprefix("ml.")]}],
    )
    return frozenset(str(offer["Location"]) for offer in offers)


def _quotas(aws: AwsSession) -> dict[str, int]:
    """SageMaker's quotas of clusters, by name: their codes differ by type and are published nowhere."""
    listed = aws.pages("service-quotas", "ListServiceQuotas", "Quotas", ServiceCode="sagemaker")
    return {
        str(quota["QuotaName"]): int(quota["Value"])
        for quota in listed
        if "cluster" in str(quota.get("QuotaName", "")).lower() and "Value" in quota
    }


# Findings ------------------------------------------------------------------------------------------------------------


def _scripts(world: World, plan: Plan) -> Iterator[Finding]:
    """Scripts that are about to be uploaded: what a node could not run, and what they call and miss."""
    for action in plan.actions:
        resource = world.desired.get(action.key)
        if action.type != "s3.Objects" or action.verb not in (Verb.CREATE, Verb.UPDATE) or resource is None:
            continue
        files: dict[str, bytes] = {}
        try:
            for name, path in cast("dict[str, str]", resource.initial.get("files") or {}).items():
                files[name] = scripts.content(path, world.file)
        except InstantStartError:
            continue  # the upload says what is wrong with the file
        for name, text in files.items():
            for fault in scripts.faults(name, text):
                yield _script(action, Severity.ERROR, "ScriptUnsound", fault)
        for warning in scripts.warnings(files):
            yield _script(action, Severity.WARNING, "ScriptDoubtful", warning)
        if action.verb is Verb.UPDATE:
            yield _script(action, Severity.INFO, "NewNodesOnly", "changed lifecycle scripts reach new nodes only")


def _script(action: Action, severity: Severity, reason: str, message: str) -> Finding:
    return Finding(severity=severity, reason=reason, message=message, source=action.source, key=action.key)


def _blindness(errors: Iterable[InstantStartError]) -> list[Finding]:
    texts = dict.fromkeys(f"not checked beforehand: {error.message}" for error in errors)
    return [Finding(severity=Severity.INFO, reason="PreflightBlind", message=text) for text in texts]


def _refused(action: Action, reason: str, message: str, way_out: str) -> Refusal:
    return Refusal(
        key=action.key, stage=action.stage, source=action.source, reason=reason, message=message, way_out=way_out
    )


def _is_new(scope: Scope) -> bool:
    seen = scope.observed.get(f"eks.Cluster/{scope.cluster}")
    return seen is not None and seen.presence is Presence.ABSENT
