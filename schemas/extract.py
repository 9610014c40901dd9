"""Regenerates `hyperpod_limits.json` from the installed botocore: `python -m schemas.extract`.

botocore checks neither enums nor patterns nor upper bounds, so the documents do. Only this module imports it, and
only when run: what runs in production reads the committed extract.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

TARGET: Final = Path(__file__).with_name("hyperpod_limits.json")

# name in the extract → service, shape
_SHAPES: Final[dict[str, tuple[str, str]]] = {
    "clusterName": ("sagemaker", "ClusterName"),
    "instanceGroupName": ("sagemaker", "ClusterInstanceGroupName"),
    "instanceType": ("sagemaker", "ClusterInstanceType"),
    "instanceCount": ("sagemaker", "ClusterInstanceCount"),
    "threadsPerCore": ("sagemaker", "ClusterThreadsPerCore"),
    "volumeSizeInGB": ("sagemaker", "ClusterEbsVolumeSizeInGB"),
    "kmsKeyId": ("sagemaker", "KmsKeyId"),
    "deepHealthCheck": ("sagemaker", "DeepHealthCheckType"),
    "trainingPlanArn": ("sagemaker", "TrainingPlanArn"),
    "interfaceType": ("sagemaker", "ClusterInterfaceType"),
    "labels": ("sagemaker", "ClusterKubernetesLabels"),
    "labelKey": ("sagemaker", "ClusterKubernetesLabelKey"),
    "labelValue": ("sagemaker", "ClusterKubernetesLabelValue"),
    "taints": ("sagemaker", "ClusterKubernetesTaints"),
    "taintKey": ("sagemaker", "ClusterKubernetesTaintKey"),
    "taintValue": ("sagemaker", "ClusterKubernetesTaintValue"),
    "taintEffect": ("sagemaker", "ClusterKubernetesTaintEffect"),
    "nodeRecovery": ("sagemaker", "ClusterNodeRecovery"),
    "nodeProvisioningMode": ("sagemaker", "ClusterNodeProvisioningMode"),
    "nodeId": ("sagemaker", "ClusterNodeId"),
    "tagKey": ("sagemaker", "TagKey"),
    "tagValue": ("sagemaker", "TagValue"),
    "tags": ("sagemaker", "TagList"),
    "roleArn": ("sagemaker", "RoleArn"),
    "logType": ("eks", "LogType"),
    "eksClusterName": ("eks", "ClusterName"),
}


def extract() -> str:
    """The extract as text: for every shape its enum, pattern and bounds, exactly as the service model has them."""
    import importlib

    botocore: Any = importlib.import_module("botocore")
    session: Any = importlib.import_module("botocore.session").get_session()
    models: dict[str, Any] = {name: session.get_service_model(name) for name in ("sagemaker", "eks")}
    shapes = {name: _limits(models[service].shape_for(shape)) for name, (service, shape) in _SHAPES.items()}
    body = {"botocore": botocore.__version__, "limits": shapes}
    return json.dumps(body, indent=1, sort_keys=True) + "\n"


def _limits(shape: Any) -> dict[str, Any]:
    wanted = ("enum", "pattern", "min", "max")
    return {name: shape.metadata[name] for name in wanted if name in shape.metadata}


if __name__ == "__main__":
    TARGET.write_text(extract(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
