"""Whether a command could be run as it is written: our own by our own parser, AWS's by the service's model, kubectl's
by what kubectl knows."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

import botocore
import botocore.session
from botocore.exceptions import UnknownServiceError
from click.exceptions import ClickException
from typer.main import get_command

from web.app import app

_KUBECTL = {
    ("describe", "node"),
    ("describe", "pod"),
    ("describe", "resourcequota"),
    ("get", "apiservices"),
    ("get", "namespace"),
    ("get", "pod"),
    ("logs",),
    ("uncordon",),
}
_SHELL = set("|&;<>$`\n")


def problem(command: str) -> str:
    """What is wrong with it; "" if nothing is."""
    words = shlex.split(command)
    if not words:
        return "no command"
    for word in words:
        if _SHELL & set(word) and f"'{word}'" not in command:
            return f"a shell would read more into {word!r}"
    checks = {"instantstart": _ours, "aws": _aws, "kubectl": _kubectl}
    return checks[words[0]](words[1:]) if words[0] in checks else f"{words[0]} is none that people have"


def _ours(words: list[str]) -> str:
    whole: Any = get_command(app)
    try:
        context = whole.make_context("instantstart", list(words))
        name, command, rest = whole.resolve_command(context, [*context._protected_args, *context.args])
        command.make_context(name, rest, parent=context)
    except ClickException as error:
        return error.format_message()
    return ""


def _aws(words: list[str]) -> str:
    service, operation, *rest = words
    try:
        model = _service(service)
    except UnknownServiceError:
        return f"AWS has no service {service}"
    named = {_dashed(name): name for name in model.operation_names}
    if operation not in named:
        return f"{service} has no operation {operation}"
    shape = model.operation_model(named[operation]).input_shape
    known = {_dashed(name) for name in shape.members} if shape is not None else set[str]()
    wanted = {_dashed(name) for name in shape.required_members} if shape is not None else set[str]()
    given = {word.removeprefix("--") for word in rest if word.startswith("--")}
    if unknown := given - known - {"region", "query"}:
        return f"{operation} takes no {unknown}"
    if missing := wanted - given:
        return f"{operation} needs {missing}"
    values = [word for word in rest if not word.startswith("--")]
    return "" if all(values) and len(values) >= len(given) else "an option without its value"


def _dashed(name: str) -> str:
    boto: Any = botocore
    return str(boto.xform_name(name, "-"))


@cache
def _service(name: str) -> Any:
    boto: Any = botocore.session
    return boto.get_session().get_service_model("s3" if name == "s3api" else name)


def _kubectl(words: list[str]) -> str:
    if words[0] == "-n":
        if len(words) < 3 or not words[1]:
            return "-n without a namespace"
        words = words[2:]
    if (words[0],) in _KUBECTL:
        return "" if len(words) > 1 and words[1] else f"{words[0]} of what?"
    if tuple(words[:2]) not in _KUBECTL:
        return f"kubectl has no {' '.join(words[:2])} here"
    return "" if words[1] in ("resourcequota", "apiservices") or len(words) > 2 else "of which one?"
