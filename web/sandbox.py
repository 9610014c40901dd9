"""sandbox: the small real cloud, in the foreground."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from typing import Annotated, Literal

import typer

from reconciler.cli import output
from reconciler.cli.setup import AsJson
from schemas.errors import InvalidInput

KubernetesOption = Annotated[
    Literal["simulated", "real"],
    typer.Option(help="What serves the clusters. real: the API server that make kube-assets builds."),
]
_NEEDED = ("moto", "cryptography", "starlette", "uvicorn")


def add_to(app: typer.Typer) -> None:
    app.command("sandbox")(sandbox)


def sandbox(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 0,
    rate: Annotated[
        float, typer.Option(min=0.001, envvar="INSTANTSTART_CLOCK_RATE", help="Simulated seconds per second.")
    ] = 1.0,
    account: Annotated[str, typer.Option(help="The account that exists from the start.")] = "111122223333",
    region: Annotated[str, typer.Option(help="The Region that clients should use.")] = "us-west-2",
    kubernetes: KubernetesOption = "simulated",
    as_json: AsJson = False,
) -> None:
    """Run a simulated AWS. With Kubernetes, until Ctrl-C."""
    must_have_sandbox()
    command = [sys.executable, "-m", "reconciler.sandbox", "--port", str(port), "--rate", str(rate)]
    command += ["--account", account, "--region", region, "--kubernetes", kubernetes]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)

    def stop(*_: object) -> None:
        process.terminate()

    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise InvalidInput("the sandbox did not start; its own words are above", reason="NoSandbox")
        about = json.loads(line)
        if as_json:
            output.document(about)
        else:
            output.lines(["The sandbox is up. In another terminal:", *(f"  {text}" for text in exports(about))])
        sys.stdout.flush()
        process.wait()
    except KeyboardInterrupt:
        pass
    finally:
        stop()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def exports(about: dict[str, object]) -> list[str]:
    """Shell lines that point any AWS client, and us, at a sandbox."""
    return [
        f"export AWS_ENDPOINT_URL={about['endpoint']}",
        f"export AWS_ACCESS_KEY_ID={about['access_key']}",
        f"export AWS_SECRET_ACCESS_KEY={about['secret_key']}",
        f"export AWS_DEFAULT_REGION={about['region']}",
        f"export INSTANTSTART_CLOCK_RATE={about['rate']}",
        f"export INSTANTSTART_CLOCK_ORIGIN={about['origin']}",
    ]


def must_have_sandbox() -> None:
    """Raises InvalidInput if the extra is not installed."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        text = f"the sandbox needs {', '.join(missing)}; install it: pip install 'instantstart[sandbox]'"
        raise InvalidInput(text, reason="NoSandbox")
