"""A kubeconfig that kubectl accepts, with tokens from a process that is started when they are needed."""

from __future__ import annotations

import base64
import json
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.cli.clibox import CLUSTER, CliBox

KUBECTL = Path(sys.executable).with_name("kubectl")
CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, object]]]:
    """Two calls of AWS: who am I, and the cluster, once there is one."""
    clusters: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            body = "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account>"
            self._answer(200, body + "</GetCallerIdentityResult></GetCallerIdentityResponse>", "text/xml")

        def do_GET(self) -> None:
            if clusters:
                self._answer(200, json.dumps({"cluster": clusters[0]}), "application/json")
            else:
                self.error = "ResourceNotFoundException"
                self._answer(404, json.dumps({"message": "none"}), "application/json")

        def _answer(self, code: int, text: str, kind: str) -> None:
            self.send_response(code)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text)))
            if code == 404:
                self.send_header("x-amzn-errortype", "ResourceNotFoundException")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    yield clusters
    server.shutdown()
    server.server_close()


def test_no_cluster_yet(box: CliBox, aws: list[dict[str, object]]) -> None:
    said = box.call("kubeconfig", CLUSTER)
    assert said.code == 1 and "there is no EKS cluster demo yet" in said.err
    aws.append({"name": "demo", "status": "CREATING"})
    said = box.call("kubeconfig", CLUSTER)
    assert said.code == 1 and "has no endpoint yet (CREATING)" in said.err


def test_a_file_that_kubectl_reads(box: CliBox, aws: list[dict[str, object]], tmp_path: Path) -> None:
    aws.append({"name": "demo", "endpoint": "https://127.0.0.1:1", "certificateAuthority": {"data": CA}})
    path = tmp_path / "sub" / "kubeconfig"
    assert box.call("kubeconfig", CLUSTER, "--write", str(path)).code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text()) == box.call("kubeconfig", CLUSTER, "--json").json
    seen = subprocess.run(
        [KUBECTL, "--kubeconfig", path, "config", "view", "--minify", "-o", "json"], capture_output=True, check=True
    )
    plugin = json.loads(seen.stdout)["users"][0]["user"]["exec"]
    assert plugin["args"][-8:] == [
        "eks-token",
        "demo",
        "--account",
        "111122223333",
        "--region",
        "us-west-2",
        "--eks",
        "demo",
    ]
    assert "example" not in path.read_text(), "no secret in it"

    made = subprocess.run([plugin["command"], *plugin["args"]], capture_output=True, cwd=Path(__file__).parents[2])
    credential = json.loads(made.stdout)
    assert credential["kind"] == "ExecCredential" and credential["apiVersion"] == plugin["apiVersion"]
    assert credential["status"]["token"].startswith("k8s-aws-v1.") and credential["status"]["expirationTimestamp"]


def test_a_token_of_another_account_is_refused(box: CliBox, aws: list[dict[str, object]]) -> None:
    said = box.call("eks-token", CLUSTER, "--account", "444455556666")
    assert said.code == 1 and "belong to account 111122223333" in said.err and said.out == ""
