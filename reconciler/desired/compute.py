"""Stage compute: lifecycle scripts in their bucket, the execution role, the HyperPod cluster and its groups."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from reconciler.desired import policies
from reconciler.desired.dependencies import RELEASE, as_mapping, says_release
from reconciler.desired.names import Names
from reconciler.desired.network import compute_subnet, eks_subnets, way_out
from schemas.documents.cluster import Cluster
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.records import Document
from schemas.resource import Ref, Resource, Source, Stage
from schemas.values import JsonObject

PACKAGED = "package:on_create.sh"
_LIFECYCLE = "lifecycle/"


def compute(
    cluster: Cluster,
    names: Names,
    groups: Iterable[Document],
    files: Mapping[str, bytes],
    packaged: bytes,
    written: JsonObject,
    source: Source,
) -> list[Resource]:
    """Resources of the stage compute. `files`: the cluster folder's other files by path; `packaged`: the script used
    where no document names one. `written`: the Cluster's spec as its author wrote it. Groups of an adopted cluster
    are compared by what their authors wrote, and what new ones need is made for the first of them."""
    docs = [doc for doc in groups if isinstance(doc.model, InstanceGroup)]
    scripts = _Scripts(files, packaged)
    default = scripts.add(cluster.spec.lifecycle_script)
    entry = {doc.name: _entry(doc, scripts, default) for doc in docs}
    adopted = cluster.spec.adopt.hyperpod is not None
    made = [
        replace(resource, on_demand=adopted)
        for resource in (
            _bucket(names, source),
            _objects(names, scripts, source),
            _execution_role(names, source),
        )
    ]
    of_groups = [_group(names, doc, entry[doc.name], _security_groups(cluster, names)) for doc in docs]
    if adopted:
        said = "lifecycleScript" in written
        of_groups = [_as_written(names, group, doc, said) for group, doc in zip(of_groups, docs, strict=True)]
    return [*made, _hyperpod(cluster, names, docs, written, source), *of_groups]


class _Scripts:
    """The files to upload. The whole folder of a script goes up with it: scripts call each other."""

    def __init__(self, files: Mapping[str, bytes], packaged: bytes) -> None:
        self._files = files
        self._packaged = packaged
        self.objects: dict[str, str] = {}  # key below lifecycle/ → sha256
        self.sources: dict[str, str] = {}  # key below lifecycle/ → where its bytes come from

    def add(self, path: str | None) -> str:
        """Take the script's folder in; returns the key of the script below lifecycle/."""
        if path is None:
            self._put("default/on_create.sh", PACKAGED, self._packaged)
            return "default/on_create.sh"
        folder = str(PurePosixPath(path).parent)
        for name, data in sorted(self._files.items()):
            if str(PurePosixPath(name).parent) == folder or name.startswith(f"{folder}/"):
                self._put(f"cluster/{name}", name, data)
        return f"cluster/{path}"

    def _put(self, key: str, source: str, data: bytes) -> None:
        self.objects[key] = hashlib.sha256(data).hexdigest()
        self.sources[key] = source


def _entry(doc: Document, scripts: _Scripts, default: str) -> str:
    model = doc.model
    own = model.spec.lifecycle_script if isinstance(model, InstanceGroup) else None
    return scripts.add(own) if own is not None else default


def _bucket(names: Names, source: Source) -> Resource:
    return Resource(
        key=names.key("s3.Bucket", "lifecycle"),
        type="s3.Bucket",
        name=names.bucket,
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=f"s3/{names.bucket}",
        spec={"publicAccess": "blocked", "encryption": "AES256"},
        source=source,
    )


def _objects(names: Names, scripts: _Scripts, source: Source) -> Resource:
    return Resource(
        key=names.key("s3.Objects", "lifecycle"),
        type="s3.Objects",
        name=f"{names.bucket}/{_LIFECYCLE}",
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=f"s3/{names.bucket}",
        spec={
            "bucket": names.ref("s3.Bucket", "lifecycle", "name"),
            "prefix": _LIFECYCLE,
            "objects": dict(sorted(scripts.objects.items())),
        },
        initial={"files": dict(sorted(scripts.sources.items()))},
        source=source,
    )


def _execution_role(names: Names, source: Source) -> Resource:
    name = names.role("execution")
    return Resource(
        key=names.key("iam.Role", "execution"),
        type="iam.Role",
        name=name,
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=f"iam/{name}",
        spec={
            "trust": {"services": ["sagemaker.amazonaws.com"]},
            "managed": [policies.managed(names.region, "AmazonSageMakerClusterInstanceRolePolicy")],
            "inline": {
                "lifecycle": policies.read_bucket(names.region, names.bucket, _LIFECYCLE),
                "network": policies.node_network(names.region, names.account),
            },
        },
        source=source,
    )


def _security_groups(cluster: Cluster, names: Names) -> list[Ref]:
    """An EKS cluster that was there before us knows nothing of our group: its own lets the nodes reach it."""
    ours = names.ref("ec2.SecurityGroup", "nodes")
    return [ours] if cluster.spec.adopt.eks is None else [ours, names.ref("eks.Cluster", attr="securityGroup")]


def _hyperpod(cluster: Cluster, names: Names, docs: list[Document], written: JsonObject, source: Source) -> Resource:
    spec = cluster.spec
    adopt = spec.adopt.hyperpod
    if adopt is not None:
        return _adopted(cluster, names, adopt, written, source)
    born: JsonObject = {
        "eks": names.ref("eks.Cluster", attr="arn"),
        "provisioning": spec.hyperpod.provisioning,
        "subnets": eks_subnets(names),
        "securityGroups": _security_groups(cluster, names),
    }
    needs = [
        names.key("helm.Release", RELEASE),
        names.key("s3.Objects", "lifecycle"),
        names.key("iam.Role", "execution"),
        *way_out(names),
        # CreateCluster takes the groups along, so it waits for what they need.
        *(names.key("ec2.Subnet", compute_subnet(_zone(doc))) for doc in docs),
    ]
    if "vpc-cni" in spec.dependencies.installed:
        needs.append(names.key("eks.Addon", "vpc-cni"))
    return Resource(
        key=names.key("hyperpod.Cluster"),
        type="hyperpod.Cluster",
        name=names.cluster,
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=names.hyperpod_lane,
        spec={"nodeRecovery": spec.hyperpod.node_recovery, "tags": dict(spec.hyperpod.tags), **born},
        after=tuple(dict.fromkeys(needs)),
        source=source,
    )


def _adopted(cluster: Cluster, names: Names, name: str, written: JsonObject, source: Source) -> Resource:
    """A HyperPod cluster that was there: it must be on this EKS cluster, and the rest is as its authors say."""
    spec = cluster.spec
    wanted: JsonObject = {"eks": names.ref("eks.Cluster", attr="arn"), "tags": dict(spec.hyperpod.tags)}
    if "nodeRecovery" in as_mapping(written.get("hyperpod")):
        wanted["nodeRecovery"] = spec.hyperpod.node_recovery
    release = [names.key("helm.Release", RELEASE)] if says_release(written) else []
    return Resource(
        key=names.key("hyperpod.Cluster"),
        type="hyperpod.Cluster",
        name=name,
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=names.hyperpod_lane,
        spec=wanted,
        after=(names.key("eks.Cluster"), *release),
        source=source,
        adopt=name,
    )


def _as_written(names: Names, group: Resource, doc: Document, script_said: bool) -> Resource:
    """A group that may have been there before us: what its document does not say is for making it only. Where its
    nodes are is compared by zone, because its subnet may be anybody's."""
    said = {_FIELD.get(name, name) for name in doc.authored}
    if script_said:
        said.add("lifecycle")
    if "capacity" in said:
        said.add("trainingPlan")
    placed = {"subnets", "securityGroups", "executionRole"}
    spec = {name: value for name, value in group.spec.items() if name in said and name not in placed}
    rest = {name: value for name, value in group.spec.items() if name not in spec}
    zone = _zone(doc)
    if zone is not None:
        spec["zone"] = names.ref("ec2.Zones", attr=f"id:{zone}")
    script = (names.key("s3.Objects", "lifecycle"),)
    return replace(
        group,
        spec=spec,
        made_with=rest,
        after=(*group.after, *(script if "lifecycle" in spec else ())),
        made_after=(*script, *way_out(names)),
    )


# Fields of the document that have another name in the normal form.
_FIELD = {"lifecycleScript": "lifecycle"}


def _group(names: Names, doc: Document, script: str, firewall: list[Ref]) -> Resource:
    model = doc.model
    assert isinstance(model, InstanceGroup)
    spec, written = model.spec, doc.authored
    wanted: JsonObject = {
        "instanceType": spec.instance_type,
        "count": spec.count,
        "subnets": [names.ref("ec2.Subnet", compute_subnet(_zone(doc)))],
        "securityGroups": firewall,
        "executionRole": names.ref("iam.Role", "execution", "arn"),
        "lifecycle": {
            "sourceS3Uri": f"s3://{names.bucket}/{_LIFECYCLE}{PurePosixPath(script).parent}",
            "onCreate": PurePosixPath(script).name,
        },
        "capacity": {spec.capacity.kind: {}},
    }
    if spec.capacity.training_plan is not None:
        wanted["trainingPlan"] = spec.capacity.training_plan.arn
    if spec.min_count:  # 0 is no minimum
        wanted["minCount"] = spec.min_count
    if spec.threads_per_core is not None:
        wanted["threadsPerCore"] = spec.threads_per_core
    if spec.volume is not None:
        volume = {"sizeGiB": spec.volume.size_gib, "kmsKey": spec.volume.kms_key_id}
        wanted["volume"] = {key: value for key, value in volume.items() if value is not None}
    if spec.deep_health_checks:
        wanted["deepHealthChecks"] = sorted(spec.deep_health_checks)
    if spec.interface is not None:
        wanted["interface"] = {"efa": "efa", "efaOnly": "efa-only"}[spec.interface]
    if "labels" in written:
        wanted["labels"] = dict(spec.labels)
    if "taints" in written:
        taints = [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in spec.taints]
        wanted["taints"] = sorted(taints, key=lambda t: (t["key"], t["effect"]))
    return Resource(
        key=names.key("hyperpod.InstanceGroup", doc.name),
        type="hyperpod.InstanceGroup",
        name=doc.name,
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=names.hyperpod_lane,
        spec=wanted,
        after=(names.key("hyperpod.Cluster"),),
        source=doc.source,
    )


def _zone(doc: Document) -> str | None:
    model = doc.model
    assert isinstance(model, InstanceGroup)
    return model.spec.zone
