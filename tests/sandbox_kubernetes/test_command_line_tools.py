"""kubectl and helm, as people run them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.resources.helm.binary import find_helm
from schemas.errors import StopUntilChange
from tests.sandbox_kubernetes.conftest import TOKEN, Cluster
from tests.sandbox_kubernetes.objects import config_map, deployment, service

pytestmark = pytest.mark.behaviour("kubectl and helm, as people run them")

Run = Callable[..., str]

# their stubs leave the stream's type open
_yaml: Any = yaml
safe_dump: Callable[[Any], str] = _yaml.safe_dump
safe_dump_all: Callable[[Any], str] = _yaml.safe_dump_all

_KUBECTL = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")


@pytest.fixture
def kubeconfig(cluster: Cluster, tmp_path: Path) -> Path:
    ca = tmp_path / "ca.pem"
    ca.write_text(cluster.endpoint.ca_pem)
    server = {"server": cluster.endpoint.url, "certificate-authority": str(ca)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": server}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


def runner(program: str, kubeconfig: Path, home: Path) -> Run:
    def run(*arguments: str, stdin: str = "", code: int = 0) -> str:
        environment = {"KUBECONFIG": str(kubeconfig), "HOME": str(home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [program, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        assert done.returncode == code, done.stderr or done.stdout
        return done.stdout

    return run


@pytest.fixture
def kubectl(kubeconfig: Path, tmp_path: Path) -> Run:
    if _KUBECTL is None:
        pytest.skip("no kubectl")
    return runner(_KUBECTL, kubeconfig, tmp_path)


@pytest.fixture
def helm(kubeconfig: Path, tmp_path: Path) -> Run:
    try:
        return runner(find_helm(str(tmp_path)), kubeconfig, tmp_path)
    except StopUntilChange as missing:
        pytest.skip(missing.message)


def test_kubectl_applies_diffs_and_reads(kubectl: Run) -> None:
    manifests = safe_dump_all([config_map(), deployment(), service()])
    assert "deployment.apps/web serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=manifests)
    kubectl("diff", "--server-side", "-f", "-", stdin=manifests)
    changed = safe_dump_all([config_map(a="2")])
    assert 'a: "2"' in kubectl("diff", "--server-side", "-f", "-", stdin=changed, code=1)
    assert "web" in kubectl("get", "deploy,svc,cm", "-o", "wide")
    found: Any = json.loads(kubectl("get", "deployment", "web", "-o", "json", "--show-managed-fields"))
    assert [each["manager"] for each in found["metadata"]["managedFields"]] == ["kubectl"]


def test_kubectl_client_side_apply_create_and_change(kubectl: Run) -> None:
    manifests = safe_dump_all([config_map(), deployment()])
    kubectl("apply", "-f", "-", stdin=manifests)
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=manifests)
    kubectl("create", "namespace", "team")
    kubectl("create", "secret", "generic", "s", "--from-literal=a=b", "-n", "team")
    kubectl("scale", "deployment/web", "--replicas=4")
    kubectl("label", "deployment/web", "x=y")
    kubectl("set", "image", "deployment/web", "c=img:2")
    found: Any = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
    assert found["spec"]["replicas"] == 4
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "img:2"
    assert kubectl("auth", "can-i", "delete", "nodes").strip() == "yes"
    kubectl("delete", "namespace", "team", "--timeout=100s")
    assert "img:2" in kubectl("describe", "deployment", "web")


def test_helm_installs_upgrades_and_uninstalls(helm: Run, kubectl: Run, tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 0.1.0\n")
    (chart / "values.yaml").write_text("a: one\n")
    body = safe_dump(config_map(a="VALUE")).replace("VALUE", "{{ .Values.a }}")
    (chart / "templates" / "all.yaml").write_text(body + "---\n" + safe_dump(service()))
    helm("install", "r", str(chart), "--namespace", "apps", "--create-namespace", "--wait", "--timeout", "20s")
    helm("upgrade", "r", str(chart), "--namespace", "apps", "--set", "a=two", "--timeout", "20s")
    data: Any = json.loads(kubectl("get", "cm", "cm", "-n", "apps", "-o", "json"))["data"]
    assert data == {"a": "two"}
    assert [each["revision"] for each in json.loads(helm("history", "r", "-n", "apps", "-o", "json"))] == [1, 2]
    helm("uninstall", "r", "--namespace", "apps", "--timeout", "20s")
    assert "cm" not in kubectl("get", "cm", "-n", "apps", "-o", "name").split()
