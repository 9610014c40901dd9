"""Names that people would take for another's."""

from __future__ import annotations

import pytest

from schemas.lookalikes import lookalike


@pytest.mark.parametrize(
    ("name", "taken_for", "why"),
    [
        ("alice@example.com", None, "plain"),
        ("\u0430lice@example.com", "alice@example.com", "one Cyrillic letter"),
        ("\u0430\u0435\u0440@example.com", "aep@example.com", "a part that is all Cyrillic and looks Latin"),
        ("\u0410lice", "alice", "a capital one"),
        ("alice@ex\u0430mple.com", "alice@example.com", "in the domain"),
        ("b\u03bfb", "bob", "a Greek omicron"),
        ("\u0251lice", "alice", "a phonetic one, which is called Latin"),
        ("\uff41lice", None, "full width is the same name, and compared as such"),
        ("\u0438van", "\u0438van", "mixed, though nothing looks alike"),
        ("\u0438\u0432\u0430\u043d@example.com", None, "a Russian name at a Latin domain"),
        ("\u03b3\u03b9\u03ce\u03c1\u03b3\u03bf\u03c2", None, "a Greek name"),
        ("jos\u00e9@example.com", None, "an accent is seen"),
        ("stra\u00dfe", None, "German"),
        ("\u5c71\u7530 taro", None, "a part in each script"),
        ("ci-runner 7", None, "no person"),
    ],
)
def test_what_a_name_is_taken_for(name: str, taken_for: str | None, why: str) -> None:
    assert lookalike(name) == taken_for, why
