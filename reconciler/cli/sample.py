"""The sample config repository that the package carries: what `init` copies and the demo seeds."""

from __future__ import annotations

from pathlib import Path

from schemas.errors import InvalidInput

_SKIPPED = ("__pycache__", ".DS_Store")


def sample_dir() -> Path:
    """The folder that holds what goes into `clusters/`: inside an installed wheel, else in the source tree."""
    packaged = Path(__file__).with_name("sample")
    source = Path(__file__).parent.parent.parent / "clusters"
    for folder in (packaged, source):
        if folder.is_dir():
            return folder
    raise InvalidInput("the sample is not part of this installation; install it again", reason="NoSample")


def read_sample() -> dict[str, bytes]:
    """Path in the repository → content."""
    root = sample_dir()
    return {
        f"clusters/{path.relative_to(root).as_posix()}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not any(part in _SKIPPED for part in path.parts)
    }
