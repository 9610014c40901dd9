"""moto in this process: its applications, and the few of its records that our own services look at.

moto is used unpatched. It is imported late (it is slow), and all its untyped records leave this file as Any.
"""

from __future__ import annotations

import importlib
import io
import os
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from reconciler.sandbox.aws.errors import Reply
from reconciler.sandbox.aws.wire import Request

SERVICES = ("ec2", "iam", "s3", "sts", "kms", "logs", "ssm", "cloudformation")
_KEPT = 5  # addresses of every subnet that AWS keeps
_WARM = ("iam", "sts", "ec2", "s3")

# Real accounts have the AWS managed policies; moto loads them only when told.
os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
# moto's modules import each other in circles: two threads that begin at different ends both fail.
_IMPORTING = threading.RLock()


class Moto:
    def __init__(self) -> None:
        self._apps: dict[str, Any] = {}

    def warm(self) -> None:
        """Import what nearly every session needs. Meant for a background thread at start."""
        for service in _WARM:
            self._app(service)

    def answer(self, service: str, account: str, request: Request) -> Reply:
        """Raises NotImplementedError for what moto does not know."""
        written: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], _exc: object = None) -> None:
            written.extend((status, headers))

        chunks = self._app(service)(_environ(account, request), start)
        body = b"".join(chunks)
        if hasattr(chunks, "close"):
            chunks.close()
        status, headers = written[0], written[1]
        return Reply(status=int(status.split()[0]), body=body, headers={name.lower(): value for name, value in headers})

    def backend(self, service: str, account: str, region: str) -> Any:
        backends = _module(f"moto.{service}.models")
        held: Any = getattr(backends, f"{service}_backends")
        return held[account]["aws" if service in ("iam", "s3", "sts") else region]

    def sessions(self, access_key: str) -> Iterator[tuple[str, Any]]:
        """The assumed role behind a temporary key, with its account."""
        for account, backend in self._accounts("sts"):
            session = backend.get_assumed_role_from_access_key(access_key)
            if session is not None:
                yield account, session

    def user_keys(self, access_key: str) -> Iterator[tuple[str, Any, str]]:
        for account, backend in self._accounts("iam"):
            key = backend.access_keys.get(access_key)
            user = backend.get_user_from_access_key_id(access_key) if key is not None else None
            if key is not None and user is not None:
                yield account, user, str(key.secret_access_key)

    def role(self, arn: str) -> Any | None:
        """The IAM role of an ARN, None if there is none."""
        parts = arn.split(":", 5)
        if len(parts) != 6:
            return None
        for role in list(self.backend("iam", parts[4], "aws").roles.values()):
            if role.arn == arn:
                return role
        return None

    def object_exists(self, account: str, bucket: str, key: str) -> bool:
        held = self.backend("s3", account, "aws").buckets.get(bucket)
        return held is not None and key in held.keys

    def tag_bucket(self, account: str, bucket: str, tags: dict[str, str]) -> None:
        """What S3 does with the tags of a CreateBucket, and moto does not."""
        self.backend("s3", account, "aws").put_bucket_tagging(bucket, tags)

    def subnet(self, account: str, region: str, subnet: str) -> Any | None:
        for zone in list(self.backend("ec2", account, region).subnets.values()):
            if subnet in zone:
                return zone[subnet]
        return None

    def leave_addresses(self, account: str, region: str, subnet: str, free: int | None) -> None:
        """As if others had taken all addresses of a subnet but so many; None: they gave them back. Raises KeyError."""
        found = self.subnet(account, region, subnet)
        if found is None:
            raise KeyError(f"no subnet {subnet}")
        whole = found.cidr.num_addresses - _KEPT
        taken = found._available_ip_addresses - found.available_ip_address_count  # by interfaces that are known
        found._available_ip_addresses = whole if free is None else free + taken

    def security_group(self, account: str, region: str, group: str) -> Any | None:
        return self.backend("ec2", account, region).get_security_group_from_id(group)

    def tagged(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """Kind, id and tags of what is alive in EC2."""
        if "ec2" not in self._apps:
            return
        backends: Any = _module("moto.ec2.models").ec2_backends
        for _, regions in list(backends.items()):
            for _, backend in list(regions.items()):
                for resource in _alive(backend):
                    tags = backend.tags.get(resource)
                    if tags:
                        yield f"ec2.{resource.rpartition('-')[0]}", resource, dict(tags)

    def reset(self) -> None:
        _module("moto.moto_api._internal.models").moto_api_backend.reset()

    def _accounts(self, service: str) -> Iterator[tuple[str, Any]]:
        backends: Any = getattr(_module(f"moto.{service}.models"), f"{service}_backends")
        for account, regions in list(backends.items()):
            yield str(account), regions["aws"]

    def _app(self, service: str) -> Any:
        app = self._apps.get(service)
        if app is None:
            werkzeug_app = _module("moto.moto_server.werkzeug_app")
            with _IMPORTING:  # making an application imports the service
                app = self._apps[service] = werkzeug_app.create_backend_app(service)
        return app


def _module(name: str) -> Any:
    with _IMPORTING:
        return importlib.import_module(name)


def _alive(backend: Any) -> Iterator[str]:
    """Ids of what exists in EC2. moto keeps the tags of things that are gone."""
    tables = (backend.vpcs, backend.internet_gateways, backend.route_tables, backend.enis, *backend.subnets.values())
    for table in (*tables, *backend.groups.values()):
        yield from map(str, list(table))
    yield from (str(one.id) for one in list(backend.nat_gateways.values()) if not one.state.startswith("delet"))
    yield from (str(one.id) for one in list(backend.vpc_end_points.values()) if not one.state.startswith("delet"))
    yield from (str(one.allocation_id) for one in list(backend.addresses))


def _environ(account: str, request: Request) -> dict[str, Any]:
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(request.path, "latin-1"),
        "QUERY_STRING": request.query,
        "RAW_URI": request.path + ("?" + request.query if request.query else ""),
        "REQUEST_URI": request.path + ("?" + request.query if request.query else ""),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "CONTENT_LENGTH": str(len(request.body)),
    }
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        if key in ("CONTENT_TYPE", "CONTENT_LENGTH", "TRANSFER_ENCODING"):
            environ.setdefault(key, value)
        else:
            environ[f"HTTP_{key}"] = value
    environ.pop("TRANSFER_ENCODING", None)
    environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
    return environ
