"""CustomResourceDefinitions of the operators on a HyperPod cluster, as far as they lie beside this repository.

`KUBE_CRDS` names the folder; else it is looked for as `shared/crds` beside the repository. They are no part of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]

_ROOT = Path(__file__).parents[2]
_TAG_LINE = re.compile(r"^\s*\{\{.*\}\}\s*$", re.MULTILINE)  # of a chart's template: a condition, an annotation block
_TAG = re.compile(r"\{\{.*?\}\}")
_loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def folder() -> Path | None:
    """None where there is none."""
    given = os.environ.get("KUBE_CRDS")
    found = Path(given) if given else _ROOT.parent / "shared" / "crds"
    return found if found.is_dir() else None


def definitions() -> Iterator[Object]:
    """Each definition, without conversion webhooks: nobody answers them here."""
    place = folder()
    for file in sorted(place.glob("*.yaml")) if place else ():
        text = _TAG.sub("x", _TAG_LINE.sub("", file.read_text()))
        documents: Iterator[Any] = yaml.load_all(text, Loader=_loader)
        for document in documents:
            if document and document.get("kind") == "CustomResourceDefinition":
                yield without_webhooks(document)


def without_webhooks(definition: Object) -> Object:
    definition["spec"].pop("conversion", None)
    metadata: Object = {"name": definition["metadata"]["name"]}
    return {**definition, "metadata": metadata, "status": {}}
