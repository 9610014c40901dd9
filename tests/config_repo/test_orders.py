"""Orders come as refs, from any process; the engine takes them away."""

from __future__ import annotations

import pytest

from reconciler.config_repo.errors import NameRefused, RefMoved, SecretRefused
from tests.config_repo.gitbox import ALICE, GitBox

ONE, TWO = "01JAZ5Q8T3W4X5Y6Z7A8B9C0D1", "01JAZ5Q8T3W4X5Y6Z7A8B9C0D2"
BODY = {"do": "retry", "subject": "compute", "principal": "alice@example.com", "why": "größer"}


@pytest.mark.parametrize("remote", [False, True])
def test_given_seen_and_removed(box: GitBox, remote: bool) -> None:
    person, engine = box.open(remote=remote, writer="person"), box.open(remote=remote, writer="engine")
    person.put_order(TWO, {"do": "approve"})
    person.put_order(ONE, BODY, author=ALICE)
    with pytest.raises(RefMoved):
        person.put_order(ONE, {"do": "release"})
    engine.fetch()
    orders = engine.orders()
    assert [(o.ulid, o.body, o.problem) for o in orders] == [(ONE, BODY, None), (TWO, {"do": "approve"}, None)]
    assert orders[0].author == "Alice Example <alice@example.com>"
    assert orders[0].commit == box.git("rev-parse", f"refs/instantstart/orders/{ONE}")
    engine.remove_orders([ONE])
    engine.remove_orders([ONE])
    assert [o.ulid for o in engine.orders()] == [TWO]
    assert (
        box.git("for-each-ref", "--format=%(refname)", "refs/instantstart/orders") == f"refs/instantstart/orders/{TWO}"
    )


def test_removed_by_somebody_else_meanwhile(box: GitBox) -> None:
    engine = box.open(remote=True)
    for ulid in (ONE, TWO):
        engine.put_order(ulid, BODY)
    box.git("update-ref", "-d", f"refs/instantstart/orders/{ONE}")
    engine.remove_orders([ONE, TWO])
    assert engine.orders() == []
    assert box.git("for-each-ref", "refs/instantstart/orders") == ""


@pytest.mark.parametrize(
    ("name", "message", "problem"),
    [
        (ONE, "not json", "no JSON"),
        (ONE, "[1]", "no JSON object"),
        (ONE, "{" * 5000, "no JSON"),
        (ONE, '{"a":"' + "x" * 20000 + '"}', "too long"),
        ("--upload-pack", "{}", "ulid"),
    ],
)
def test_malformed_orders_are_told(box: GitBox, name: str, message: str, problem: str) -> None:
    tree = box.git("rev-parse", "main^{tree}")
    commit = box.git("commit-tree", tree, stdin=message.encode())
    box.git("update-ref", f"refs/instantstart/orders/{name}", commit)
    repo = box.open()
    repo.put_order(TWO, BODY)
    found = {order.ulid: order for order in repo.orders()}
    assert problem in (found[name].problem or "")
    assert found[name].body == {}
    assert found[TWO].problem is None


def test_an_order_that_is_no_commit_is_told(box: GitBox) -> None:
    """Anybody who may push may point a ref at anything."""
    box.git("update-ref", f"refs/instantstart/orders/{ONE}", box.blob(b"x"))
    box.git("tag", "-a", "-m", "x", "t", "main")
    box.git("update-ref", f"refs/instantstart/orders/{TWO}", box.git("rev-parse", "refs/tags/t"))
    assert [bool(o.problem) for o in box.open().orders()] == [True, True]


def test_what_is_refused(box: GitBox) -> None:
    repo = box.open()
    for ulid in ("../x", "-x", ONE.lower(), ""):
        with pytest.raises(NameRefused):
            repo.put_order(ulid, BODY)
    with pytest.raises(SecretRefused):
        repo.put_order(ONE, {"do": "retry", "why": "with hf_" + "AbCdEfGhIj" * 4})
    assert repo.orders() == []
