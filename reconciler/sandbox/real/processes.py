"""A real Kubernetes API as processes on loopback: etcd, kube-apiserver, and the controllers that no cluster is without.

No kubelet, no scheduler, no workload controllers: those are the sandbox's simulators, or nobody.
"""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reconciler.sandbox.kubernetes.access import MASTERS, UserInfo
from reconciler.sandbox.kubernetes.certificates import make_certificates
from reconciler.sandbox.real.programs import Programs
from reconciler.sandbox.real.token_reviews import TokenReviews

START_SECONDS = 180.0  # on a machine that is busy with other things; alone it takes a few
STOP_SECONDS = 10.0
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
ADMIN = UserInfo(name="kubernetes-admin", groups=(MASTERS,))

Authenticate = Callable[[str], UserInfo | None]


class RealKubernetes:
    """One real cluster. Who asks is looked up in `authenticate`, as EKS asks its authenticator: by a webhook.

    `reset` takes away all that was made since the start, in no time, since it asks nobody but etcd.
    """

    def __init__(self, programs: Programs, *, audit: bool = False) -> None:
        """`audit`: have the server write down each request in `audit_log`."""
        self.authenticate: Authenticate = lambda token: None
        self.admin_token = secrets.token_urlsafe(24)
        self._programs = programs
        # sockets, logs and a database that nobody wants on a disk
        where = "/dev/shm" if Path("/dev/shm").is_dir() else None
        self._directory = tempfile.TemporaryDirectory(prefix="real-kubernetes-", dir=where, ignore_cleanup_errors=True)
        self._path = Path(self._directory.name)
        self.audit_log = self._path / "audit.log"
        self._audit = audit
        self._certificates = make_certificates(self._path)
        self.ca_pem = self._certificates.ca_pem
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._reviews = TokenReviews(self._user, self._certificates)
        self._context = ssl.create_default_context(cadata=self.ca_pem)
        etcd, peer, api = _free_ports(3)
        self._etcd = f"http://127.0.0.1:{etcd}"
        self.url = f"https://127.0.0.1:{api}"
        self._baseline: frozenset[str] = frozenset()
        began = time.monotonic()
        try:
            self._start(peer, api)
        except BaseException:
            self.close()
            raise
        self.started_in = time.monotonic() - began

    def reset(self) -> None:
        """As it was after the start."""
        made = sorted(self._keys() - self._baseline)
        for key in made:
            self._ask_etcd("kv/deleterange", {"key": _encoded(key)})
        if made:
            self._until(lambda: self._is_seen(made), "the server sees what is gone")

    def compact(self) -> None:
        """Forget what came before the newest revision, as the server has it done every five minutes.

        What the server keeps in memory it still answers from, but for pod templates.
        """
        head: Any = self._ask_etcd("kv/range", {"key": _encoded("/"), "limit": 1})
        self._ask_etcd("kv/compaction", {"revision": head["header"]["revision"], "physical": True})

    def keep(self) -> None:
        """What there is now stays when `reset` is called."""
        self._baseline = frozenset(self._keys())

    def get(self, path: str) -> Any:
        """A path of the API, as its administrator sees it. OSError if it is refused."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.admin_token}"})
        with urllib.request.urlopen(request, timeout=10, context=self._context) as answer:
            return json.loads(answer.read())

    def close(self) -> None:
        for process in reversed(self._processes.values()):
            process.send_signal(signal.SIGTERM if process is not self._processes.get("kube-apiserver") else _AT_ONCE)
        for process in self._processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            if process.poll() is None:
                process.kill()
                process.wait(STOP_SECONDS)
        self._processes.clear()
        self._reviews.close()
        self._directory.cleanup()

    # ---- starting ----------------------------------------------------------------

    def _start(self, peer: int, api: int) -> None:
        peers = f"http://127.0.0.1:{peer}"
        self._run(
            self._programs.etcd,
            "--name=etcd",
            f"--data-dir={self._path / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={self._etcd}",
            f"--advertise-client-urls={self._etcd}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=etcd={peers}",
            "--log-level=warn",
        )
        self._run(self._programs.api_server, *self._api_server_flags(api))
        self._until(self._is_ready, "the API server is ready")
        config = self._kubeconfig("controllers", self.url, self.admin_token)
        self._run(self._programs.controllers, f"--kubeconfig={config}")
        self._until(self._has_accounts, "every namespace has its account")
        self.keep()

    def _api_server_flags(self, port: int) -> Iterable[str]:
        key = self._path / "accounts.key"
        key.touch(mode=0o600)
        key.write_bytes(
            ec.generate_private_key(ec.SECP256R1()).private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        return (
            f"--etcd-servers={self._etcd}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={self._path}",
            f"--tls-cert-file={self._certificates.certificate}",
            f"--tls-private-key-file={self._certificates.key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--authentication-config={self._authentication()}",
            f"--authentication-token-webhook-config-file={self._kubeconfig('reviews', self._reviews.url, '')}",
            "--authentication-token-webhook-version=v1",
            "--authentication-token-webhook-cache-ttl=0s",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.100.0.0/16",
            "--allow-privileged=true",
            # read from etcd itself, so that compacting it shows: this kind alone can be forgotten at will
            "--watch-cache-sizes=podtemplates#0",
            "--profiling=false",
            *(self._audit_flags() if self._audit else ()),
        )

    def _audit_flags(self) -> Iterable[str]:
        """Every request once, when it is answered, before its client hears of it. No bodies: secrets are in them."""
        policy = self._path / "audit.json"
        rules = [{"level": "Metadata", "omitStages": ["RequestReceived", "ResponseStarted"]}]
        policy.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}))
        self.audit_log.touch(mode=0o600)
        return f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}", "--audit-log-mode=blocking"

    def _authentication(self) -> Path:
        """Who has no token may ask for its health and nothing else, as on EKS."""
        path = self._path / "authentication.json"
        health = [{"path": f"/{name}"} for name in ("healthz", "livez", "readyz")]
        kind = {"apiVersion": "apiserver.config.k8s.io/v1beta1", "kind": "AuthenticationConfiguration"}
        path.write_text(json.dumps({**kind, "anonymous": {"enabled": True, "conditions": health}}))
        return path

    def _kubeconfig(self, name: str, url: str, token: str) -> Path:
        ca = base64.b64encode(self.ca_pem.encode()).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority-data": ca}}],
            "users": [{"name": "u", "user": {"token": token} if token else {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        path = self._path / f"{name}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps(config))
        return path

    def _run(self, program: Path, *flags: str) -> None:
        tied = [found, "--pdeathsig", "KILL", "--"] if (found := shutil.which("setpriv")) else []
        with (self._path / f"{program.name}.log").open("wb") as log:
            self._processes[program.name] = subprocess.Popen(
                [*tied, str(program), *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._path
            )

    def _user(self, token: str) -> UserInfo | None:
        own = secrets.compare_digest(token.encode(), self.admin_token.encode())
        return ADMIN if own else self.authenticate(token)

    # ---- waiting -----------------------------------------------------------------

    def _until(self, check: Callable[[], bool], what: str) -> None:
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}: {self._last_words(name)}")
            with suppress(OSError, ValueError):
                if check():
                    return
            time.sleep(0.02)
        words = "\n".join(f"{name}: {self._last_words(name)}" for name in self._processes)
        raise RuntimeError(f"did not happen within {START_SECONDS:.0f} s: {what}\n{words}")

    def _last_words(self, name: str) -> str:
        return "\n".join((self._path / f"{name}.log").read_text(errors="replace").splitlines()[-12:])

    def _is_ready(self) -> bool:
        with urllib.request.urlopen(f"{self.url}/readyz", timeout=5, context=self._context) as answer:
            return bool(answer.status == 200)

    def _has_accounts(self) -> bool:
        listed: Any = self.get("/api/v1/serviceaccounts")["items"]
        have = {each["metadata"]["namespace"] for each in listed if each["metadata"]["name"] == "default"}
        return have >= set(NAMESPACES)

    def _is_seen(self, keys: list[str]) -> bool:
        """The namespaces and definitions among them are the ones that a next test may make anew."""
        namespaces = {key.rpartition("/")[2] for key in keys if key.startswith("/registry/namespaces/")}
        listed: Any = self.get("/api/v1/namespaces")["items"]
        return not namespaces & {each["metadata"]["name"] for each in listed}

    # ---- etcd --------------------------------------------------------------------

    def _keys(self) -> set[str]:
        answer: Any = self._ask_etcd(
            "kv/range", {"key": _encoded("/registry/"), "range_end": _encoded("/registry0"), "keys_only": True}
        )
        keys = (base64.b64decode(each["key"]).decode() for each in answer.get("kvs", ()))
        return {key for key in keys if not key.startswith(_NOT_OURS)}

    def _ask_etcd(self, what: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(f"{self._etcd}/v3/{what}", data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())


# what the server keeps for itself and makes anew
_NOT_OURS = ("/registry/masterleases/", "/registry/ranges/", "/registry/leases/kube-system/")
_AT_ONCE = signal.SIGKILL  # asked politely it serves its watches for a minute more


def _encoded(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


def _free_ports(count: int) -> list[int]:
    listeners = [socket.socket() for _ in range(count)]
    try:
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()
