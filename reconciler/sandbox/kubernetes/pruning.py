"""Reading a body against a shape: unknown fields are dropped and named, wrong types found, quantities made canonical.

The real server does this in its decoder (built-in kinds) and in the
structural schema (custom kinds); both end in a clean copy.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from reconciler.sandbox.kubernetes import quantities
from reconciler.sandbox.kubernetes import shapes as s
from reconciler.sandbox.kubernetes.objects import Object, clone, is_list
from reconciler.sandbox.kubernetes.shapes import Shape


@dataclass(slots=True)
class Findings:
    """Paths as people read them: `spec.containers[0].image`."""

    unknown: list[str] = field(default_factory=list[str])
    mistyped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # path, what was expected
    missing: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # path of the parent, field


def prune(body: Object, shape: Shape, *, custom: bool) -> tuple[Object, Findings]:
    """A clean copy of `body` and what was wrong with it. Null means absent, except where a custom shape is nullable."""
    findings = Findings()
    clean: Object = _walk(body, shape, "", findings, custom)
    return clean, findings


_TOP = frozenset({"apiVersion", "kind", "metadata"})


def _walk(value: Any, shape: Shape, path: str, findings: Findings, custom: bool) -> Any:
    kind = shape.type
    if kind == s.STRING:
        if type(value) is not str:
            findings.mistyped.append((path, "string"))
        return value
    if kind == s.OBJECT:
        return _object(value, shape, path, findings, custom)
    if kind == s.MAP:
        return _map(value, shape, path, findings, custom)
    if kind == s.LIST:
        if not is_list(value):
            findings.mistyped.append((path, "array"))
            return value
        element = shape.element or s.ANYTHING
        return [_walk(item, element, f"{path}[{i}]", findings, custom) for i, item in enumerate(value)]
    if kind == s.QUANTITY:
        return _quantity(value, path, findings)
    return _scalar(value, shape, path, findings)


def _object(value: Any, shape: Shape, path: str, findings: Findings, custom: bool) -> Any:
    if type(value) is not dict:
        findings.mistyped.append((path, "object"))
        return value
    clean: Object = {}
    fields = shape.fields
    tree = cast(Object, value)
    for key, child in tree.items():
        known = fields.get(key)
        if known is None:
            if shape.open or (shape.embedded and key in _TOP):
                clean[key] = clone(child)
            else:
                findings.unknown.append(f"{path}.{key}" if path else key)
        elif child is not None:
            clean[key] = _walk(child, known, f"{path}.{key}" if path else key, findings, custom)
        elif custom and not known.has_default:
            clean[key] = None  # validation will have a word
        # a null over a default, or in a built-in kind, is the same as absent
    for name in shape.required:
        if name not in clean:
            findings.missing.append((path, name))
    return clean


def _map(value: Any, shape: Shape, path: str, findings: Findings, custom: bool) -> Any:
    if type(value) is not dict:
        findings.mistyped.append((path, "object"))
        return value
    element = shape.element or s.ANYTHING
    tree = cast(Object, value)
    if element.type == s.STRING and not custom:
        # maps of strings (labels, data) are most of what is sent
        if all(type(child) is str for child in tree.values()):
            return dict(tree)
        return {key: _text(child, f"{path}.{key}", findings) for key, child in tree.items()}
    return {
        key: _walk(child, element, f"{path}.{key}", findings, custom)
        for key, child in tree.items()
        if custom or child is not None
    }


def _text(value: Any, path: str, findings: Findings) -> Any:
    if value is None:
        return ""  # encoding/json leaves the zero value in a map of strings
    if type(value) is not str:
        findings.mistyped.append((path, "string"))
    return value


def _quantity(value: Any, path: str, findings: Findings) -> Any:
    if type(value) not in (str, int, float):
        findings.mistyped.append((path, "quantity"))
        return value
    try:
        return quantities.canonical(str(value))
    except ValueError:
        findings.mistyped.append((path, "quantity"))
        return value


def _scalar(value: Any, shape: Shape, path: str, findings: Findings) -> Any:
    kind = shape.type
    if kind == s.ANY:
        return clone(value)
    if kind == s.INTEGER:
        if type(value) is float and value.is_integer():
            return int(value)
        fits = type(value) is int
    elif kind == s.BOOLEAN:
        fits = type(value) is bool
    elif kind == s.NUMBER:
        fits = type(value) in (int, float)
    else:
        fits = type(value) in (int, str)
    if not fits:
        findings.mistyped.append((path, kind))
    return value
