"""The smallest edit that sets spec.suspend: everything else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.cli.sample import read_sample
from reconciler.cli.suspension import set_suspend
from schemas.errors import InvalidInput
from tests.cli.clibox import CLUSTER, CliBox

HEAD = "kind: Cluster\nmetadata:\n  name: demo\n"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (f"{HEAD}spec:\n  a: 1\n", f"{HEAD}spec:\n  suspend: true\n  a: 1\n", "a new line below spec"),
        (f"{HEAD}spec:   # why\n    a: 1\n", f"{HEAD}spec:   # why\n    suspend: true\n    a: 1\n", "its indent"),
        (f"{HEAD}spec:\n\n  # c\n  a: 1\n", f"{HEAD}spec:\n  suspend: true\n\n  # c\n  a: 1\n", "comments stay"),
        (
            f"{HEAD}spec:\n  a: 1\n  suspend: false  # c\n",
            f"{HEAD}spec:\n  a: 1\n  suspend: true  # c\n",
            "one word",
        ),
        (f"{HEAD}spec: {{suspend: false, a: 1}}\n", f"{HEAD}spec: {{suspend: true, a: 1}}\n", "one word in a flow"),
        (f"{HEAD}spec:\n  a: 1\n".replace("\n", "\r\n"), None, "CRLF stays"),
        (f"kind: Other\nspec:\n  b: 2\n---\n{HEAD}spec:\n  a: 1\n", None, "the right document of several"),
        (f"\ufeff{HEAD}spec:\n  a: 1\n", None, "a byte order mark stays"),
        (f"{HEAD}spec:\n  a: 1", f"{HEAD}spec:\n  suspend: true\n  a: 1", "no newline at the end stays so"),
    ],
)
def test_suspend(before: str, after: str | None, why: str) -> None:
    edited = set_suspend("cluster.yaml", before.encode(), CLUSTER, True)
    assert edited is not None, why
    if after is None:
        new_line = "  suspend: true\r\n" if "\r\n" in before else "  suspend: true\n"
        at = before.index("  a: 1")
        after = before[:at] + new_line + before[at:]
    assert edited.decode() == after, why


def test_json_can_be_flipped_but_not_extended() -> None:
    text = b'{"kind": "Cluster", "metadata": {"name": "demo"}, "spec": {"suspend": false}}'
    assert set_suspend("c.json", text, CLUSTER, True) == text.replace(b"false", b"true")
    with pytest.raises(InvalidInput, match=r"c\.json:1:\d+"):
        set_suspend("c.json", text.replace(b'"suspend": false', b""), CLUSTER, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{HEAD}spec: {{a: 1}}\n", r"cluster\.yaml:4:1: spec is not written as a block"),
        (f"{HEAD}spec: {{}}\n", "by hand"),
        (f"{HEAD}spec: 3\n", "spec is no mapping"),
        (f"{HEAD}spec:\n  suspend: maybe\n", "not a plain true or false"),
        ("kind: Cluster\nmetadata:\n  name: other\n", "holds no Cluster demo"),
    ],
)
def test_what_cannot_be_done_cleanly_is_refused_with_the_place(text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        set_suspend("cluster.yaml", text.encode(), CLUSTER, True)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_any_number_of_times(wanted: list[bool]) -> None:
    """After any sequence the last word holds, and all the rest of the file is what it was."""
    original = read_sample()["clusters/demo/cluster.yaml"]
    data = original
    for value in wanted:
        data = set_suspend("cluster.yaml", data, CLUSTER, value) or data
    assert set_suspend("cluster.yaml", data, CLUSTER, wanted[-1]) is None
    left = [line for line in data.splitlines() if b"suspend:" not in line]
    assert left == original.splitlines()


def test_suspend_and_resume_are_commits(box: CliBox) -> None:
    said = box.call("suspend", CLUSTER, "--why", "the region is on fire", "--json")
    assert said.json["changed"] and said.json["revision"] == box.git("rev-parse", "main")
    assert box.git("log", "-1", "--format=%ae|%s|%b") == "alice@example.com|Suspend demo|the region is on fire"
    assert box.git("diff", "--numstat", "main~1", "main") == "1\t0\tclusters/demo/cluster.yaml"
    assert box.git("status", "--porcelain") == "", "the checkout went along"
    assert "is suspended already" in box.call("suspend", CLUSTER).out
    assert box.call("resume", CLUSTER).code == 0
    assert "suspend: false" in box.text("clusters/demo/cluster.yaml")
    assert "nothing to do" in box.call("resume", CLUSTER).out


def test_changes_in_the_checkout_are_not_overwritten(box: CliBox) -> None:
    path = box.path / "clusters/demo/cluster.yaml"
    path.write_text(path.read_text() + "# mine\n")
    said = box.call("suspend", CLUSTER)
    assert said.code == 1 and "has changes in the way" in said.err
    assert path.read_text().endswith("# mine\n")
    assert box.git("rev-parse", "main") == box.first
