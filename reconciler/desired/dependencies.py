"""Stage dependencies: EKS add-ons with their roles, and the HyperPod chart as a Helm release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from reconciler.desired import policies
from reconciler.desired.names import Names
from schemas.documents.cluster import Cluster
from schemas.resource import Resource, Source, Stage
from schemas.values import JsonObject, JsonValue

RELEASE = "hyperpod-dependencies"
CHART_REPOSITORY = "https://github.com/aws/sagemaker-hyperpod-cli.git"
CHART_PATH = "helm_chart/HyperPodHelmChart"
CHART_COMMIT = "011ca927123e02b35a399935bbb3ab1905fe33c7"

# The add-ons that call AWS, the service account each does it with, and what it may do.
_CNI = ("vpc-cni", "kube-system/aws-node")
_S3_CSI = ("aws-mountpoint-s3-csi-driver", "kube-system/s3-csi-driver-sa")


def dependencies(
    cluster: Cluster, names: Names, buckets: Iterable[str], written: JsonObject, source: Source
) -> list[Resource]:
    """Resources of the stage dependencies. `buckets`: those that Storages of this cluster mount. `written`: the
    Cluster's spec as its author wrote it. An adopted HyperPod cluster works already: what nobody wrote down is only
    marked if it is there, and made if something needs it."""
    installed = cluster.spec.dependencies.installed
    adopt = cluster.spec.adopt
    named = as_mapping(as_mapping(written.get("dependencies")).get("addons"))
    roles = {
        addon: _role(names, what, account, managed, inline, source)
        for addon, what, account, managed, inline in (
            (_CNI[0], "vpc-cni", _CNI[1], [policies.managed(names.region, "AmazonEKS_CNI_Policy")], {}),
            (
                _S3_CSI[0],
                "s3-csi",
                _S3_CSI[1],
                [],
                {"buckets": policies.use_buckets(names.region, (names.bucket, *buckets))},
            ),
        )
        if addon in installed
    }
    if adopt.eks is not None:
        roles = {addon: replace(role, on_demand=True) for addon, role in roles.items()}
    addons: list[Resource] = []
    for name, addon in sorted(installed.items()):
        wanted: JsonObject = {}
        if addon.version is not None:
            wanted["version"] = addon.version
        if addon.values:
            wanted["values"] = dict(addon.values)
        role: JsonObject = {}
        if name in roles:
            role = {"role": names.ref("iam.Role", roles[name].key.rsplit("/", 1)[-1], "arn")}
        addons.append(
            Resource(
                key=names.key("eks.Addon", name),
                type="eks.Addon",
                name=name,
                cluster=names.cluster,
                stage=Stage.DEPENDENCIES,
                lane=names.eks_lane,
                # The role of an add-on that was there is nobody's to change.
                spec=wanted if adopt.eks is not None else {**wanted, **role},
                made_with=role if adopt.eks is not None else {},
                after=(names.key("eks.Cluster"),),
                source=source,
                takes_over=True,
                on_demand=adopt.hyperpod is not None and name not in named,
            )
        )
    said = says_release(written)
    if adopt.hyperpod is not None and not said:
        return [*roles.values(), *addons]
    release = _release(cluster, names, source)
    if adopt.eks is not None and not said:
        release = _only_marked(release)
    return [*roles.values(), *addons, release]


def says_release(written: JsonObject) -> bool:
    """Whether the author of the Cluster's spec wrote what the release is to be."""
    return bool({"chart", "values"} & as_mapping(written.get("dependencies")).keys())


def as_mapping(value: JsonValue) -> JsonObject:
    """The mapping, or an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _only_marked(release: Resource) -> Resource:
    """Of a release that is there already, chart and values stay as they are."""
    kept = {name: value for name, value in release.spec.items() if name == "namespace"}
    rest = {name: value for name, value in release.spec.items() if name != "namespace"}
    return replace(release, spec=kept, made_with=rest)


def _role(names: Names, what: str, account: str, managed: list[str], inline: JsonObject, source: Source) -> Resource:
    return Resource(
        key=names.key("iam.Role", what),
        type="iam.Role",
        name=names.role(what),
        cluster=names.cluster,
        stage=Stage.DEPENDENCIES,
        lane=f"iam/{names.role(what)}",
        spec={
            "trust": {
                "irsa": {
                    "provider": names.ref("iam.OpenIDConnectProvider", attr="arn"),
                    "issuer": names.ref("eks.Cluster", attr="issuerHost"),
                    "serviceAccount": account,
                }
            },
            "managed": managed,
            "inline": inline,
        },
        source=source,
    )


def _release(cluster: Cluster, names: Names, source: Source) -> Resource:
    written = cluster.spec.dependencies
    chart: JsonObject = {"repository": CHART_REPOSITORY, "path": CHART_PATH, "commit": CHART_COMMIT}
    if written.chart is not None:
        chart = {
            "repository": written.chart.repository,
            "path": written.chart.path,
            "commit": written.chart.commit,
        }
    return Resource(
        key=names.key("helm.Release", RELEASE),
        type="helm.Release",
        name=RELEASE,
        cluster=names.cluster,
        stage=Stage.DEPENDENCIES,
        lane=f"helm/{names.cluster}/{RELEASE}",
        spec={"chart": chart, "namespace": "kube-system", "values": _merged(_DEFAULTS, dict(written.values))},
        after=(names.key("eks.Cluster"),),
        source=source,
        takes_over=True,
    )


# cert-manager is an EKS add-on here, and jobs, storage and role bindings have documents of their own.
_DEFAULTS: JsonObject = {
    "cert-manager": {"enabled": False},
    "health-monitoring-agent": {"enabled": True},
    "inferenceOperators": {"enabled": False},
    "mlflow": {"enabled": False},
}


def _merged(base: JsonObject, over: JsonObject) -> JsonObject:
    """Helm's own way: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _merged(cast("JsonObject", below), cast("JsonObject", value))
        else:
            merged[key] = value
    return merged
