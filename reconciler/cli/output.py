"""Printing: JSON or words, never both, and errors as one line that says what, where and what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

_NAMED = 3
_WAYS = {
    "NotARepository": "name one with --repository, or make one: instantstart init PATH",
    "RemoteUnavailable": "try again when the remote answers",
    "RemoteAuthFailed": "check the credential for the remote",
    "RefMoved": "somebody else was faster: run it again",
    "WorkTreeInTheWay": "commit or set aside the changes in the checkout",
    "WrongAccount": "use the credentials of the account that the document names",
    "NoCredentials": "give AWS credentials, with AWS_PROFILE for example",
}

STYLES = {
    "Ready": "green",
    "Reconciling": "cyan",
    "Progressing": "cyan",
    "Waiting": "yellow",
    "Stalled": "bold red",
    "Failed": "bold red",
    "Unknown": "magenta",
    "Superseded": "dim",
    "Gone": "dim",
}


def console(file: TextIO | None = None) -> Console:
    """Made when it is used, because tests and pipes exchange stdout. No wrapping: terminals do that, and pipes want
    lines whole. Colours only on a terminal and without NO_COLOR."""
    return Console(file=file or sys.stdout, highlight=False, soft_wrap=True, emoji=False, markup=False)


def document(value: BaseModel | dict[str, Any] | list[Any]) -> None:
    """The one JSON document of a command."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n")


def lines(texts: Iterable[Text | str]) -> None:
    shown = console()
    for text in texts:
        line = text if isinstance(text, Text) else Text(clean(text))
        line.rstrip()
        shown.print(line)


def note(text: str) -> None:
    """To stderr: for people who watch, beside a result on stdout."""
    console(sys.stderr).print(Text(clean(text)))


def failure(reason: str, message: str, *, as_json: bool) -> None:
    way = _WAYS.get(reason, "")
    one_line = " ".join(clean(message).split())
    text = Text("instantstart: ", style="bold red") + Text(one_line)
    if way and way not in one_line:
        text.append(f"; {way}")
    console(sys.stderr).print(text)
    if as_json:
        document({"error": {"reason": reason, "message": message, "way": way}})


def columns(rows: Iterable[Iterable[Text | str]], *, indent: int = 0, gap: int = 2) -> list[Text]:
    """Rows as aligned lines; the last column is not padded."""
    cells = [[cell if isinstance(cell, Text) else Text(clean(cell)) for cell in row] for row in rows]
    count = max((len(row) for row in cells), default=0)
    widths = [max((row[at].cell_len for row in cells if at < len(row)), default=0) for at in range(count)]
    made: list[Text] = []
    for row in cells:
        line = Text(" " * indent)
        for at, cell in enumerate(row):
            line.append_text(cell)
            if at < len(row) - 1:
                line.append(" " * (widths[at] - cell.cell_len + gap))
        line.rstrip()
        made.append(line)
    return made


def state(word: str) -> Text:
    return Text(word, style=STYLES.get(word, ""))


def clean(text: str) -> str:
    """Text from outside without control characters: it must not move the cursor or change the title."""
    return "".join(c if c == "\n" or c == "\t" or c.isprintable() else "�" for c in text)


def short(revision: str | None) -> str:
    return revision[:7] if revision else "-"


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def clock(at: str) -> str:
    """The time of day of a journal time."""
    return at[11:19]


def minute(at: str) -> str:
    """Date and minute."""
    return f"{at[:10]} {at[11:16]}" if at else "-"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    as_json = getattr(value, "as_json", None)
    return as_json() if as_json is not None else str(value)
