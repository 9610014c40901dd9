"""One field of a file of 2,000 lines: the edit of its text, checked, beside reading the file and writing it anew."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, cast

import yaml

from reconciler.edits.apply import apply
from reconciler.edits.merge import merge
from schemas.reading.read import read
from tests.bench.config_documents import group_document
from tests.bench.rows import Goal, Row, Size

_PATH = "clusters/c0/groups.yaml"


def main(size: Size = Size.NORMAL) -> list[Row]:
    lines = 100 if size is Size.TINY else 2000
    texts: list[str] = []
    while sum(text.count("\n") for text in texts) < lines:
        texts.append(group_document(f"group-{len(texts)}", len(texts)))
    data = "".join(texts).encode()
    target = len(texts) // 2
    times = 3 if size is Size.TINY else 25

    def field(name: str, value: Any) -> bytes:
        return apply(data, target, [{"op": "replace", "path": f"/spec/{name}", "value": value}], path=_PATH)

    counted, placed = field("count", 9), field("zone", "usw2-az4")
    merged = merge(data, counted, placed, path=_PATH)
    assert merged is not None
    for number, text in enumerate(texts):  # nothing else differs
        wanted = text.replace("count: 4", "count: 9") if number == target else text
        assert wanted in counted.decode()
    what = f"in a file of {len(data.splitlines())} lines"
    return [
        Row(
            bench=f"edit of one field {what}",
            measured=_median(lambda: field("count", 9), times),
            unit="ms",
            reference=_median(lambda: _anew(data), times),
            against="CSafeLoader and CSafeDumper, which lose comments, order and quotes",
            goal=Goal.AT_MOST,
            limit=30,
            note=f"CPU; read, edited, read again; reading alone {_median(lambda: read(_PATH, data), times):.1f} ms",
        ),
        Row(
            bench=f"a new entry with comments around it {what}",
            measured=_median(lambda: field("labels", {"team": "other", "tier": "gold"}), times),
            unit="ms",
            goal=Goal.AT_MOST,
            limit=30,
        ),
        Row(
            bench=f"merge of two fields in lines that touch {what}",
            measured=_median(lambda: merge(data, counted, placed, path=_PATH), times),
            unit="ms",
        ),
    ]


def _anew(data: bytes) -> str:
    library = cast("Any", yaml)
    found: str = library.dump_all(list(library.load_all(data, library.CSafeLoader)), Dumper=library.CSafeDumper)
    return found


def _median(action: Callable[[], object], times: int) -> float:
    """Milliseconds of CPU: all of this is computing, and other processes should not count."""
    samples: list[float] = []
    for _ in range(times):
        start = time.process_time()
        action()
        samples.append((time.process_time() - start) * 1000)
    return statistics.median(samples)


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
