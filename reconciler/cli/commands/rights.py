"""rbac: the roles that the reconciler needs in a cluster that it did not make itself."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
import yaml

from reconciler.cli import output
from reconciler.cli.setup import AsJson

# The stubs leave some of its parameters unknown.
_DUMP_ALL: Any = vars(yaml)["safe_dump_all"]


def add_to(app: typer.Typer) -> None:
    app.command("rbac")(rbac)


def rbac(
    chart: Annotated[
        bool, typer.Option("--chart/--no-chart", help="With or without what installing the HyperPod chart needs.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Print the reconciler's Kubernetes roles. For clusters where it shall not be an administrator."""
    from reconciler.live.kube import rights

    found = rights.manifests(chart=chart)
    if as_json:
        output.document({"apiVersion": "v1", "kind": "List", "items": found})
        return
    lines = [
        "# Rights of InstantStart's reconciler. Its access entry needs the Kubernetes group",
        f"# {rights.GROUP}: aws eks create-access-entry --kubernetes-groups {rights.GROUP} ...",
    ]
    parts = [("Itself:", rights.OURS), ("For people who look, with the role view:", rights.READS)]
    parts += [("For Helm:", rights.HELM)] if chart else []
    for title, rules in parts:
        lines.append(f"# {title}")
        lines += [f"#   {', '.join(r.verbs)} {', '.join(r.resources)}: {r.why}" for r in rules]
    sys.stdout.write("\n".join(lines) + "\n" + str(_DUMP_ALL(found, sort_keys=False)))
