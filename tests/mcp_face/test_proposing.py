"""Tools that change something: each opens one change, whoever asks how often; and what becomes of it is told."""

from __future__ import annotations

from typing import Any, ClassVar

import httpx
import pytest

from instantstart_mcp import catalogue
from tests.api.apibox import ApiBox
from tests.engine.fakes import cluster_yaml, group_yaml
from tests.mcp_face.facebox import agent, ask

PERSON = "platform-engineer@example.com"
CREATE: dict[str, Any] = {
    "name": "train",
    "region": "us-west-2",
    "zone": "usw2-az2",
    "instance_type": "ml.p5.48xlarge",
    "count": 4,
    "kubernetes_version": "1.33",
    "account": "111122223333",
    "storage_bucket": "our-data",
}


@pytest.fixture
def prod(api: ApiBox) -> ApiBox:
    """A cluster that is Ready, with two groups."""
    api.rig.commit({"cluster": cluster_yaml(), "workers": group_yaml("workers"), "spare": group_yaml("spare", 1)})
    api.rig.settle()
    return api


def changes(box: ApiBox) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = box.client("read").get("/changes").json()["items"]
    return found


def person(box: ApiBox) -> httpx.Client:
    return box.client(name=PERSON)


def merge(box: ApiBox, change: str) -> None:
    """A person reviews, if somebody must, and merges."""
    head = person(box).get(f"/changes/{change}").json()["head"]
    found = person(box).post(f"/changes/{change}/merge", headers={"If-Match": head})
    assert found.status_code == 200, found.text


class TestCreate:
    def test_one_sentence_makes_one_change_with_all_documents(self, prod: ApiBox) -> None:
        told = ask(prod, "cluster_create", **CREATE, why="a person asked for it")
        assert not told.error, told.text
        assert told.data["state"] == "open" and told.data["status_tool"] == "change_wait"
        assert told.data["review_link"] == f"{prod.url}/changes/{told.data['change']}"
        (plan,) = told.data["plan"]
        assert plan["cluster"] == "train" and plan["counts"]["create"] > 20
        diff = ask(prod, "change_diff", change=told.data["change"], limit=20).data["items"]
        assert {one["path_untrusted"].removeprefix("clusters/train/") for one in diff} == {
            "cluster.yaml",
            "instance-group-workers.yaml",
            "instance-group-system.yaml",
            "storage-shared.yaml",
        }
        (workers,) = [one["lines_untrusted"] for one in diff if one["path_untrusted"].endswith("workers.yaml")]
        assert "count: 4" in workers and "interface: efa" in workers and "zone: usw2-az2" in workers

    def test_a_retry_finds_the_change_whatever_words_go_with_it(self, prod: ApiBox) -> None:
        """D01: the first answer was lost, or the model says it differently the second time."""
        first = ask(prod, "cluster_create", **CREATE, why="one reason")
        again = ask(prod, "cluster_create", **CREATE, why="another reason")
        assert first.data["change"] == again.data["change"]
        assert len(changes(prod)) == 1

    def test_a_retry_after_the_merge_finds_it_too(self, prod: ApiBox) -> None:
        first = ask(prod, "cluster_create", **CREATE)
        merge(prod, first.data["change"])
        prod.rig.settle()
        again = ask(prod, "cluster_create", **CREATE)
        assert again.data["change"] == first.data["change"] and again.data["state"] == "merged"
        assert len(changes(prod)) == 1

    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ({"name": "prod"}, "ExistsAlready"),
            ({"name": "train", "count": 8}, "ProposedAlready"),
            ({"name": "train", "capacity": "trainingPlan"}, "BadArguments"),
            ({"name": "Train"}, "BadArguments"),
            ({"name": "../train"}, "BadArguments"),
            ({"name": "train", "instanceCount": 3}, "BadArguments"),
        ],
        ids=["name taken", "another proposal", "plan without its ARN", "capital", "a path", "a word of elsewhere"],
    )
    def test_what_it_refuses_opens_nothing(self, prod: ApiBox, given: dict[str, Any], error: str) -> None:
        ask(prod, "cluster_create", **CREATE)
        told = ask(prod, "cluster_create", **{**CREATE, **given})
        assert told.error and told.data["error"] == error, told.text
        assert len(changes(prod)) == 1

    def test_like_takes_over_what_is_shared_and_nothing_of_its_own(self, prod: ApiBox) -> None:
        access = (
            "  access:\n    - principal: arn:aws:iam::111122223333:role/people\n      policy: AmazonEKSViewPolicy\n"
        )
        prod.rig.commit(
            {"cluster": cluster_yaml("old", access + "  network:\n    vpcCidr: 10.9.0.0/16\n")}, cluster="old"
        )
        given = {name: value for name, value in CREATE.items() if name not in ("account", "kubernetes_version")}
        told = ask(prod, "cluster_create", **given, like="old")
        assert not told.error, told.text
        text = ask(prod, "document_get", cluster="train", kind="Cluster", name="train", at=told.data["change"]).data
        assert text["document_untrusted"]["spec"]["access"][0]["principal"].endswith("role/people")
        assert "network" not in text["document_untrusted"]["spec"]


class TestOnce:
    """The same wish is one change; a new wish is a new one."""

    SCALE: ClassVar[dict[str, Any]] = {"cluster": "prod", "group": "workers", "count": 4}

    def scale(self, count: int) -> dict[str, Any]:
        return {**self.SCALE, "count": count}

    def test_repeated_side_by_side_and_afterwards(self, prod: ApiBox) -> None:
        told = [ask(prod, "group_scale", **self.SCALE) for _ in range(3)]
        assert len({one.data["change"] for one in told}) == 1 == len(changes(prod))

    def test_once_merged_it_is_found_as_merged(self, prod: ApiBox) -> None:
        first = ask(prod, "group_scale", **self.SCALE)
        merge(prod, first.data["change"])
        again = ask(prod, "group_scale", **self.SCALE)
        assert again.data["change"] == first.data["change"] and again.data["state"] == "merged"

    def test_the_same_wish_after_another_one_is_a_new_one(self, prod: ApiBox) -> None:
        """4, then 2, then 4 again, twice each."""
        seen: list[str] = []
        for count in (4, 2, 4, 2):
            one, two = (ask(prod, "group_scale", **self.scale(count)) for _ in range(2))
            assert one.data["change"] == two.data["change"] and one.data["state"] == "open"
            merge(prod, one.data["change"])
            seen.append(one.data["change"])
        assert len(set(seen)) == 4 == len(changes(prod))

    def test_one_that_was_closed_stays_closed_until_a_key_says_otherwise(self, prod: ApiBox) -> None:
        first = ask(prod, "group_scale", **self.SCALE)
        ask(prod, "change_close", change=first.data["change"], why="not now")
        again = ask(prod, "group_scale", **self.SCALE)
        assert again.data["change"] == first.data["change"] and again.data["state"] == "closed"
        anew = ask(prod, "group_scale", **self.SCALE, idempotency_key="asked-again")
        assert anew.data["state"] == "open" and anew.data["change"] != first.data["change"]

    def test_a_given_key_with_other_content_is_a_clear_error(self, prod: ApiBox) -> None:
        ask(prod, "group_scale", **self.SCALE, idempotency_key="k1")
        told = ask(prod, "group_scale", **self.scale(5), idempotency_key="k1")
        assert told.error and told.data["error"] == "KeyReused"
        assert len(changes(prod)) == 1

    def test_two_agents_have_keys_of_their_own(self, prod: ApiBox) -> None:
        first = ask(prod, "group_scale", token=agent(prod, name="one"), **self.SCALE)
        second = ask(prod, "group_scale", token=agent(prod, name="two"), **self.SCALE)
        assert first.data["change"] != second.data["change"]


@pytest.mark.parametrize(
    ("tool", "given", "path"),
    [
        ("group_add", {"name": "gpu", "instance_type": "ml.g5.8xlarge", "count": 2}, "instance-group-gpu.yaml"),
        ("group_remove", {"group": "spare"}, "spare.yaml"),
        ("storage_create", {"name": "shared"}, "storage-shared.yaml"),
        ("cluster_suspend", {}, "cluster.yaml"),
        ("cluster_update", {"tags": {"team": "ml"}, "node_recovery": "None"}, "cluster.yaml"),
        ("cluster_delete", {}, "cluster.yaml"),
        (
            "document_patch",
            {
                "kind": "InstanceGroup",
                "name": "workers",
                "title": "Label the workers",
                "patch": [{"op": "add", "path": "/spec/labels", "value": {"team": "ml"}}],
            },
            "workers.yaml",
        ),
    ],
)
def test_each_tool_proposes_what_it_says(prod: ApiBox, tool: str, given: dict[str, Any], path: str) -> None:
    told = ask(prod, tool, cluster="prod", **given)
    assert not told.error, told.text
    (diff,) = ask(prod, "change_diff", change=told.data["change"]).data["items"]
    assert diff["path_untrusted"] == f"clusters/prod/{path}"
    again = ask(prod, tool, cluster="prod", **given)
    assert again.data["change"] == told.data["change"]


def test_adopting_is_one_change(prod: ApiBox) -> None:
    given: dict[str, Any] = {"region": "us-west-2", "account": "111122223333", "vpc": "vpc-0a1b2c3d", "eks": "by-hand"}
    told = ask(prod, "cluster_adopt", name="taken", **given, kubernetes_version="1.33", hyperpod="by-hand")
    assert not told.error, told.text
    assert ask(prod, "cluster_adopt", name="taken", **given, kubernetes_version="1.33", hyperpod="by-hand").data == {
        **told.data,
        "note": "this very adoption was proposed before",
    }


class TestScopes:
    """A token that may only read does nothing else, and is told why."""

    CALLS: ClassVar[dict[str, dict[str, Any]]] = {
        "cluster_create": CREATE,
        "cluster_adopt": {
            "name": "taken",
            "region": "us-west-2",
            "account": "111122223333",
            "vpc": "vpc-0a1b2c3d",
            "eks": "by-hand",
            "kubernetes_version": "1.33",
        },
        "cluster_update": {"cluster": "prod", "node_recovery": "None"},
        "cluster_suspend": {"cluster": "prod"},
        "cluster_delete": {"cluster": "prod"},
        "document_patch": {
            "cluster": "prod",
            "kind": "Cluster",
            "name": "prod",
            "title": "x",
            "patch": [{"op": "add", "path": "/spec/suspend", "value": True}],
        },
        "group_add": {"cluster": "prod", "name": "gpu", "instance_type": "ml.g5.8xlarge", "count": 1},
        "group_scale": {"cluster": "prod", "group": "workers", "count": 0},
        "group_remove": {"cluster": "prod", "group": "workers"},
        "storage_create": {"cluster": "prod", "name": "shared"},
        "storage_delete": {"cluster": "prod", "storage": "shared"},
        "node_reboot": {"cluster": "prod", "nodes": ["i-0123456789abcdef0"]},
        "change_comment": {"change": "{change}", "text": "x"},
        "change_close": {"change": "{change}", "why": "x"},
        "change_rebase": {"change": "{change}"},
        "change_revert": {"change": "{change}"},
        "change_merge": {"change": "{change}", "head": "0" * 40},
        "order_give": {"cluster": "prod", "do": "retry", "subject": "compute", "why": "x"},
    }

    def test_every_tool_that_changes_something_is_here(self) -> None:
        assert set(self.CALLS) == {value.name for value in catalogue.TOOLS if value.needs != "read"}

    @pytest.mark.parametrize("kind", ["reader", "agent", "proposer"])
    def test_refused_in_words_and_nothing_happens(self, prod: ApiBox, kind: str) -> None:
        opened = ask(prod, "group_scale", cluster="prod", group="workers", count=3).data["change"]
        tokens = {
            "reader": prod.token("read", kind="agent", name="reader"),
            "agent": agent(prod),
            "proposer": prod.token("read", "propose", name=PERSON),
        }
        before = person(prod).get(f"/changes/{opened}").json()
        for name, given in self.CALLS.items():
            needs = next(value.needs for value in catalogue.TOOLS if value.name == name)
            if kind != "reader" and needs == "propose":
                continue
            arguments = {key: opened if value == "{change}" else value for key, value in given.items()}
            told = ask(prod, name, token=tokens[kind], **arguments)
            assert told.error and told.data["error"] == "MissingScope" and told.data["status"] == 403, told.text
        assert len(changes(prod)) == 1
        assert person(prod).get(f"/changes/{opened}").json()["events"] == before["events"]
        assert not list(prod.house.repo.orders())


class TestMerge:
    """A person who works through an agent: with a token of their own, and the head that they saw."""

    def test_the_head_that_was_seen_is_merged_once(self, prod: ApiBox) -> None:
        change = ask(prod, "group_scale", cluster="prod", group="workers", count=3).data["change"]
        whose = prod.token(name=PERSON)
        head = ask(prod, "change_get", token=whose, change=change).data["head"]
        moved = ask(prod, "change_merge", token=whose, change=change, head="0" * 40)
        assert moved.error and moved.data["error"] == "HeadMoved"
        for _ in range(2):
            told = ask(prod, "change_merge", token=whose, change=change, head=head)
            assert not told.error and told.data["state"] == "merged", told.text
        lines = [one["what"] for one in person(prod).get(f"/changes/{change}").json()["events"]]
        assert lines.count("merge") == 1


class TestWait:
    def test_from_open_to_ready(self, prod: ApiBox) -> None:
        change = ask(prod, "group_scale", cluster="prod", group="workers", count=3).data["change"]
        waits = ask(prod, "change_wait", change=change, timeout_seconds=0)
        assert waits.data["outcome"] == "needs_review" and not waits.data.get("terminal")
        merge(prod, change)
        early = ask(prod, "change_wait", change=change, timeout_seconds=0)
        assert early.data["outcome"] == "applying", "merged is not applied"
        prod.rig.settle()
        done = ask(prod, "change_wait", change=change, timeout_seconds=0)
        assert done.data["outcome"] == "ready" and done.data["terminal"], done.text

    def test_closed_is_refused_with_the_reason(self, prod: ApiBox) -> None:
        change = ask(prod, "group_scale", cluster="prod", group="workers", count=3).data["change"]
        person(prod).post(f"/changes/{change}/close", json={"text": "too dear"})
        told = ask(prod, "change_wait", change=change, timeout_seconds=0)
        assert told.data["outcome"] == "refused" and told.data["terminal"]
        assert told.data["why_untrusted"] == f"closed by {PERSON}: too dear"

    def test_one_that_cannot_be_is_refused_with_the_way_out(self, prod: ApiBox) -> None:
        patch = [{"op": "replace", "path": "/spec/instanceType", "value": "ml.m5.4xlarge"}]
        given: dict[str, Any] = {
            "cluster": "prod",
            "kind": "InstanceGroup",
            "name": "workers",
            "patch": patch,
            "title": "Larger",
        }
        told = ask(prod, "document_patch", **given)
        waited = ask(prod, "change_wait", change=told.data["change"], timeout_seconds=0)
        assert waited.data["outcome"] == "refused", waited.text
        assert "add a new group" in waited.data["why_untrusted"]

    def test_what_a_guard_holds_is_held(self, prod: ApiBox) -> None:
        """Merged by a push of somebody who may: the engine still waits for a word."""
        change = ask(prod, "cluster_suspend", cluster="prod").data["change"]
        merge(prod, change)
        prod.rig.settle()
        scale = ask(prod, "group_scale", cluster="prod", group="workers", count=3).data["change"]
        merge(prod, scale)
        prod.rig.settle()
        told = ask(prod, "change_wait", change=scale, timeout_seconds=0)
        assert told.data["outcome"] == "held" and told.data["clusters"][0]["held"], told.text

    def test_what_fails_is_failed_with_the_reason(self, prod: ApiBox) -> None:
        change = ask(prod, "group_scale", cluster="prod", group="workers", count=3).data["change"]
        merge(prod, change)
        prod.rig.cloud.faults += [("hyperpod.InstanceGroup", "failed")] * 20
        prod.rig.settle()
        told = ask(prod, "change_wait", change=change, timeout_seconds=0)
        assert told.data["outcome"] == "failed" and told.data["terminal"], told.text
        assert told.data["clusters"][0]["reason"] == "ValidationException"
