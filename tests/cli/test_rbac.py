"""The roles that people give the reconciler: what kubectl is handed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import yaml

from reconciler.live.kube import rights

_yaml: Any = yaml  # its stubs leave the documents' type open


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "web", "rbac", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_it_is_yaml_for_kubectl_and_says_what_each_right_is_for() -> None:
    text = run()
    assert list(_yaml.safe_load_all(text)) == rights.manifests()
    for rule in (*rights.OURS, *rights.READS, *rights.HELM):
        assert rule.why in text


def test_without_the_chart_nobody_may_give_rights() -> None:
    bodies = json.loads(run("--no-chart", "--json"))["items"]
    assert {body["metadata"]["name"] for body in bodies} == {
        rights.RECONCILER,
        rights.READER,
        f"{rights.READER}:{rights.VIEW}",
    }
    verbs = {verb for body in bodies for rule in body.get("rules", ()) for verb in rule["verbs"]}
    assert not verbs & {"escalate", "bind", "impersonate", "*"}
    groups = {group for body in bodies for rule in body.get("rules", ()) for group in rule["apiGroups"]}
    assert groups == {"", "apps"}, "no role, no binding, no webhook, no kind"
