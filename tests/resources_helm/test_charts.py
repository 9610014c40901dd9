"""Charts from git: what is accepted, what is fetched, and which sub-charts are completed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.resources.helm.charts import Missing, chart_of, checked_out, complete, switched_off
from schemas.errors import StopUntilChange

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GOOD = {"repository": "https://example.com/charts.git", "path": "helm/chart", "commit": COMMIT}


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("an option is no repository", {"repository": "--upload-pack=touch /x"}),
        ("git's own command transport", {"repository": "ext::sh -c id"}),
        ("a plain path of this machine", {"repository": "/srv/charts"}),
        ("a line break", {"repository": "https://example.com/a\nb"}),
        ("a branch is not pinned", {"commit": "main"}),
        ("a short id may become ambiguous", {"commit": "0123456"}),
        ("out of the repository", {"path": "../other"}),
        ("out of it in the middle", {"path": "helm/../../other"}),
        ("an absolute path", {"path": "/etc"}),
        ("an option is no path", {"path": "-x"}),
        ("pathspec magic", {"path": ":(top)x"}),
        ("nothing", {"path": ""}),
    ],
)
def test_what_git_must_never_see(why: str, change: dict[str, str]) -> None:
    with pytest.raises(StopUntilChange) as caught:
        chart_of({**GOOD, **change})
    assert caught.value.reason == "InvalidChart", why


def test_a_commit_is_fetched_once(tmp_path: Path, chart: dict[str, str]) -> None:
    found = checked_out(chart_of(chart), str(tmp_path))
    assert (found / "Chart.yaml").is_file() and not (tmp_path / "charts").joinpath(".git").exists()
    gone = chart_of({**chart, "repository": chart["repository"]})
    mark = found / "mark"
    mark.touch()
    assert (checked_out(gone, str(tmp_path)) / "mark").exists(), "the second time nothing is fetched"


def test_a_commit_that_is_not_there(tmp_path: Path, chart: dict[str, str]) -> None:
    with pytest.raises(StopUntilChange) as caught:
        checked_out(chart_of({**chart, "commit": COMMIT}), str(tmp_path))
    assert caught.value.reason == "ChartNotFound"


@pytest.mark.parametrize(
    ("why", "condition", "values", "off"),
    [
        ("no condition is on", None, {}, False),
        ("not said is on", "a.enabled", {}, False),
        ("said off", "a.enabled", {"a": {"enabled": False}}, True),
        ("said on", "a.enabled", {"a": {"enabled": True}}, False),
        ("the first path that says something decides", "a.x,b.y", {"b": {"y": False}}, True),
        ("a later path does not", "a.x,b.y", {"a": {"x": True}, "b": {"y": False}}, False),
        ("what is no boolean says nothing", "a.enabled", {"a": {"enabled": "no"}}, False),
    ],
)
def test_conditions_of_sub_charts(why: str, condition: str | None, values: dict[str, Any], off: bool) -> None:
    assert switched_off({"name": "a", "condition": condition}, values) is off, why


def write(root: Path, dependencies: list[dict[str, str]], values: dict[str, Any], held: list[str]) -> Path:
    directory = root / "source"
    (directory / "charts").mkdir(parents=True)
    described = {"apiVersion": "v2", "name": "whole", "version": "0.1.0", "dependencies": dependencies}
    (directory / "Chart.yaml").write_text(json.dumps(described))
    (directory / "values.yaml").write_text(json.dumps(values))
    for name in held:
        (directory / "charts" / name).mkdir()
    return directory


def test_only_what_is_missing_and_switched_on_is_pulled(tmp_path: Path) -> None:
    dependencies = [
        {"name": "held", "version": "1.0.0", "repository": "file://charts/held"},
        {"name": "other-name", "version": "1.0.0", "repository": "file://charts/folder"},
        {"name": "plugin", "version": "0.16.1", "repository": "https://example.com/charts", "condition": "plugin.on"},
        {"name": "certs", "version": "v1.18.2", "repository": "oci://example.com/charts", "condition": "certs.on"},
    ]
    defaults = {"plugin": {"on": True}, "certs": {"on": True}}
    source = write(tmp_path, dependencies, defaults, ["held", "folder"])
    pulled: list[Missing] = []
    (tmp_path / "work").mkdir()
    copy = complete(source, {"certs": {"on": False}}, tmp_path / "work", lambda m, _: pulled.append(m))
    assert pulled == [Missing(name="plugin", version="0.16.1", repository="https://example.com/charts")]
    names = [d["name"] for d in yaml.safe_load((copy / "Chart.yaml").read_text())["dependencies"]]
    assert names == ["held", "other-name", "plugin"], "what is off and not there is left out, or helm would refuse"
    assert "certs" in (source / "Chart.yaml").read_text(), "the kept chart stays as it came"


def test_a_local_sub_chart_that_is_missing_cannot_be_pulled(tmp_path: Path) -> None:
    source = write(tmp_path, [{"name": "gone", "version": "1.0.0", "repository": "file://charts/gone"}], {}, [])
    (tmp_path / "work").mkdir()
    with pytest.raises(StopUntilChange) as caught:
        complete(source, {}, tmp_path / "work", lambda _m, _p: None)
    assert caught.value.reason == "ChartIncomplete"
