"""From pydantic's errors to problems a person can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from schemas import quantities
from schemas.documents import walk, words
from schemas.documents.problems import Problem, placeholder_in, problem, shown_value
from schemas.documents.shapes import RULES_ERROR, Broken, Shape
from schemas.reading.records import Path, Positions

_KEY: Final = "[key]"
_MOST_LEVELS: Final = 6
_TYPES: Final[dict[str, str]] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def problems_of(
    model: type[Shape], value: Any, error: ValidationError, positions: Positions, file: str
) -> list[Problem]:
    """Every problem of one document, in the order of the file.

    pydantic does not come to a model's rules while one of its fields is wrong. So what is wrong is left out and the
    rest is looked at again, until nothing new is found.
    """
    found = list(_field_problems(model, error, positions, file))
    wrong: list[Path] = []
    current: ValidationError | None = error
    for _ in range(_MOST_LEVELS):
        if current is None:
            break
        found.extend(_rule_problems(current, wrong, positions, file))
        wrong.extend(_path(details) for details in current.errors(include_url=False))
        current = _refusal(model, _without(value, wrong))
    return sorted(dict.fromkeys(found), key=lambda item: (item.line, item.column, item.field))


def nearest(name: str, known: Iterable[str], also_known: Mapping[str, str]) -> str | None:
    """The word that was probably meant."""
    lower = {word.lower(): word for word in known}
    synonyms = {word.lower(): meant for word, meant in also_known.items()}
    if found := lower.get(name.lower()) or synonyms.get(name.lower()):
        return found
    close = difflib.get_close_matches(name.lower(), [*lower, *synonyms], n=1, cutoff=0.7)
    return (lower.get(close[0]) or synonyms[close[0]]) if close else None


def _field_problems(model: type[Shape], error: ValidationError, positions: Positions, file: str) -> Iterator[Problem]:
    for details in error.errors(include_url=False):
        if details["type"] != RULES_ERROR and not _is_echo(details):
            yield _field_problem(model, details, _path(details), positions, file)


def _is_echo(details: ErrorDetails) -> bool:
    """A list called too short only because its items are wrong, which is said of each of them."""
    given: Any = details["input"]
    return details["type"] == "too_short" and len(given) >= details.get("ctx", {})["min_length"]


def _rule_problems(error: ValidationError, wrong: list[Path], positions: Positions, file: str) -> Iterator[Problem]:
    """Broken rules, but for those that look at something already known to be wrong: they may be echoes of it."""
    for details in error.errors(include_url=False):
        if details["type"] != RULES_ERROR:
            continue
        model_path = _path(details)
        for broken in cast("tuple[Broken, ...]", details.get("ctx", {})["broken"]):
            paths = [(*model_path, *field) for field in broken.fields]
            if not any(_overlap(path, other) for path in paths for other in wrong):
                spot = positions.key(paths[0])
                yield problem(file, spot, paths[0], expected=broken.expected, found=broken.found, hint=broken.hint)


def _path(details: ErrorDetails) -> Path:
    return tuple(step for step in details["loc"] if step != _KEY)


def _refusal(model: type[Shape], value: Any) -> ValidationError | None:
    try:
        model.model_validate(value)
    except ValidationError as error:
        return error
    return None


def _field_problem(model: type[Shape], details: ErrorDetails, path: Path, positions: Positions, file: str) -> Problem:
    kind, given, context = details["type"], details["input"], details.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_field(model, path, positions, file)
    if kind == "missing":
        wanted = _of_type(walk.type_at(model, path), given=None) or ("a value", "")
        spot = positions.value(path)
        return problem(file, spot, path, expected=wanted[0], found="nothing", hint="this field is required")
    spot = positions.key(path) if details["loc"][-1:] == (_KEY,) else positions.value(path)
    found = shown_value(given, written=positions.numbers.get(path), path=path)
    if variable := placeholder_in(given):
        return problem(
            file,
            spot,
            path,
            expected=_expected(model, kind, given, context, path)[0],
            found=f"the placeholder {variable}",
            hint="nothing is substituted here: write the value",
        )
    expected, hint = _expected(model, kind, given, context, path)
    return problem(file, spot, path, expected=expected, found=found, hint=hint)


def _expected(model: type[Shape], kind: str, given: object, context: Mapping[str, Any], path: Path) -> tuple[str, str]:
    match kind:
        case words.WORD_ERROR:
            return context["expected"], context["hint"]
        case "string_pattern_mismatch":
            return _with_unit(context["pattern"], given)
        case "literal_error":
            return _one_of(walk.choices(walk.type_at(model, path)), given)
        case "greater_than_equal":
            return f"at least {context['ge']}", ""
        case "less_than_equal":
            return f"at most {context['le']}", ""
        case "too_short":
            return f"at least {context['min_length']} entries", "or leave the field out"
        case "too_long":
            return f"at most {context['max_length']} entries", ""
        case "string_too_short" | "string_too_long" | "string_type":
            declared = _of_type(walk.type_at(model, path), given=given)
            return declared or ("text", "quote it" if isinstance(given, bool | int | float) else "")
        case "finite_number":
            return "a finite number", ""
        case _:
            return _TYPES.get(kind, "something else"), ""


def _of_type(declared: Any, *, given: object) -> tuple[str, str] | None:
    """What a declared type expects, where it can be said."""
    if pattern := walk.pattern_of(declared):
        return _with_unit(pattern, given)
    if options := walk.choices(declared):
        return _one_of(options, "")
    return None


def _with_unit(pattern: str, given: object) -> tuple[str, str]:
    expected, hint = words.expected_for(pattern)
    if pattern == quantities.BYTES_PATTERN and str(given).isdigit():
        hint = f"a bare number means bytes: write {given}Gi"
    return expected, hint


def _one_of(options: tuple[str, ...], given: object) -> tuple[str, str]:
    if not options:
        return "another value", ""
    expected = options[0] if len(options) == 1 else f"one of {', '.join(options)}"
    meant = nearest(given, options, {}) if isinstance(given, str) and given else None
    return expected, f"did you mean {meant}?" if meant else ""


def _unknown_field(model: type[Shape], path: Path, positions: Positions, file: str) -> Problem:
    owner = walk.model_at(model, path[:-1])
    known = [field.alias or name for name, field in owner.model_fields.items()] if owner else []
    meant = nearest(str(path[-1]), known, owner.also_known if owner else {})
    hint = f"did you mean {meant}?" if meant else f"known: {', '.join(known)}" if known else "it takes no fields"
    return problem(
        file, positions.key(path), path, expected="a known field", found=f"`{str(path[-1])[:60]}`", hint=hint
    )


def _without(value: Any, paths: list[Path], here: Path = ()) -> Any:
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        kept = {key: item for key, item in mapping.items() if (*here, key) not in paths}
        return {key: _without(item, paths, (*here, key)) for key, item in kept.items()}
    if isinstance(value, list):
        # Items keep their places, so that indexes in further problems stay right.
        items = enumerate(cast("Sequence[Any]", value))
        return [_without(item, paths, (*here, index)) for index, item in items]
    return value


def _overlap(one: Path, other: Path) -> bool:
    length = min(len(one), len(other))
    return one[:length] == other[:length]
