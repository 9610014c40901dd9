"""Every tool that changes something, cut off at every request that it makes and then called again: the same change, and
nothing twice. A request that writes is cut off before it arrives, and when its answer is on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from instantstart_mcp import catalogue
from tests.api.livebox import STORAGE, machine, node
from tests.diagnosis.ward import Ward
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.lossy import Break, Lossy, ask_over

PERSON = "platform-engineer@example.com"
BREAKS: tuple[Break, ...] = ("request", "answer")
MOST = 12  # wishes of one kind: the points of a tool, and the whole one
Arguments = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """`wish(n)`: arguments of the n-th wish, each another one. `why`: what a second time would do. `opens`: it opens a
    change."""

    why: str
    wish: Callable[[House, int], Arguments]
    opens: bool = True


@dataclass(kw_only=True)
class House:
    ward: Ward
    agent: str
    person: str

    def call(self, tool: str, arguments: Arguments, wire: Lossy | None = None) -> Any:
        needs = {value.name: value.needs for value in catalogue.TOOLS}[tool]
        token = self.agent if needs == "propose" else self.person
        return ask_over(self.ward.live.api.url, token, wire or Lossy(), tool, arguments)

    def newest(self) -> set[str]:
        """The newest changes; a call opens one."""
        listed = self.ward.live.api.client(name=PERSON).get("/changes", params={"limit": 5}).json()["items"]
        return {one["id"] for one in listed}

    def open(self, number: int, what: str) -> str:
        """A change for this wish to be about."""
        asked = {"cluster": "prod", "name": f"{what}-{number}", "instance_type": "ml.m5.2xlarge", "count": 1}
        told = self.call("group_add", asked)
        assert not told.error, told.text
        change: str = told.data["change"]
        return change

    def merged(self, number: int, what: str) -> str:
        change = self.open(number, what)
        self.call("change_merge", {"change": change, "head": self.head(change)})
        return change

    def head(self, change: str) -> str:
        return str(self.call("change_get", {"change": change}).data["head"])


CREATE = {"region": "us-west-2", "kubernetes_version": "1.33", "account": "111122223333"}
MACHINE = {"instance_type": "ml.g5.8xlarge", "count": 2}
TAKEN = {"vpc": "vpc-0a1b2c3d", "eks": "by-hand"}
LABEL = {"op": "add", "path": "/spec/labels"}

CASES = {
    "cluster_create": Case(why="a second cluster", wish=lambda _, n: {**CREATE, **MACHINE, "name": f"train-{n}"}),
    "cluster_adopt": Case(why="two adoptions of one", wish=lambda _, n: {**CREATE, **TAKEN, "name": f"taken-{n}"}),
    "cluster_update": Case(
        why="two reviews of one wish", wish=lambda _, n: {"cluster": "prod", "tags": {"number": str(n)}}
    ),
    "cluster_suspend": Case(why="as above", wish=lambda _, n: {"cluster": f"c-{n}"}),
    "cluster_delete": Case(why="a step further than was asked for", wish=lambda _, n: {"cluster": f"c-{n}"}),
    "document_patch": Case(
        why="two reviews of one wish",
        wish=lambda _, n: {
            "cluster": "prod",
            "kind": "InstanceGroup",
            "name": "system",
            "title": f"Label {n}",
            "patch": [{**LABEL, "value": {"number": str(n)}}],
        },
    ),
    "group_add": Case(why="two groups", wish=lambda _, n: {**MACHINE, "cluster": "prod", "name": f"new-{n}"}),
    "group_scale": Case(why="two reviews", wish=lambda _, n: {"cluster": "prod", "group": "system", "count": 100 + n}),
    "group_remove": Case(why="two reviews", wish=lambda _, n: {"cluster": f"c-{n}", "group": "spare"}),
    "storage_create": Case(why="two buckets", wish=lambda _, n: {"cluster": "prod", "name": f"data-{n}"}),
    "storage_delete": Case(why="two reviews", wish=lambda _, n: {"cluster": f"c-{n}", "storage": "shared"}),
    "node_reboot": Case(why="a second reboot", wish=lambda _, n: {"cluster": "prod", "nodes": [f"i-{n:017x}"]}),
    "change_revert": Case(
        why="two changes that take one back", wish=lambda house, n: {"change": house.merged(n, "reverted")}
    ),
    "change_comment": Case(
        why="the same words twice",
        wish=lambda house, n: {"change": house.open(n, "said"), "text": "words"},
        opens=False,
    ),
    "change_close": Case(
        why="two ends", wish=lambda house, n: {"change": house.open(n, "closed"), "why": "not now"}, opens=False
    ),
    "change_rebase": Case(why="two heads", wish=lambda house, n: {"change": house.open(n, "moved")}, opens=False),
    "change_merge": Case(
        why="two merges",
        wish=lambda house, n: {"change": (it := house.open(n, "merged")), "head": house.head(it)},
        opens=False,
    ),
}
ONCE = {"change_comment": "comment", "change_close": "close", "change_rebase": "update", "change_merge": "merge"}


@pytest.fixture(scope="module")
def house(ward: Ward) -> House:
    live = ward.live
    live.ready()
    instances = [f"i-{number:017x}" for number in range(1, MOST)]
    live.machines(*(machine(one) for one in instances))
    live.apply(*(node(one) for one in instances))
    for number in range(MOST):
        name = f"c-{number}"
        files = {"cluster": cluster_yaml(name), "spare": group_yaml("spare", 1), "shared": STORAGE}
        live.api.rig.commit(files, cluster=name)
    return House(ward=ward, agent=live.api.token(kind="agent", name="agent-7"), person=live.api.token(name=PERSON))


def test_every_tool_that_changes_something_is_here() -> None:
    """`order_give` has a test of its own: what it is about must wait."""
    assert {*CASES, "order_give"} == {value.name for value in catalogue.TOOLS if value.needs != "read"}


@pytest.mark.parametrize(("tool", "case"), CASES.items(), ids=CASES.keys())
def test_cut_off_at_every_request_and_called_again(house: House, tool: str, case: Case) -> None:
    whole = Lossy()
    told = house.call(tool, case.wish(house, 1), whole)
    assert not told.error, told.text
    assert len(whole.seen) >= 2, "it asks whose token it is, and does something"
    number = 1
    for at, request in enumerate(whole.seen):
        for breaks in BREAKS if request.startswith("POST") else BREAKS[1:]:
            number += 1
            arguments = case.wish(house, number)
            house.ward.live.api.rig.clock.advance(1.0)  # ids are in the order of time
            before = house.newest()
            lost = house.call(tool, arguments, Lossy(at, breaks))
            # An answer without the plan in numbers is one all the same; and the SDK asks for the list afterwards.
            assert lost.error or request.endswith(("/plan", "/session")), (at, breaks, lost.text)
            again = house.call(tool, arguments)
            assert not again.error, (case.why, request, breaks, again.text)
            opened = house.newest() - before - {arguments.get("change")}
            assert opened == ({again.data["change"]} if case.opens else set()), (case.why, request, breaks)
            if tool in ONCE:
                view = house.ward.live.api.client(name=PERSON).get(f"/changes/{arguments['change']}").json()
                lines = [one["what"] for one in view["events"]]
                assert lines.count(ONCE[tool]) <= 1, (case.why, request, breaks, lines)


def test_an_order_is_given_once(ward: Ward) -> None:
    """A person's, through an agent; while it waits it is the same order."""
    house = House(ward=ward, agent="", person=ward.live.api.token(name=PERSON))
    rig = ward.live.api.rig
    if not rig.engine.memories:
        ward.live.ready()
    rig.cloud.faults += [("hyperpod.InstanceGroup", "failed")] * 20
    rig.commit({"system": group_yaml("system", 7)})
    rig.settle()
    rig.cloud.faults.clear()
    asked = {"cluster": "prod", "do": "retry", "subject": "compute", "why": "the cause is gone"}
    for at in range(2):
        for breaks in BREAKS:
            house.call("order_give", asked, Lossy(at, breaks))
            told = house.call("order_give", asked)
            assert not told.error, told.text
            assert [one.ulid for one in rig.repo.orders()] == [told.data["id"]]
