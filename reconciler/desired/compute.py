"""Stage compute: lifecycle scripts in their bucket, the execution role, the HyperPod cluster and its groups."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from reconciler.desired import policies
from reconciler.desired.dependencies import RELEASE
from reconciler.desired.names import Names
from reconciler.desired.network import compute_subnet, eks_subnets, way_out
from schemas.documents.cluster import Cluster
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.records import Document
from schemas.resource import Resource, Source, Stage
from schemas.values import JsonObject

PACKAGED = "package:on_create.sh"
_LIFECYCLE = "lifecycle/"


def compute(
    cluster: Cluster,
    names: Names,
    groups: Iterable[Document],
    files: Mapping[str, bytes],
    packaged: bytes,
    source: Source,
) -> list[Resource]:
    """Resources of the stage compute. `files`: the cluster folder's other files by path; `packaged`: the script used
    where no document names one."""
    docs = [doc for doc in groups if isinstance(doc.model, InstanceGroup)]
    scripts = _Scripts(files, packaged)
    default = scripts.add(cluster.spec.lifecycle_script)
    entry = {doc.name: _entry(doc, scripts, default) for doc in docs}
    made = [
        _bucket(names, source),
        _objects(names, scripts, source),
        _execution_role(names, source),
    ]
    return [*made, _hyperpod(cluster, names, docs, source), *(_group(names, doc, entry[doc.name]) for doc in docs)]


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


def _hyperpod(cluster: Cluster, names: Names, docs: list[Document], source: Source) -> Resource:
    spec = cluster.spec
    adopt = spec.adopt.hyperpod
    born: JsonObject = {
        "eks": names.ref("eks.Cluster", attr="arn"),
        "provisioning": spec.hyperpod.provisioning,
        "subnets": eks_subnets(names),
        "securityGroups": [names.ref("ec2.SecurityGroup", "nodes")],
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
        name=adopt or names.cluster,
        cluster=names.cluster,
        stage=Stage.COMPUTE,
        lane=names.hyperpod_lane,
        spec={
            "nodeRecovery": spec.hyperpod.node_recovery,
            "tags": dict(spec.hyperpod.tags),
            **({} if adopt else born),
        },
        after=tuple(dict.fromkeys(needs)),
        source=source,
        adopt=adopt,
    )


def _group(names: Names, doc: Document, script: str) -> Resource:
    model = doc.model
    assert isinstance(model, InstanceGroup)
    spec, written = model.spec, doc.authored
    wanted: JsonObject = {
        "instanceType": spec.instance_type,
        "count": spec.count,
        "subnets": [names.ref("ec2.Subnet", compute_subnet(_zone(doc)))],
        "securityGroups": [names.ref("ec2.SecurityGroup", "nodes")],
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
