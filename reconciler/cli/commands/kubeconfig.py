"""kubeconfig and eks-token: kubectl for a cluster, with tokens made when they are needed."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from reconciler.cli import output
from reconciler.cli.setup import AsJson, ClusterArgument, Setup, head_of, must_know, setup_of
from reconciler.config_repo.repo import ConfigRepo
from reconciler.desired.build import Desired
from schemas.errors import InvalidInput

# The stubs leave some of its parameters unknown.
_DUMP: Any = vars(yaml)["safe_dump"]
_EXEC = "client.authentication.k8s.io/v1"
_PASSED_ON = ("AWS_ENDPOINT_URL", "AWS_PROFILE", "INSTANTSTART_PROFILE", "INSTANTSTART_ROLE")


def add_to(app: typer.Typer) -> None:
    app.command("kubeconfig")(kubeconfig)
    app.command("eks-token", hidden=True)(eks_token)


def kubeconfig(
    context: typer.Context,
    cluster: ClusterArgument,
    write: Annotated[Path | None, typer.Option("--write", help="Write it to this file (0600) instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print a kubeconfig. Its tokens are made when they are needed, so it stays valid."""
    setup = setup_of(context)
    with setup.repo() as repo:
        desired = _desired(repo, cluster)
    made = _kubeconfig(cluster, desired, _describe(setup, desired, _eks_name(desired)))
    if write is not None:
        write.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(write, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(_yaml(made))
    if as_json:
        output.document({"path": str(write)} if write is not None else made)
    elif write is not None:
        output.lines([f"Wrote {write}. Use it: kubectl --kubeconfig {write} get nodes"])
    else:
        sys.stdout.write(_yaml(made))


def eks_token(
    context: typer.Context,
    cluster: ClusterArgument,
    account: Annotated[str | None, typer.Option(help="Instead of what the documents say.")] = None,
    region: Annotated[str | None, typer.Option(help="Instead of what the documents say.")] = None,
    eks: Annotated[str | None, typer.Option(help="The EKS cluster's name, instead of what the documents say.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print an ExecCredential for kubectl. It is JSON with and without --json."""
    from reconciler.live.kube import tokens

    del as_json
    setup = setup_of(context)
    if account is None or region is None or eks is None:
        with setup.repo() as repo:
            desired = _desired(repo, cluster)
        account, region, eks = account or desired.account, region or desired.region, eks or _eks_name(desired)
    with _accounts(setup) as accounts:
        made = tokens.eks_token(accounts.session(account, region), eks)
    expires = made.expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    output.document(
        {
            "apiVersion": _EXEC,
            "kind": "ExecCredential",
            "status": {"token": made.value, "expirationTimestamp": expires},
        }
    )


def _kubeconfig(cluster: str, desired: Desired, eks: dict[str, Any]) -> dict[str, Any]:
    authorities: dict[str, Any] = eks.get("certificateAuthority") or {}
    endpoint, authority = eks.get("endpoint"), authorities.get("data")
    if not endpoint or not authority:
        text = f"the EKS cluster of {cluster} has no endpoint yet ({eks.get('status')}); wait until it is made"
        raise InvalidInput(text, reason="NoControlPlane")
    name = f"{cluster}.{desired.account}.{desired.region}"
    command, before, environment = _ourselves()
    told = ["eks-token", cluster, "--account", desired.account, "--region", desired.region, "--eks", _eks_name(desired)]
    plugin: dict[str, Any] = {
        "apiVersion": _EXEC,
        "command": command,
        "args": [*before, *told],
        "env": [{"name": key, "value": value} for key, value in sorted({**environment, **_passed_on()}.items())],
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": authority}}],
        "users": [{"name": name, "user": {"exec": plugin}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


def _yaml(value: dict[str, Any]) -> str:
    return str(_DUMP(value, sort_keys=False))


def _ourselves() -> tuple[str, list[str], dict[str, str]]:
    """How kubectl starts us: by our full path, wherever it runs; else as a module of this Python. (command, first
    arguments, environment)"""
    script = Path(sys.argv[0])
    if script.name == "instantstart" and script.is_file():
        return str(script.absolute()), [], {}
    found = shutil.which("instantstart")
    if found is not None:
        return found, [], {}
    source = Path(__file__).parents[3]
    return sys.executable, ["-m", "web"], {"PYTHONPATH": str(source)}


def _passed_on() -> dict[str, str]:
    """Where endpoints and profiles are; never a secret."""
    return {name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)}


def _describe(setup: Setup, desired: Desired, name: str) -> dict[str, Any]:
    from reconciler.live.errors import NotFound

    with _accounts(setup) as accounts:
        try:
            answer = accounts.session(desired.account, desired.region).read("eks", "DescribeCluster", name=name)
        except NotFound as error:
            raise InvalidInput(f"there is no EKS cluster {name} yet", reason="NoControlPlane") from error
    found: dict[str, Any] = answer["cluster"]
    return found


def _accounts(setup: Setup) -> Any:
    from reconciler.live.aws.accounts import AwsAccounts

    settings = setup.settings()
    return AwsAccounts(profile=settings.profile, role=settings.role)


def _desired(repo: ConfigRepo, cluster: str) -> Desired:
    from reconciler.engine.library import Library

    head = head_of(repo)
    must_know(repo, cluster, head)
    folder = Library(repo).folder(head, cluster)
    if folder is None or folder.desired is None:
        text = f"clusters/{cluster} cannot be read at {head[:7]}; instantstart validate says why"
        raise InvalidInput(text, reason="Invalid")
    return folder.desired


def _eks_name(desired: Desired) -> str:
    return next(r.name for r in desired.resources.values() if r.type == "eks.Cluster")
