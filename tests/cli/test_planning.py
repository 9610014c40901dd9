"""plan without a cloud, diff between revisions, and the words for both."""

from __future__ import annotations

import pytest

from reconciler.cli.commands.planning import exit_code
from reconciler.cli.render.plans import plan as plan_words
from reconciler.cli.render.plans import summary
from reconciler.plan.gates import Held
from reconciler.reads.plans import FieldChangeView, FindingView, PlanView, RefusalView, SeenView, of_plan
from schemas.plan import Action, Cost, Plan, Unmanaged, Verb
from schemas.resource import Observed, Presence, Ref, Source, Stage
from tests.cli.clibox import CliBox, same_as_golden

GROUPS = "clusters/demo/groups.yaml"
KEY = "hyperpod.InstanceGroup/demo/train"


def action(verb: Verb, key: str, cost: Cost, stage: Stage = Stage.COMPUTE, **more: object) -> Action:
    return Action(
        verb=verb,
        key=key,
        type=key.split("/")[0],
        name=key.rsplit("/", 1)[-1],
        stage=stage,
        lane="lane",
        cost=cost,
        source=Source("InstanceGroup", "train", GROUPS, 16),
        **more,  # type: ignore[arg-type]
    )


ACTIONS = (
    action(
        Verb.CREATE, "ec2.Vpc/demo", Cost.NONE, Stage.NETWORK, want={"cidr": "10.0.0.0/16", "of": Ref("ec2.Zones/demo")}
    ),
    action(
        Verb.UPDATE,
        KEY,
        Cost.IN_PLACE,
        patch=(
            {"op": "replace", "path": "/count", "value": 4},
            {"op": "add", "path": "/labels/purpose", "value": "training"},
            {"op": "remove", "path": "/taints"},
        ),
        fields=("count", "labels", "taints"),
        because="drift",
    ),
    action(Verb.DELETE, "hyperpod.InstanceGroup/demo/old", Cost.DELETE, because="prune", identity="i"),
)
SEEN = {
    KEY: Observed(
        key=KEY, type="x", name="train", presence=Presence.PRESENT, spec={"count": 2, "labels": {}, "taints": [1]}
    ),
    "eks.Addon/demo/coredns": Observed(
        key="eks.Addon/demo/coredns", type="x", name="c", presence=Presence.UNKNOWN, message="AccessDenied"
    ),
}


def view() -> PlanView:
    plan = Plan(
        cluster="demo",
        revision="a" * 40,
        actions=ACTIONS,
        unmanaged=(Unmanaged(key="ec2.Vpc/x", message="vpc-1 is not ours"),),
        unknown=("eks.Addon/demo/coredns",),
    )
    held = {ACTIONS[2].digest: Held(reason="NeedsApproval", message="delete of old needs an approval", way="approve")}
    made = of_plan(plan, SEEN, held)
    refusal = RefusalView(
        key=KEY, stage="compute", document="InstanceGroup/train", where=f"{GROUPS}:16", reason="Immutable",
        message="interface cannot change", way_out="add a new group",
    )  # fmt: skip
    finding = FindingView(severity="warning", reason="Quota", message="the quota is nearly used up")
    return made.model_copy(update={"refusals": (refusal,), "findings": (finding,)})


def test_a_plan_in_words() -> None:
    shown = [line.plain for line in [*plan_words(view(), details=True), summary([view()])]]
    same_as_golden("plan.txt", "".join(f"{line.rstrip()}\n" for line in shown))


def test_before_and_after_stand_side_by_side() -> None:
    update = view().actions[1]
    assert update.changes == (
        FieldChangeView(op="replace", path="/count", before=2, after=4),
        FieldChangeView(op="add", path="/labels/purpose", before=None, after="training"),
        FieldChangeView(op="remove", path="/taints", before=[1], after=None),
    )
    assert view().actions[0].want["of"] == "(known after ec2.Zones/demo)"


EMPTY = PlanView(cluster="demo", revision="a" * 40)


@pytest.mark.parametrize(
    ("views", "code", "why"),
    [
        ([], 0, "no clusters, nothing to do"),
        ([EMPTY], 0, "nothing to do"),
        ([EMPTY, view()], 2, "actions"),
        ([view(), EMPTY.model_copy(update={"unplanned": "wrong documents"})], 1, "an error beats changes"),
        ([view().model_copy(update={"actions": ()})], 1, "a refusal is no success"),
        ([EMPTY.model_copy(update={"unknown": (SeenView(key="x"),)})], 1, "nothing seen is not nothing to do"),
    ],
)
def test_exit_codes(views: list[PlanView], code: int, why: str) -> None:
    assert exit_code(views) == code, why


def test_plan_without_credentials_says_so_and_is_no_success(box: CliBox) -> None:
    said = box.call("plan")
    assert said.code == 1
    assert "cannot be told" in said.out and "Unable to locate credentials" in said.out
    assert box.call("plan", "--json", "--cluster", "demo").json["clusters"][0]["unknown"]


def test_plan_of_wrong_documents(box: CliBox) -> None:
    box.commit({GROUPS: box.text(GROUPS).replace("count: 2", "count: two")})
    said = box.call("plan")
    assert said.code == 1 and "expected a whole number" in said.out and "No plan for demo." in said.out


# diff ----------------------------------------------------------------------------------------------------------------


def test_diff_in_words(box: CliBox) -> None:
    text = box.text(GROUPS)
    system, train = text.split("---\n")
    train = train.replace("count: 2", "count: 5").replace("  volume:\n    sizeGiB: 500\n", "")
    box.commit({GROUPS: f"{system}---\n{train}"})
    box.golden("diff.txt", "diff", "main~1", "main")


def test_diff_says_what_cannot_change(box: CliBox) -> None:
    box.commit({GROUPS: box.text(GROUPS).replace("ml.g5.8xlarge", "ml.g5.12xlarge")})
    found = box.call("diff", "main~1", "main", "--json")
    assert found.code == 0
    plan = found.json["clusters"][0]["plan"]
    assert plan["actions"] == []
    assert [(r["key"], r["reason"]) for r in plan["refusals"]] == [(KEY, "Immutable")]


def test_diff_of_a_group_that_goes_is_held_by_the_policy(box: CliBox) -> None:
    system, _ = box.text(GROUPS).split("---\n")
    box.commit({GROUPS: system})
    plan = box.call("diff", "main~1", "main", "--json").json["clusters"][0]["plan"]
    gone = [a for a in plan["actions"] if a["key"] == KEY]
    assert [(a["verb"], a["held"]["reason"]) for a in gone] == [("delete", "NeedsApproval")]


def test_diff_of_a_whole_folder(box: CliBox) -> None:
    gone = dict.fromkeys(box.git("ls-tree", "-r", "--name-only", "HEAD", "clusters/demo").splitlines())
    box.commit(dict(gone))
    taken = box.call("diff", "main~1", "main", "--json").json["clusters"][0]
    assert {d["change"] for d in taken["documents"]} == {"removed"}
    assert {a["verb"] for a in taken["plan"]["actions"]} == {"delete"}
    assert {a["held"]["reason"] for a in taken["plan"]["actions"]} == {"DeletionProtected"}
    made = box.call("diff", "main", "main~1", "--json").json["clusters"][0]["plan"]
    assert {a["verb"] for a in made["actions"]} == {"create"}


def test_what_is_not_committed_is_not_planned_and_that_is_said(box: CliBox) -> None:
    (box.path / GROUPS).write_text(box.text(GROUPS).replace("count: 2", "count: 3"))
    (box.path / "clusters/demo/new one.yaml").write_text("")
    said = box.call("plan", env={"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true"})
    assert f"Not in this plan, because not committed: {GROUPS} and 1 more." in said.err
    box.git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qam", "Scale")
    said = box.call("diff", "HEAD~1")
    assert "spec.count  2 → 3" in said.out, "the branch's head is what one compares with"


def test_a_hold_of_many_is_told_once() -> None:
    held = Held(reason="DeletionProtected", message="the folder is gone", way="put it back; or release")
    gone = tuple(action(Verb.DELETE, f"ec2.Subnet/demo/{n}", Cost.DELETE, Stage.NETWORK) for n in range(5))
    view = of_plan(Plan(cluster="demo", revision="a" * 40, actions=gone), {}, {each.digest: held for each in gone})
    text = "\n".join(line.plain for line in plan_words(view))
    assert text.count("the folder is gone") == 1 and text.count("held: DeletionProtected") == 5
    assert "way: put it back; or release: instantstart release demo KEY --why …" in text


def test_missing_credentials_are_one_cause_and_have_a_way() -> None:
    calls = ("ec2:DescribeVpcs", "eks:DescribeCluster", "iam:GetRole")
    unknown = [SeenView(key=f"x/{call}", message=f"{call}: Unable to locate credentials") for call in calls]
    view = PlanView(cluster="demo", revision="a" * 40, unknown=(SeenView(key="y", message="no endpoint"), *unknown))
    text = "\n".join(line.plain for line in plan_words(view))
    assert text.count("Unable to locate credentials (ec2:DescribeVpcs, eks:DescribeCluster, iam:GetRole)") == 1
    assert text.index("Unable") < text.index("no endpoint") and "AWS_PROFILE" in text
    assert summary([view]).plain == "4 not to be seen now: Unable to locate credentials."


def test_diff_with_itself_and_with_a_comment(box: CliBox) -> None:
    """A comment is no difference."""
    assert "No cluster differs" in box.call("diff", "main", "main").out
    box.commit({GROUPS: "# a comment\n" + box.text(GROUPS)})
    view_ = box.call("diff", "main~1", "main", "--json").json["clusters"][0]
    assert view_["documents"] == [] and view_["plan"]["actions"] == []
