"""Skills: one source, in the open Agent Skills format; the wheel carries them, a source tree has them at its root."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from schemas.errors import InvalidInput

_FILE: Final = "SKILL.md"
_FRONT: Final = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Skill:
    """`text`: the whole file; `body`: what is behind its front matter."""

    name: str
    description: str
    text: str
    body: str


def folder() -> Path:
    """Where the skills are. Raises InvalidInput if this installation has none."""
    here = Path(__file__).parent
    for found in (here / "skills", here.parents[1] / "skills"):
        if any(found.glob(f"*/{_FILE}")):
            return found
    raise InvalidInput("the skills are not part of this installation; install it again", reason="NoSkills")


def skills() -> tuple[Skill, ...]:
    """By name."""
    return tuple(_read(path) for path in sorted(folder().glob(f"*/{_FILE}")))


def skill(name: str) -> Skill | None:
    return next((one for one in skills() if one.name == name), None)


def _read(path: Path) -> Skill:
    text = path.read_text(encoding="utf-8")
    found = _FRONT.match(text)
    assert found is not None, path
    told = yaml.safe_load(found.group(1))
    return Skill(name=told["name"], description=told["description"], text=text, body=found.group(2).strip())
