"""Add-ons: installed in a minute, healthy only when their pods have a node."""

from __future__ import annotations

import json
import uuid
from typing import Any

import yaml

from reconciler.sandbox.aws.calls import Call, Handler, Json, each, part
from reconciler.sandbox.aws.eks import addon_catalog, pod_identity
from reconciler.sandbox.aws.eks.addon_catalog import CATALOG
from reconciler.sandbox.aws.eks.clusters import VERSIONS, paged, shown_update
from reconciler.sandbox.aws.eks.records import (
    Addon,
    EksCluster,
    Update,
    active,
    cluster_of,
    has_nodes,
    in_use,
    invalid,
    missing,
    repeated,
    token_of,
)
from reconciler.sandbox.aws.world import World

_CONFLICTS = "Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. ConfigMap coredns"


class Addons:
    def __init__(self, world: World) -> None:
        self._world = world

    def handlers(self) -> dict[str, Handler]:
        return {
            "CreateAddon": self.create,
            "DescribeAddon": self.describe,
            "UpdateAddon": self.update,
            "DeleteAddon": self.delete,
            "ListAddons": self.list,
            "DescribeAddonVersions": self.versions,
            "DescribeAddonConfiguration": self.configuration,
        }

    def create(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["clusterName"]))
        name = str(params["addonName"])
        known = cluster.addons.get(name)
        if known is not None:
            if repeated(known.token, params):
                return {"addon": self._shown(cluster, known)}
            raise in_use(f"Addon already exists: {name}")
        kind = CATALOG.get(name)
        if kind is None:
            raise invalid(f"Addon {name} is not supported")
        if params.get("resolveConflicts") == "PRESERVE":
            raise invalid("The PRESERVE value for resolveConflicts is only supported for updates")
        version = _version(name, params.get("addonVersion"))
        configuration = _configuration(params.get("configurationValues"))
        wanted: list[Json] = each(params, "podIdentityAssociations")
        if wanted and not kind.needs_permissions:
            raise invalid(f"Addon {name} does not support pod identity associations: it requires no IAM permissions")
        now = self._world.now()
        addon = Addon(
            name=name,
            arn=call.arn("eks", f"addon/{cluster.name}/{name}/{uuid.uuid4()}"),
            version=version,
            configuration=configuration,
            role=params.get("serviceAccountRoleArn"),
            namespace=part(params, "namespaceConfig").get("namespace", kind.namespace),
            created=now,
            modified=now,
            status="CREATING",
            tags=dict(part(params, "tags")),
            token=token_of(params),
            needs_nodes=kind.needs_nodes,
            ready_at=now + self._world.pace.addon_create,
            fails=call.fails,
        )
        addon.associations = [pod_identity.owned(self._world, cluster, addon, one).id for one in wanted]
        cluster.addons[name] = addon
        self._install(cluster, addon)
        call.changed("created", "eks.addon", f"{cluster.name}/{name}", version)
        return {"addon": self._shown(cluster, addon)}

    def describe(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        return {"addon": self._shown(cluster, _addon(cluster, params))}

    def list(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        return paged(sorted(cluster.addons), "addons", params)

    def update(self, call: Call, params: Json) -> Json:
        cluster = active(cluster_of(self._world, call.account, call.region, params["clusterName"]))
        addon = _addon(cluster, params)
        if self.status(cluster, addon) in ("CREATING", "UPDATING", "DELETING"):
            raise in_use(f"Addon {addon.name} cannot be updated as it is currently in {addon.status} state")
        version = _version(addon.name, params.get("addonVersion") or addon.version)
        before = (addon.version, addon.configuration, addon.role)
        addon.version = version
        if "configurationValues" in params:
            addon.configuration = _configuration(params["configurationValues"])
        addon.role = params.get("serviceAccountRoleArn", addon.role)
        addon.modified, addon.fails = self._world.now(), call.fails
        addon.status, addon.ready_at = "UPDATING", self._world.now() + self._world.pace.addon_create
        if before != (addon.version, addon.configuration, addon.role):
            call.changed("updated", "eks.addon", f"{cluster.name}/{addon.name}", version)
        self._install(cluster, addon)
        update = Update(
            id=str(uuid.uuid4()),
            kind="AddonUpdate",
            status="InProgress",
            params=[{"type": "AddonVersion", "value": version}],
            created=self._world.now(),
            subject=addon.name,
        )
        cluster.updates[update.id] = update

        def done() -> None:
            update.status = "Failed" if addon.fails else "Successful"

        self._world.agenda.after(self._world.pace.addon_create, done)
        return {"update": shown_update(update)}

    def delete(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["clusterName"])
        addon = _addon(cluster, params)
        if addon.status == "DELETING":
            return {"addon": self._shown(cluster, addon)}
        addon.status = "DELETING"
        call.changed("deleted", "eks.addon", f"{cluster.name}/{addon.name}")

        def gone() -> None:
            cluster.addons.pop(addon.name, None)
            for association in addon.associations:
                cluster.associations.pop(association, None)
            if not params.get("preserve") and cluster.kubernetes is not None:
                for manifest in addon_catalog.manifests(addon.name, addon.version)[1:]:
                    meta: Json = manifest["metadata"]
                    cluster.kubernetes.remove("apps/v1", manifest["kind"], meta["name"], meta["namespace"])

        self._world.agenda.after(self._world.pace.addon_delete, gone)
        return {"addon": self._shown(cluster, addon)}

    def versions(self, _call: Call, params: Json) -> Json:
        wanted = params.get("kubernetesVersion")
        clusters: list[str] = [wanted] if wanted else list(VERSIONS)
        names = [params["addonName"]] if params.get("addonName") else sorted(CATALOG)
        return {"addons": [addon_catalog.described(name, clusters) for name in names if name in CATALOG]}

    def configuration(self, _call: Call, params: Json) -> Json:
        name = str(params["addonName"])
        if name not in CATALOG:
            raise missing(f"Addon {name} not found")
        return {
            "addonName": name,
            "addonVersion": _version(name, params["addonVersion"]),
            "configurationSchema": json.dumps(CATALOG[name].schema),
            "podIdentityConfiguration": [],
        }

    def status(self, cluster: EksCluster, addon: Addon) -> str:
        """The status as of now; it depends on nodes, so it is worked out when somebody looks."""
        now, pace = self._world.now(), self._world.pace
        if addon.status in ("DELETING", "CREATE_FAILED"):
            return addon.status
        if now < addon.ready_at:
            return addon.status
        if addon.fails:
            addon.status = "CREATE_FAILED" if addon.status == "CREATING" else "UPDATE_FAILED"
            return addon.status
        if addon.needs_nodes and not has_nodes(cluster):
            addon.nodes_seen_at = None
            addon.status = "DEGRADED" if now > addon.ready_at + pace.addon_patience else addon.status
            return "CREATING" if addon.status == "ACTIVE" else addon.status
        if addon.needs_nodes and addon.nodes_seen_at is None:
            addon.nodes_seen_at = now
        if addon.needs_nodes and now < (addon.nodes_seen_at or 0) + pace.addon_settle:
            return addon.status
        addon.status = "ACTIVE"
        return addon.status

    def _shown(self, cluster: EksCluster, addon: Addon) -> Json:
        status = self.status(cluster, addon)
        issues: list[Json] = []
        if addon.needs_nodes and status in ("CREATING", "UPDATING", "DEGRADED") and not has_nodes(cluster):
            text = "The add-on is unhealthy because it doesn't have the desired number of replicas."
            issues = [{"code": "InsufficientNumberOfReplicas", "message": text, "resourceIds": []}]
        if status in ("CREATE_FAILED", "UPDATE_FAILED"):
            issues = [{"code": "ConfigurationConflict", "message": _CONFLICTS, "resourceIds": []}]
        answer: Json = {
            "addonName": addon.name,
            "clusterName": cluster.name,
            "status": status,
            "addonVersion": addon.version,
            "health": {"issues": issues},
            "addonArn": addon.arn,
            "createdAt": addon.created,
            "modifiedAt": addon.modified,
            "tags": addon.tags,
            "owner": "aws",
            "publisher": "eks",
            "podIdentityAssociations": [
                cluster.associations[one].arn for one in addon.associations if one in cluster.associations
            ],
            "namespaceConfig": {"namespace": addon.namespace},
        }
        if addon.configuration is not None:
            answer["configurationValues"] = addon.configuration
        if addon.role:
            answer["serviceAccountRoleArn"] = addon.role
        return answer

    def _install(self, cluster: EksCluster, addon: Addon) -> None:
        if cluster.kubernetes is None:
            return
        for manifest in addon_catalog.manifests(addon.name, addon.version):
            meta: Json = manifest["metadata"]
            there = cluster.kubernetes.read(
                manifest["apiVersion"], manifest["kind"], meta["name"], meta.get("namespace", "")
            )
            if manifest["kind"] != "Namespace" or there is None:
                cluster.kubernetes.put(manifest)


def _addon(cluster: EksCluster, params: Json) -> Addon:
    addon = cluster.addons.get(params["addonName"])
    if addon is None:
        raise missing(f"No addon: {params['addonName']} found in cluster: {cluster.name}")
    return addon


def _version(name: str, wanted: str | None) -> str:
    kind = CATALOG[name]
    if wanted is None:
        return kind.default
    if wanted not in kind.versions:
        raise invalid(f"Addon version specified is not supported: {name} {wanted}")
    return wanted


def _configuration(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        parsed: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise invalid("ConfigurationValue is not in valid JSON or YAML format.") from error
    if parsed is not None and not isinstance(parsed, dict):
        raise invalid("ConfigurationValue is not in valid JSON or YAML format.")
    return text
