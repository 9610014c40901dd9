"""The fleet, a cluster, its drift, resources and timeline, over the invented cloud."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.api.apibox import ApiBox
from tests.engine.fakes import AUTHOR, POLICY, cluster_yaml, group_yaml

GPU = group_yaml("gpu", 2).replace("ml.m5.2xlarge", "ml.g5.12xlarge")
STORAGE = """apiVersion: instantstart/v1
kind: Storage
metadata:
  name: shared
spec:
  s3: {}
"""


def ready(api: ApiBox) -> Any:
    """A cluster with two groups and a storage that is Ready, and somebody who reads."""
    api.rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system"), "gpu": GPU, "shared": STORAGE})
    api.rig.settle()
    return api.client("read")


def test_a_cluster_that_is_ready(api: ApiBox) -> None:
    told = ready(api).get("/clusters/prod").json()
    assert (told["condition"], told["drift"], told["actions"], told["held"]) == ("Ready", 0, 0, [])
    assert told["revision"]["commit"] == told["head"]["commit"] == told["last_ready"] == api.rig.repo.head()
    assert told["revision"]["email"] == AUTHOR[1] and told["revision"]["subject"] == "change"
    wanted = told["desired"]
    assert (wanted["account"], wanted["region"], wanted["kubernetes_version"]) == ("111122223333", "us-west-2", "1.33")
    assert {group["name"]: (group["count"], group["gpus"]) for group in wanted["groups"]} == {
        "system": (2, 0),
        "gpu": (2, 8),
    }
    assert wanted["instances"] == 4 and wanted["gpus"] == 8 and wanted["zones"] == ["usw2-az2"]
    assert wanted["storages"][0]["prefix"] == "data/shared/"
    assert [stage["state"] for stage in told["stages"]] == ["Ready"] * len(told["stages"])
    assert all(stage["done"] == stage["all"] for stage in told["stages"] if stage["all"] is not None)
    assert told["parts"][0] == {
        "name": "look",
        "observed_at": told["observed_at"],
        "unknown_since": None,
        "reason": "",
        "message": "",
    }


def test_a_stage_under_way_says_what_it_waits_for_and_how_long_that_takes(api: ApiBox) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system")})
    reader = api.client("read")
    told: Any = {}
    stages: Any = {}
    for _ in range(20):
        api.rig.tick(1)
        told = reader.get("/clusters/prod").json()
        stages = {stage["stage"]: stage for stage in told["stages"]}
        waiting = [w["key"] for w in stages.get("control-plane", {}).get("waits_for", [])]
        if "eks.Cluster/prod" in waiting and stages["control-plane"]["expected"] is not None:
            break
    assert told["condition"] == "Reconciling"
    assert stages["control-plane"]["expected"] == {"least": 480, "most": 720, "of": "eks.Cluster/prod"}
    assert stages["control-plane"]["since"] and stages["control-plane"]["done"] < stages["control-plane"]["all"]


def test_before_the_first_tick_nothing_is_claimed(api: ApiBox) -> None:
    api.rig.commit({"cluster": cluster_yaml(), "system": group_yaml("system")})
    reader = api.client("read")
    told = reader.get("/clusters/prod").json()
    assert told["condition"] == "Unknown" and told["drift"] is None and told["observed_at"] is None
    assert told["desired"]["instances"] == 2  # what git says needs no look
    assert told["parts"][0]["reason"] == "NotLooked"
    for path in ("drift", "resources"):
        answer = reader.get(f"/clusters/prod/{path}")
        assert answer.status_code == 503 and answer.json()["reason"] == "NotLooked", "no empty list"


@pytest.mark.parametrize("path", ["", "/nodes", "/groups", "/drift", "/resources", "/timeline"])
def test_nobody_knows_a_cluster_of_that_name(api: ApiBox, path: str) -> None:
    api.rig.commit({"cluster": cluster_yaml()})
    answer = api.client("read").get(f"/clusters/nowhere{path}")
    assert (answer.status_code, answer.json()["reason"]) == (404, "UnknownCluster")


def test_what_was_green_is_unknown_when_it_cannot_be_seen(api: ApiBox) -> None:
    reader = ready(api)
    seen = reader.get("/clusters/prod").json()["observed_at"]
    api.rig.cloud.blind = {"eks.Cluster"}
    api.rig.tick(30)
    part = reader.get("/clusters/prod").json()["parts"][0]
    assert (part["reason"], part["observed_at"]) == ("Throttled", seen) and part["unknown_since"] > seen
    unseen = {t["key"]: t for t in reader.get("/clusters/prod/resources").json()["items"]}["eks.Cluster/prod"]
    assert (unseen["presence"], unseen["health"]) == ("unknown", "")


def test_nothing_is_known_of_a_cluster_that_nobody_looked_at_for_long(api: ApiBox) -> None:
    reader = ready(api)
    api.rig.clock.advance(3600)
    part = reader.get("/clusters/prod").json()["parts"][0]
    assert part["reason"] == "NotLookedLately" and part["unknown_since"] == part["observed_at"]


def test_drift_has_before_and_after_and_says_whether_it_is_put_back(api: ApiBox) -> None:
    reader = ready(api)
    assert reader.get("/clusters/prod/drift").json()["items"] == []
    group = next(thing for thing in api.rig.cloud.things if thing.key.endswith("/gpu"))
    group.spec["count"] = 5
    api.rig.cloud.faults.append(("hyperpod.InstanceGroup:update", "refused"))
    api.rig.tick(30)
    told = reader.get("/clusters/prod/drift").json()
    (item,) = told["items"]
    assert item["then"] == "restored" and item["action"]["because"] == "drift"
    assert [(c["path"], c["before"], c["after"]) for c in item["action"]["changes"]] == [("/count", 5, 2)]
    assert reader.get("/clusters/prod").json()["drift"] == 1


def test_what_was_taken_away_by_hand_is_drift(api: ApiBox) -> None:
    """What comes back by itself, what waits for a person, and what nothing brings back."""
    reader = ready(api)
    group = next(thing for thing in api.rig.cloud.things if thing.key.endswith("/gpu"))
    api.rig.cloud.things.remove(group)
    api.rig.cloud.faults.append(("hyperpod.InstanceGroup:create", "refused"))
    api.rig.tick(30)
    told = reader.get("/clusters/prod/drift").json()
    (item,) = told["items"]
    assert (item["then"], item["action"]["verb"], item["action"]["key"]) == ("restored", "create", group.key)
    assert item["action"]["because"] == "drift" and told["gone"] == []
    assert reader.get("/clusters/prod").json()["drift"] == 1
    api.rig.settle()
    assert reader.get("/clusters/prod/drift").json()["items"] == []
    api.rig.commit({"cluster": cluster_yaml(extra="  suspend: true\n")})
    api.rig.settle()
    group = next(thing for thing in api.rig.cloud.things if thing.key.endswith("/gpu"))
    api.rig.cloud.things.remove(group)
    api.rig.tick(30)
    (item,) = reader.get("/clusters/prod/drift").json()["items"]
    assert item["then"] == "held" and item["action"]["verb"] == "create"


def test_what_is_held_has_a_way_out_and_who_may_say_it(api: ApiBox) -> None:
    reader = ready(api)
    api.rig.commit({"system": group_yaml("system"), "cluster": cluster_yaml(extra="  suspend: true\n")})
    api.rig.settle()
    (held,) = reader.get("/clusters/prod").json()["held"]
    assert held["reason"] == "Suspended" and held["way"] == "instantstart resume prod" and held["order"] is None
    api.rig.commit({"cluster": cluster_yaml()})
    api.rig.settle()
    files = {f"clusters/prod/{name}.yaml": None for name in ("cluster", "system", "gpu", "shared")}
    api.rig.commit_paths(files)
    api.rig.settle()
    told = reader.get("/clusters/prod").json()
    protected = [held for held in told["held"] if held["reason"] == "DeletionProtected"]
    assert protected, told["held"]
    for held in protected:
        assert held["order"] == "release" and held["way"] and held["subject"]
        assert "approve" in held["who"], "an order to release wants that scope"


def test_who_may_approve_is_what_the_policy_says(api: ApiBox) -> None:
    reader = ready(api)
    two = "{costs: [delete], approvers: [owner@example.com, lead@example.com], count: 2}"
    rules = f"    rules: [{two}]\n"
    api.rig.commit_paths({"clusters/policy.yaml": POLICY + rules})
    api.rig.commit({"gpu": None})
    api.rig.settle()
    (held,) = reader.get("/clusters/prod").json()["held"]
    assert (held["reason"], held["order"]) == ("NeedsApproval", "approve") and "owner@example.com" in held["who"]
    thing = next(t for t in reader.get("/clusters/prod/resources").json()["items"] if t["key"].endswith("/gpu"))
    assert (thing["planned"], thing["held"], thing["wanted"]) == ("delete", True, False)
    for approver in ("owner@example.com", "lead@example.com"):
        api.rig.order("approve", held["subject"], principal=approver)
    api.rig.settle()
    assert reader.get("/clusters/prod").json()["held"] == []
    ops = [e for e in walk(reader, "/clusters/prod/timeline?kind=op", 500) if e["detail"].get("phase") == "intent"]
    approved = [who for entry in ops for who in entry["approved"]]
    assert any("owner@example.com" in word for word in approved), approved


def test_what_failed_is_told_until_it_is_tried_again_or_overcome(api: ApiBox) -> None:
    reader, rig = ready(api), api.rig
    rig.cloud.faults.append(("InstanceGroup:create", "failed"))
    rig.commit({"more": group_yaml("more", 1)})
    rig.settle()
    told = reader.get("/clusters/prod").json()
    (failed,) = told["failed_ops"]
    assert (failed["key"], failed["phase"], failed["msg"]) == ("hyperpod.InstanceGroup/prod/more", "failed", "never")
    order = {"cluster": "prod", "do": "retry", "subject": failed["op"], "why": "once more"}
    assert api.client("read", "operate").post("/orders", json=order).status_code == 202
    rig.tick(30)
    told = reader.get("/clusters/prod").json()
    assert told["orders"] == [], "what the journal has is taken up"
    assert told["failed_ops"] == [], "its next try counts"
    rig.settle()
    assert reader.get("/clusters/prod").json()["condition"] == "Ready"

    rig.cloud.faults.append(("InstanceGroup:update", "failed"))
    rig.commit({"more": group_yaml("more", 2)})
    rig.settle()
    assert len(reader.get("/clusters/prod").json()["failed_ops"]) == 1
    rig.order("retry", "compute")
    rig.settle()
    told = reader.get("/clusters/prod").json()
    assert (told["condition"], told["failed_ops"]) == ("Ready", []), "a word about the whole stage does as well"
    assert next(one for one in reader.get("/clusters").json()["items"])["failed_ops"] == 0


def test_resources_are_what_is_ours_by_stage(api: ApiBox) -> None:
    reader = ready(api)
    things = reader.get("/clusters/prod/resources?limit=500").json()["items"]
    keys = [thing["key"] for thing in things]
    assert {"ec2.Vpc/prod", "eks.Cluster/prod", "hyperpod.InstanceGroup/prod/gpu", "Storage/prod/shared"} <= {*keys}
    assert not any(key.startswith("ec2.Zones") for key in keys), "zones are looked up, not owned"
    assert all(thing["health"] == "healthy" and thing["mark"] in ("ours", "child") for thing in things)
    stages = [thing["stage"] for thing in things]
    assert [stage for stage, _ in itertools.groupby(stages)] == list(dict.fromkeys(stages)), "in the order of stages"
    only = reader.get("/clusters/prod/resources?stage=storage").json()["items"]
    assert {thing["stage"] for thing in only} == {"storage"}


def test_the_fleet_is_listed_by_name_in_pages(api: ApiBox) -> None:
    for name in ("b", "a", "c"):
        api.rig.commit({"cluster": cluster_yaml(name), "system": group_yaml("system")}, name)
    api.rig.settle()
    reader = api.client("read")
    first = reader.get("/clusters?limit=2").json()
    second = reader.get("/clusters", params={"limit": 2, "cursor": first["next"]}).json()
    lines = [*first["items"], *second["items"]]
    assert [line["cluster"] for line in lines] == ["a", "b", "c"] and second["next"] is None
    assert {line["condition"] for line in lines} == {"Ready"}
    assert all(line["instances"]["desired"] == 2 and line["gpus"]["desired"] == 0 for line in lines)


def test_a_cluster_that_is_gone_is_listed_only_if_asked_for(api: ApiBox) -> None:
    api.rig.commit({"cluster": cluster_yaml(extra="  deletionProtection: false\n"), "system": group_yaml("system")})
    api.rig.settle()
    api.rig.commit_paths({"clusters/prod/cluster.yaml": None, "clusters/prod/system.yaml": None})
    api.rig.settle()
    for held in api.client("read").get("/clusters/prod").json()["held"]:
        api.rig.order("approve" if held["order"] == "approve" else "release", held["subject"])
    api.rig.settle()
    reader = api.client("read")
    assert reader.get("/clusters").json()["items"] == []
    assert [line["condition"] for line in reader.get("/clusters?gone=true").json()["items"]] == ["Gone"]


def test_a_reader_who_has_it_already_is_not_sent_it_again(api: ApiBox) -> None:
    reader = ready(api)
    first = reader.get("/clusters/prod")
    again = reader.get("/clusters/prod", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    api.rig.commit({"system": group_yaml("system", 3)})
    moved = reader.get("/clusters/prod", headers={"If-None-Match": first.headers["etag"]})
    assert moved.status_code == 200 and moved.json()["head"]["commit"] == api.rig.repo.head()
    assert moved.json()["revision"]["commit"] != api.rig.repo.head(), "nothing was applied yet"


def test_the_timeline_tells_who_asked_and_what_was_done(api: ApiBox) -> None:
    reader = ready(api)
    first = api.rig.repo.head()
    second = api.rig.commit({"system": group_yaml("system", 3)})
    api.rig.settle()
    entries = walk(reader, "/clusters/prod/timeline", limit=7)
    assert len(entries) == len({entry["id"] for entry in entries})
    assert [entry["seq"] for entry in entries if entry["seq"]] == sorted(
        (line["seq"] for line in api.rig.lines()), reverse=True
    ), "all lines, newest first"
    ids = [entry["id"] for entry in entries]
    assert ids[-1] == first, "the commit that asked comes before the first line about it"
    at = ids.index(second)
    assert {entry["revision"] for entry in entries[:at]} == {second}
    done = [e for e in entries if e["kind"] == "op" and e["detail"].get("phase") == "succeeded"]
    assert done and all(entry["asked"]["email"] == AUTHOR[1] for entry in done)
    only = walk(reader, "/clusters/prod/timeline?kind=commit", limit=1)
    assert [entry["id"] for entry in only] == [second, first]
    about = walk(reader, f"/clusters/prod/timeline?revision={second}", limit=500)
    assert {entry["revision"] for entry in about} == {second}


def test_a_cursor_that_no_page_gave_is_refused(api: ApiBox) -> None:
    reader = ready(api)
    for cursor in ("nonsense", "WyI5OTk5OTkiXQ"):
        answer = reader.get("/clusters/prod/timeline", params={"cursor": cursor})
        assert (answer.status_code, answer.json()["reason"]) == (422, "BadCursor")


def walk(reader: Any, path: str, limit: int) -> list[Any]:
    """All items of all pages."""
    found: list[Any] = []
    cursor: str | None = None
    while True:
        more = {"cursor": cursor} if cursor else {}
        told = reader.get(path, params={**dict(_query(path)), "limit": limit, **more}).json()
        found += told["items"]
        cursor = told["next"]
        if cursor is None:
            return found


def _query(path: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (pair.partition("=") for pair in path.partition("?")[2].split("&"))]
