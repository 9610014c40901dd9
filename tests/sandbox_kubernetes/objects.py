"""Plain manifests that several tests start from."""

from typing import Any

Object = dict[str, Any]


def config_map(name: str = "cm", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data or {"a": "1"}}


def pod_spec(**more: Any) -> Object:
    return {"containers": [{"name": "c", "image": "img:1"}], **more}


def deployment(name: str = "web", *, replicas: int = 1, spec: Object | None = None) -> Object:
    template = {"metadata": {"labels": {"app": name}}, "spec": spec or pod_spec()}
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def job(name: str = "train", **spec: Any) -> Object:
    template = {"spec": pod_spec(restartPolicy="Never")}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template, **spec}}


def volume(name: str = "data", *, size: str = "10Gi", **spec: Any) -> Object:
    source = {"driver": "s3.csi.aws.com", "volumeHandle": name}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "csi": source,
            **spec,
        },
    }


def claim(name: str = "data", *, size: str = "10Gi", **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "resources": {"requests": {"storage": size}},
            **spec,
        },
    }


def service(name: str = "web", **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], "selector": {"app": name}, **spec},
    }
