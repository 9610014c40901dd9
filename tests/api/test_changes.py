"""Changes over HTTP: what two clients see of each other, and what every refusal looks like."""

# ruff: noqa: E501 - one case a line
from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.journal import Condition
from tests.api.apibox import ApiBox, make
from tests.changes.changebox import AUTHOR, POLICY, REVIEWER, SECOND, drop, file, scale
from tests.engine.fakes import cluster_yaml, group_yaml

GROUPS = group_yaml("workers", 2) + "---\n" + group_yaml("spare", 1)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiBox]:
    """Documents that were never applied."""
    box = make(tmp_path)
    box.rig.commit_paths({"clusters/policy.yaml": POLICY})
    box.rig.commit({"cluster": cluster_yaml(), "groups": GROUPS})
    yield box
    box.close()


@pytest.fixture
def up(api: ApiBox) -> ApiBox:
    api.rig.settle()
    return api


def change(*edits: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "a change", "edits": list(edits), **more}


def opened(who: httpx.Client, *edits: dict[str, Any], key: str | None = None, **more: Any) -> dict[str, Any]:
    headers = {"Idempotency-Key": key} if key is not None else {}
    answer = who.post("/changes", json=change(*edits, **more), headers=headers)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


def merge(who: httpx.Client, seen: dict[str, Any]) -> httpx.Response:
    return who.post(f"/changes/{seen['id']}/merge", headers={"If-Match": seen["head"]})


def test_a_change_from_proposal_to_ready(up: ApiBox) -> None:
    """An agent proposes, a person looks, approves and merges, the engine does it, the timeline says who."""
    agent = up.client(name="agent-7", kind="agent")
    person = up.client(name=REVIEWER)
    made = opened(agent, drop("spare"), why="It has been idle for a week.")
    assert (made["state"], made["kind"], made["mergeable"]) == ("open", "agent", False)
    plan = person.get(f"/changes/{made['id']}/plan").json()
    (prod,) = plan["clusters"]
    (action,) = [one for one in prod["plan"]["actions"] if one["digest"] in prod["introduced"]]
    assert (action["verb"], action["key"]) == ("delete", "hyperpod.InstanceGroup/prod/spare")
    assert plan["missing"] == ["delete of hyperpod.InstanceGroup/prod/spare needs an approval"]
    assert {one["what"]: one["found"] for one in plan["reach"]} == {
        "clusters": 1,
        "nodes": 1,
        "deletes": 1,
        "gpus": 0,
        "running_jobs": 0,
    }
    assert person.post(f"/changes/{made['id']}/comments", json={"text": "Looks right."}).status_code == 201
    review = person.post(f"/changes/{made['id']}/reviews", json={"verdict": "approve", "plan": plan["digest"]})
    assert (review.status_code, review.json()["mergeable"]) == (201, True)
    merged = person.post(f"/changes/{made['id']}/merge", headers={"If-Match": made["head"]})
    assert (merged.status_code, merged.json()["state"]) == (200, "merged")
    assert up.rig.settle().condition is Condition.READY
    told = person.get("/clusters/prod/timeline", params={"kind": "op", "limit": 500}).json()["items"]
    (done,) = [one for one in told if "spare" in str(one) and one.get("approved")][:1]
    assert REVIEWER in str(done["approved"])
    revision = person.get("/clusters/prod").json()["revision"]
    asked = (revision["change"], revision["proposed_by"], revision["approved_by"])
    assert asked == (made["id"], "agent-7", [REVIEWER]), "not us, who wrote the merge down"


def test_etags_and_if_match(api: ApiBox) -> None:
    who = api.client(name=AUTHOR)
    made = opened(who, scale(4))
    path = f"/changes/{made['id']}"
    first = who.get(path)
    etag = first.headers["etag"]
    assert who.get(path, headers={"If-None-Match": etag}).status_code == 304
    edited = who.patch(path, json={"edits": [scale(5)]}, headers={"If-Match": etag})
    assert edited.status_code == 200
    assert edited.headers["etag"].startswith(f'"{edited.json()["head"]}')
    for told in (etag, made["head"], f'"{made["head"]}"'):
        stale = who.patch(path, json={"edits": [scale(6)]}, headers={"If-Match": told})
        assert (stale.status_code, stale.json()["reason"]) == (412, "HeadMoved")
    assert who.patch(path, json={"edits": [scale(6)]}, headers={"If-Match": edited.json()["head"]}).status_code == 200
    assert who.post(f"{path}/close", headers={"If-Match": "nonsense"}).status_code == 422


@pytest.mark.parametrize("told", [{}, {"If-Match": "*"}], ids=["nothing", "anything"])
def test_nobody_merges_what_they_did_not_see(api: ApiBox, told: dict[str, str]) -> None:
    who = api.client(name=AUTHOR)
    made = opened(who, scale(4))
    path = f"/changes/{made['id']}"
    edited = api.client(name=SECOND).patch(path, json={"edits": [scale(9)]})
    assert edited.status_code == 200
    unseen = who.post(f"{path}/merge", headers=told)
    assert (unseen.status_code, unseen.json()["reason"]) == (428, "HeadNeeded")
    assert (merge(who, made).status_code, who.get(path).json()["state"]) == (412, "open")
    assert merge(who, edited.json()).json()["state"] == "merged"


def test_two_clients_at_one_field(api: ApiBox) -> None:
    one, two = api.client(name=AUTHOR), api.client(name=SECOND)
    base = one.get("/policy").json()["revision"]
    first, second = opened(one, scale(4), base=base), opened(two, scale(6), base=base)
    assert merge(one, first).status_code == 200
    clash = merge(two, second)
    assert clash.status_code == 409
    (found,) = clash.json()["conflicts"]
    assert {key: found[key] for key in ("document", "field", "base", "yours", "theirs", "by")} == {
        "document": "InstanceGroup/workers", "field": "/spec/count", "base": 2, "yours": 6, "theirs": 4, "by": AUTHOR,
    }  # fmt: skip
    assert two.get(f"/changes/{second['id']}").json()["checks"][0]["state"] == "failed"


def test_keys(api: ApiBox) -> None:
    who = api.client(name=AUTHOR)
    first = opened(who, scale(4), key="k")
    assert opened(who, scale(4), key="k")["id"] == first["id"]
    again = who.post("/changes", json=change(scale(5)), headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.json()["reason"]) == (409, "KeyReused")
    api.restart()
    who = api.client(name=AUTHOR)
    assert opened(who, scale(4), key="k")["id"] == first["id"]


def test_two_requests_with_one_key_race(api: ApiBox) -> None:
    who = [api.client(name=AUTHOR) for _ in range(4)]
    ready, found = threading.Barrier(4), list[str]()

    def post(client: httpx.Client) -> None:
        ready.wait()
        found.append(opened(client, scale(4), key="same")["id"])

    threads = [threading.Thread(target=post, args=(client,)) for client in who]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert len(found) == 4
    assert len(set(found)) == 1


def test_pages_of_changes(api: ApiBox) -> None:
    who = api.client(name=AUTHOR)
    made = [opened(who, scale(10 + number))["id"] for number in range(5)]
    who.post(f"/changes/{made[0]}/close", json={"text": "no"})
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = who.get("/changes", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["next"]
    assert seen == sorted(made, reverse=True)
    assert cursor is None
    assert [one["id"] for one in who.get("/changes", params={"state": "closed"}).json()["items"]] == made[:1]
    assert len(who.get("/changes", params={"cluster": "prod"}).json()["items"]) == 5
    assert who.get("/changes", params={"cluster": "dev"}).json()["items"] == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "reason", "why"),
    [
        ("GET", "/changes/01kjmdt83gg4hzwyn00cjvdmdx", None, 404, "NoChange", "no such change"),
        ("GET", "/changes/..%2f..%2fx", None, 404, "NotFound", "an id is no path"),
        ("GET", "/changes/UPPER", None, 422, "InvalidRequest", "an id has a form"),
        ("POST", "/changes", {"title": "x"}, 422, "InvalidRequest", "no edits"),
        ("POST", "/changes", change(scale(4), x=1), 422, "InvalidRequest", "an unknown field"),
        ("POST", "/changes", change(scale(4, group="none")), 404, "NoDocument", "no such document"),
        ("POST", "/changes", change(scale(4, at="/spec/none/none")), 422, "EditRefused", "a patch that does not fit"),
        ("POST", "/changes", change(scale(2)), 422, "NothingToChange", "nothing changes"),
        ("POST", "/changes", change(file("clusters/../x", "x")), 422, "PathRefused", "a way out"),
        ("POST", "/changes", change(file("clusters/prod/x.txt", "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYa")), 422, "SecretRefused", "a secret"),
        ("POST", "/changes", change(scale(4), base="f" * 40), 404, "UnknownRevision", "no such base"),
        ("POST", "/changes", change(scale(4), direct=True), 403, "ReviewNeeded", "the policy names no files"),
        ("POST", "/reverts", {}, 422, "WhatToRevert", "nothing named"),
        ("POST", "/reverts", {"commit": "f" * 40}, 409, "NotMerged", "no such commit"),
        ("POST", "/orders", {"cluster": "none", "do": "retry", "subject": "x", "why": "y"}, 404, "UnknownCluster", "no such cluster"),
        ("POST", "/orders", {"cluster": "prod", "do": "retry", "subject": "x", "why": "y"}, 409, "NoJournal", "nothing was ever applied"),
        ("POST", "/orders", {"cluster": "prod", "do": "resolve", "subject": "x", "why": "y"}, 422, "NoOutcome", "resolve says how it ended"),
        ("POST", "/orders", {"cluster": "prod", "do": "explode", "subject": "x", "why": "y"}, 422, "InvalidRequest", "no such order"),
        ("GET", "/clusters/none/documents", None, 404, "UnknownCluster", "no such cluster"),
        ("GET", "/clusters/prod/documents/InstanceGroup/none", None, 404, "NoDocument", "no such document"),
        ("GET", "/clusters/prod/documents?at=none", None, 404, "UnknownRevision", "no such revision"),
        ("GET", "/clusters/none/plan", None, 404, "UnknownCluster", "no such cluster"),
        ("GET", "/changes?cursor=x", None, 422, "BadCursor", "a cursor that nobody gave"),
    ],
)  # fmt: skip
def test_refusals(api: ApiBox, method: str, path: str, body: Any, status: int, reason: str, why: str) -> None:
    answer = api.client().request(method, path, json=body)
    assert (answer.status_code, answer.json()["reason"]) == (status, reason), why
    assert answer.headers["content-type"] == "application/problem+json"
    assert api.rig.repo.changes.tips() == {}, "and nothing is left of it"


@pytest.mark.parametrize(
    ("scopes", "kind", "method", "path", "status", "why"),
    [
        (("read",), "person", "POST", "/changes", 403, "to propose needs propose"),
        (("propose",), "person", "GET", "/changes", 403, "to look needs read"),
        (("read", "propose"), "person", "POST", "/changes/{id}/reviews", 403, "to review needs approve"),
        (("read", "propose"), "agent", "POST", "/changes/{id}/reviews", 403, "an agent never does"),
        (("read", "propose"), "agent", "POST", "/changes/{id}/merge", 403, "nor merges"),
        (("read", "propose", "approve"), "person", "POST", "/orders", 403, "retry needs operate"),
        (("read", "propose", "operate"), "person", "POST", "/orders?approve", 403, "approve needs approve"),
        (("read", "propose"), "agent", "POST", "/orders", 403, "an agent gives no orders"),
    ],
)
def test_scopes(api: ApiBox, scopes: Any, kind: Any, method: str, path: str, status: int, why: str) -> None:
    made = opened(api.client(name=AUTHOR), scale(4))
    body: dict[str, Any] = {"verdict": "request-changes"} if path.endswith("reviews") else change(scale(5))
    if "/orders" in path:
        body = {"cluster": "prod", "do": "approve" if "approve" in path else "retry", "subject": "compute", "why": "x"}
    who = api.client(*scopes, name="somebody@example.com", kind=kind)
    answer = who.request(method, path.split("?")[0].format(id=made["id"]), json=body if method == "POST" else None)
    assert answer.status_code == status, why


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('{"a":' * 500 + "1" + "}" * 500, "deeper than anything can write down again"),
        ("[" * 900 + "]" * 900, "the same with lists"),
        ('{"a\\ud800":1}', "half a character in a key"),
        ('{"a\\u0000":1}', "a NUL in a key"),
    ],
)
def test_values_that_nobody_could_write_down(api: ApiBox, value: str, why: str) -> None:
    patch = '{"edit":"patch","cluster":"prod","kind":"InstanceGroup","name":"workers",'
    patch += f'"patch":[{{"op":"add","path":"/spec/x","value":{value}}}]}}'
    put = f'{{"edit":"put","cluster":"prod","document":{{"kind":"X","metadata":{{"name":"x"}},"spec":{value}}}}}'
    for edit in (patch, put):
        body = f'{{"title":"x","edits":[{edit}]}}'
        answer = api.client().post("/changes", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["reason"]) == (422, "InvalidRequest"), why


# Documents, plans, policy --------------------------------------------------------------------------------------------


def test_documents_of_the_branch_a_revision_and_a_change(api: ApiBox) -> None:
    who = api.client()
    before = who.get("/policy").json()["revision"]
    listed = who.get("/clusters/prod/documents").json()
    assert [(one["kind"], one["name"]) for one in listed["items"]] == [
        ("Cluster", "prod"),
        ("InstanceGroup", "spare"),
        ("InstanceGroup", "workers"),
    ]
    answer = who.get("/clusters/prod/documents/InstanceGroup/workers")
    shown = answer.json()
    assert shown["document"]["spec"] == {"instanceType": "ml.m5.2xlarge", "count": 2, "zone": "usw2-az2"}
    assert shown["model"]["spec"]["capacity"] == {"onDemand": {}}, "with its defaults"
    assert shown["text"] == group_yaml("workers", 2)
    assert (
        who.get(
            "/clusters/prod/documents/InstanceGroup/workers", headers={"If-None-Match": answer.headers["etag"]}
        ).status_code
        == 304
    )
    made = opened(who, scale(4))
    proposed = who.get("/clusters/prod/documents/InstanceGroup/workers", params={"at": made["id"]}).json()
    assert proposed["document"]["spec"]["count"] == 4
    merge(who, made)
    assert (
        who.get("/clusters/prod/documents/InstanceGroup/workers", params={"at": before}).json()["document"]["spec"][
            "count"
        ]
        == 2
    )


def test_a_diff_by_line_and_by_field(api: ApiBox) -> None:
    who = api.client()
    made = opened(who, scale(4), file("clusters/prod/setup.sh", "#!/bin/bash\n"))
    groups, script = who.get(f"/changes/{made['id']}/diff").json()["items"]
    assert "-  count: 2\n+  count: 4" in groups["lines"]
    assert groups["documents"] == [
        {
            "kind": "InstanceGroup",
            "name": "workers",
            "verb": "change",
            "patch": [{"op": "replace", "path": "/spec/count", "value": 4}],
        }
    ]
    assert (script["verb"], script["documents"]) == ("add", [])
    assert script["lines"].startswith("--- /dev/null\n+++ b/clusters/prod/setup.sh\n")


def test_the_plan_of_a_cluster_at_any_revision(up: ApiBox) -> None:
    who = up.client()
    now = who.get("/clusters/prod/plan").json()
    assert (now["actions"], now["unplanned"]) == ([], None)
    assert now["looked_at"]
    made = opened(who, scale(4))
    then = who.get("/clusters/prod/plan", params={"revision": made["head"]}).json()
    assert [one["key"] for one in then["actions"]] == ["hyperpod.InstanceGroup/prod/workers"]
    lines = up.rig.lines()
    who.get("/clusters/prod/plan", params={"fresh": True})
    assert up.rig.lines() == lines, "a look writes nothing"


def test_the_policy_in_force(api: ApiBox) -> None:
    shown = api.client().get("/policy").json()
    assert shown["spec"]["approvals"] == {
        "requireFor": ["replace", "delete"],
        "rules": [],
        "expireAfter": "7d",
        "orders": "pushed",
    }
    proposed = api.client().post("/changes", json=change(scale(4))).json()
    api.rig.commit_paths({"clusters/policy.yaml": None})
    without = api.client().get("/policy").json()
    assert without["blob"] is None
    assert without["spec"]["blastRadius"]["maxGpus"] == 128
    api.rig.commit_paths({"clusters/policy.yaml": "kind: Policy\n"})
    broken = api.client()
    assert broken.get("/policy").json()["problems"]
    made = broken.post("/changes", json=change(scale(4)))
    assert (made.status_code, made.json()["reason"]) == (422, "PolicyInvalid"), "nobody judges without a policy"
    seen = broken.get(f"/changes/{proposed['id']}")
    assert seen.status_code == 200 and not seen.json()["mergeable"], "it can be read, and talked about"
    (check,) = seen.json()["checks"]
    assert (check["name"], check["state"]) == ("policy", "failed") and "policy.yaml" in check["says"][0]
    assert broken.post(f"/changes/{proposed['id']}/comments", json={"text": "wait"}).status_code == 201


# Orders --------------------------------------------------------------------------------------------------------------


def held(up: ApiBox) -> None:
    """A direct push by the author deletes a group: the engine holds it."""
    up.rig.commit({"groups": group_yaml("workers", 2)})
    assert up.rig.settle().reason == "NeedsApproval"


SPARE = {"cluster": "prod", "do": "approve", "subject": "hyperpod.InstanceGroup/prod/spare", "why": "It is idle."}


def test_an_order_lets_pass_what_is_held(up: ApiBox) -> None:
    held(up)
    who = up.client(name=REVIEWER)
    given = who.post("/orders", json=SPARE)
    assert given.status_code == 202
    assert len(given.json()["subject"]) == 64, "an approval names the digest, not the key"
    assert [one["id"] for one in who.get("/orders").json()["items"]] == [given.json()["id"]]
    up.rig.settle()
    assert up.rig.cloud.seen("hyperpod.InstanceGroup/prod/spare") is None
    assert who.get("/orders").json()["items"] == []


def test_nobody_lets_pass_what_they_asked_for(up: ApiBox) -> None:
    """Neither the author of a pushed commit, nor the one of a change, nor the person an agent worked for."""
    held(up)
    author = up.client(name="Engineer@Example.com")  # who made the commit, spelled otherwise
    answer = author.post("/orders", json=SPARE)
    assert (answer.status_code, answer.json()["reason"]) == (403, "OwnChange")
    assert author.post("/orders", json={**SPARE, "do": "retry", "subject": "compute"}).status_code == 202, (
        "trying again is no approval"
    )


def test_the_author_of_a_merged_change_is_known_whoever_merged(up: ApiBox) -> None:
    """The branch's commit is ours; who proposed it stands in the change."""
    author, reviewer = up.client(name=AUTHOR), up.client(name=REVIEWER)
    made = opened(author, drop("spare"))
    plan = reviewer.get(f"/changes/{made['id']}/plan").json()["digest"]
    reviewer.post(f"/changes/{made['id']}/reviews", json={"verdict": "approve", "plan": plan})
    merge(reviewer, made)
    up.rig.clock.advance(8 * 86400)  # the approval is over before the engine came to it
    assert up.rig.settle().reason == "NeedsApproval"
    assert author.post("/orders", json=SPARE).status_code == 403
    assert reviewer.post("/orders", json=SPARE).status_code == 202


def test_an_order_about_nothing(up: ApiBox) -> None:
    answer = up.client(name=REVIEWER).post("/orders", json={**SPARE, "subject": "nothing-of-this-name"})
    assert answer.status_code == 422
