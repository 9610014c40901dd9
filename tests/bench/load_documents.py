"""One start over a whole repository in a process of its own: `ours`, `ours-desired` or `plain`. Last line: JSON.

`plain` is what one would write first: ls-tree and cat-file, PyYAML's C loader, pydantic on the same models. It tells
no places of errors, takes duplicate keys and anchors, and looks for no secrets.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.bench.measuring import memory_now, memory_peak


def main() -> None:
    way, path, state = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    start, cpu = time.perf_counter(), time.process_time()
    kept = {"ours": ours, "ours-desired": ours_desired, "plain": plain}[way](path, state)
    told = {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "found": len(kept),
        "held": memory_now(),
        "peak": memory_peak(),
    }
    print(json.dumps(told))


def ours(path: Path, state: Path) -> list[Any]:
    """Documents as the product reads them at a start. `state` is empty, or holds what an earlier start left."""
    from reconciler.config_repo.repo import ConfigRepo
    from reconciler.engine.library import Library

    with ConfigRepo.open(str(path), state_dir=state, writer="bench") as repo:
        library = Library(repo, state / "documents")
        loaded = list(library.read(repo.clusters(repo.resolve("main"))))
    assert not any(one.problems for one in loaded)
    return [document for one in loaded for document in one.documents]


def ours_desired(path: Path, state: Path) -> list[Any]:
    """All the way to the resources of every cluster, as an engine's first tick needs them; documents stay packed."""
    from reconciler.config_repo.repo import ConfigRepo
    from reconciler.engine.library import Library

    with ConfigRepo.open(str(path), state_dir=state, writer="bench") as repo:
        library = Library(repo, state / "documents")
        trees = repo.clusters(repo.resolve("main"))
        library.prepare(trees)
        folders = [library.current(tree, name) for name, tree in trees.items()]
    assert all(folder.desired is not None for folder in folders)
    return folders


def plain(path: Path, _state: Path) -> list[Any]:
    import subprocess

    import yaml

    from schemas.documents.kinds import KINDS

    loader: Any = yaml.CSafeLoader
    git = ["git", "-C", str(path)]
    listed = subprocess.run([*git, "ls-tree", "-r", "main", "clusters/"], capture_output=True, check=True).stdout
    ids = b"".join(line.split(b"\t")[0].split()[2] + b"\n" for line in listed.splitlines())
    batch = subprocess.run([*git, "cat-file", "--batch", "--buffer"], input=ids, capture_output=True, check=True).stdout
    found: list[Any] = []
    at = 0
    while at < len(batch):
        end = batch.index(b"\n", at)
        size = int(batch[at:end].split()[2])
        for value in yaml.load_all(batch[end + 1 : end + 1 + size], Loader=loader):
            found.append(KINDS[value["kind"]].model_validate(value))
        at = end + 1 + size + 1
    return found


if __name__ == "__main__":
    main()
