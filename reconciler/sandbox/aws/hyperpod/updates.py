"""UpdateCluster: each listed group is written anew, the others stay as they are."""

from __future__ import annotations

import copy

from reconciler.sandbox.aws.calls import Call, Handler, Json, each, part
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.hyperpod import group_rules, kube_nodes, limits
from reconciler.sandbox.aws.hyperpod.clusters import enable_autoscaling, group_of
from reconciler.sandbox.aws.hyperpod.provisioning import Provisioning
from reconciler.sandbox.aws.hyperpod.records import Group, HyperPodCluster, cluster_of, conflict, invalid, not_found
from reconciler.sandbox.aws.world import World


class Updates:
    def __init__(self, world: World, provisioning: Provisioning) -> None:
        self._world, self._provisioning = world, provisioning

    def handlers(self) -> dict[str, Handler]:
        return {"UpdateCluster": self.update}

    def update(self, call: Call, params: Json) -> Json:
        cluster = cluster_of(self._world, call.account, call.region, params["ClusterName"])
        groups: list[Json] = each(params, "InstanceGroups")
        deleted: list[str] = each(params, "InstanceGroupsToDelete")
        self._check(call, cluster, params, groups, deleted)
        if not cluster.continuous and (groups or deleted):
            cluster.before = {
                group.name: {"count": group.target, "spec": copy.deepcopy(group.spec)}
                for group in cluster.groups.values()
            }
            cluster.status, cluster.message = "Updating", ""
        self._settings(call, cluster, params)
        for spec in groups:
            self._write(call, cluster, spec)
        for name in deleted:
            self._delete(call, cluster, cluster.groups[name])
        return {"ClusterArn": cluster.arn}

    def _check(
        self, call: Call, cluster: HyperPodCluster, params: Json, groups: list[Json], deleted: list[str]
    ) -> None:
        if params.get("RestrictedInstanceGroups") or params.get("RestrictedInstanceGroupsConfig"):
            raise AwsError("NotSupportedHere", "Restricted instance groups are not supported here")
        if cluster.status != "InService":
            raise conflict(f"Cluster {cluster.name} is {cluster.status}; it must be InService to be updated")
        if any(node.status == "DeepHealthCheckInProgress" for node in cluster.nodes.values()):
            raise conflict(f"Cluster {cluster.name} cannot be updated while deep health checks are in progress")
        if params.get("NodeProvisioningMode") and not cluster.continuous:
            raise invalid("NodeProvisioningMode cannot be changed after creation")
        names = {str(group["InstanceGroupName"]) for group in groups}
        both = names & set(deleted)
        if both:
            raise invalid(f"{', '.join(sorted(both))} must not be in both InstanceGroups and InstanceGroupsToDelete")
        for name in deleted:
            if name not in cluster.groups:
                raise not_found(f"Instance group {name} not found in cluster {cluster.name}")
        remaining = ({n for n, g in cluster.groups.items() if g.status != "Deleting"} | names) - set(deleted)
        if not remaining:
            raise invalid("The cluster must keep at least one instance group")
        group_rules.check_request(groups, continuous=cluster.continuous)
        for spec in groups:
            self._check_group(call, cluster, spec)
        limits.check(self._world, call, cluster, groups)
        self._check_settings(cluster, params)

    def _check_group(self, call: Call, cluster: HyperPodCluster, spec: Json) -> None:
        known = cluster.groups.get(spec["InstanceGroupName"])
        if known is None:
            group_rules.check_surroundings(self._world, call, spec)
            return
        if known.status == "Deleting":
            raise conflict(f"Instance group {known.name} is being deleted")
        group_rules.check_change(known, spec, {node.type for node in cluster.of_group(known.name)})

    def _check_settings(self, cluster: HyperPodCluster, params: Json) -> None:
        scaling: Json = part(params, "AutoScaling")
        enabled = cluster.autoscaling is not None and cluster.autoscaling["Mode"] == "Enable"
        role = params.get("ClusterRole")
        if role and role != cluster.role:
            if enabled:
                raise invalid("ClusterRole cannot be updated while AutoScaling is enabled")
            group_rules.check_role(self._world, role, "hyperpod.sagemaker.amazonaws.com")
        if scaling.get("Mode") == "Enable" and not (cluster.continuous and (role or cluster.role)):
            raise invalid("AutoScaling needs NodeProvisioningMode Continuous and a ClusterRole")

    def _settings(self, call: Call, cluster: HyperPodCluster, params: Json) -> None:
        before = (cluster.recovery, cluster.tiered, cluster.role, (cluster.autoscaling or {}).get("Mode", "Disable"))
        cluster.recovery = str(params.get("NodeRecovery", cluster.recovery))
        cluster.tiered = params.get("TieredStorageConfig", cluster.tiered)
        cluster.role = params.get("ClusterRole", cluster.role)
        mode = part(params, "AutoScaling").get("Mode", before[3])
        if (cluster.recovery, cluster.tiered, cluster.role, mode) != before:
            call.changed("updated", "hyperpod.cluster", cluster.name, "settings")
        if mode == "Enable" and before[3] != "Enable":
            enable_autoscaling(self._world, cluster)
        if mode == "Disable" and before[3] == "Enable" and cluster.autoscaling is not None:
            state = cluster.autoscaling
            state |= {"Mode": "Disable", "Status": "Deleting"}

            def disabled() -> None:
                if cluster.autoscaling is state:
                    cluster.autoscaling = None

            self._world.agenda.after(self._world.pace.autoscaling_enable, disabled)

    def _write(self, call: Call, cluster: HyperPodCluster, spec: Json) -> None:
        wanted = group_of(spec)
        wanted.script_broken = call.fails
        group = cluster.groups.get(wanted.name)
        identity = f"{cluster.name}/{wanted.name}"
        if group is None:
            cluster.groups[wanted.name] = group = wanted
            group.current_labels, group.current_taints = group.labels, group.taints
            call.changed("created", "hyperpod.instance-group", identity, f"target {group.target}")
            self._world.agenda.after(1, lambda: self._start(cluster, group))
            return
        detail = self._difference(group, wanted)
        if detail:
            call.changed("updated", "hyperpod.instance-group", identity, detail)
        fixed = group.script_failed and wanted.spec.get("LifeCycleConfig") != group.spec.get("LifeCycleConfig")
        minimum_changed = wanted.minimum != group.minimum
        grows = wanted.target != group.target
        group.spec, group.target, group.minimum = wanted.spec, wanted.target, wanted.minimum
        group.message, group.script_failed = "", group.script_failed and not fixed and wanted.target > 0
        group.script_broken = wanted.script_broken
        if (group.labels, group.taints) != (group.current_labels, group.current_taints):
            kube_nodes.settle_config(self._world, cluster, group)
        if grows or not cluster.continuous:
            group.status = "Updating"
            self._world.agenda.after(1, lambda: self._start(cluster, group))
        if minimum_changed:
            self._provisioning.watch_minimum(cluster, group)

    def _start(self, cluster: HyperPodCluster, group: Group) -> None:
        if cluster.groups.get(group.name) is not group or group.status == "Deleting":
            return
        self._provisioning.scale(cluster, group)
        self._provisioning.watch_minimum(cluster, group)

    def _delete(self, call: Call, cluster: HyperPodCluster, group: Group) -> None:
        if group.status == "Deleting":
            return
        group.status, group.target = "Deleting", 0
        call.changed("deleted", "hyperpod.instance-group", f"{cluster.name}/{group.name}")
        for node in cluster.of_group(group.name):
            self._provisioning.terminate(cluster, node)

        def gone() -> None:
            if cluster.groups.get(group.name) is group:
                del cluster.groups[group.name]
                self._settle_classic(cluster)

        self._world.agenda.after(self._world.pace.group_delete, gone)

    @staticmethod
    def _settle_classic(cluster: HyperPodCluster) -> None:
        if cluster.status == "Updating" and all(group.status == "InService" for group in cluster.groups.values()):
            cluster.status, cluster.before = "InService", None

    @staticmethod
    def _difference(group: Group, wanted: Group) -> str:
        changes: list[str] = []
        if wanted.target != group.target:
            changes.append(f"target {group.target}->{wanted.target}")
        if wanted.minimum != group.minimum:
            changes.append(f"minimum {group.minimum}->{wanted.minimum}")
        names = {*group.spec, *wanted.spec}
        changes += sorted(name for name in names if group.spec.get(name) != wanted.spec.get(name))
        return ", ".join(changes)
