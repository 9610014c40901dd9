"""A token that reaches some files or kinds alone (D13): what counts is what comes out, whichever way it was asked."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.changes import ordering
from schemas.changes import NewOrder, NewRevert
from schemas.errors import Forbidden
from schemas.principals import AGENT_SCOPES, Principal
from schemas.reach import Reach
from tests.changes.changebox import AUTHOR, POLICY, REVIEWER, ChangeBox, drop, file, person, scale
from tests.engine.fakes import cluster_yaml, group_yaml

BUCKET = """apiVersion: instantstart/v1
kind: Storage
metadata:
  name: data
spec:
  s3:
    bucket: some-bucket
"""
BOTH = group_yaml("workers", 2) + "---\n" + group_yaml("spare", 1)
GROUPS = "clusters/prod/groups.yaml"


def within(who: Principal, *, paths: tuple[str, ...] = (), kinds: tuple[Any, ...] = ()) -> Principal:
    return who.model_copy(update={"reach": Reach(paths=paths, kinds=kinds)})


def limited(**reach: Any) -> Principal:
    return within(Principal(name="agent-7", kind="agent", scopes=AGENT_SCOPES, via="token"), **reach)


@pytest.fixture
def two(bare: ChangeBox) -> ChangeBox:
    """prod, never applied, and dev beside it."""
    bare.rig.commit({"cluster": cluster_yaml("dev"), "workers": group_yaml("workers", 1)}, cluster="dev")
    return bare


TEAM = {"paths": ("clusters/dev/**",)}
GPU = {"kinds": ("InstanceGroup",)}


@pytest.mark.parametrize(
    ("reach", "edits", "named", "why"),
    [
        (TEAM, [scale(3, cluster="dev")], None, "its own team's"),
        (TEAM, [scale(3)], GROUPS, "another team's"),
        (TEAM, [scale(3, cluster="dev"), scale(3)], GROUPS, "one edit too many spoils the change"),
        (TEAM, [file(GROUPS, BOTH + "# a word\n")], GROUPS, "the same by raw text"),
        (TEAM, [{"edit": "removeCluster", "cluster": "prod"}], "clusters/prod/", "or by removing all of it"),
        (TEAM, [file("clusters/policy.yaml", POLICY + "# mine\n")], "clusters/policy.yaml", "the policy is no team's"),
        (TEAM, [file("clusters/new/cluster.yaml", cluster_yaml("new"))], "clusters/new/", "a cluster beside it"),
        (GPU, [scale(3)], None, "a group's count"),
        (GPU, [drop("spare")], None, "a group less"),
        (GPU, [file(GROUPS, BOTH + "---\n" + group_yaml("third"))], None, "a group more, by raw text"),
        (GPU, [file(GROUPS, BOTH + "---\n" + BUCKET)], "Storage data", "another kind in a file of groups"),
        (GPU, [file(GROUPS, BOTH + "---\nkind: 7\n")], "a document without a kind", "what has no kind is no group"),
        (GPU, [file(GROUPS, BOTH + "  : : [\n")], "cannot be read", "what nobody can read could be anything"),
        (GPU, [file("clusters/prod/cluster.yaml", None)], "Cluster prod", "a file that goes takes what is in it"),
        (GPU, [file("clusters/prod/cluster.yaml", cluster_yaml() + "# a word\n")], None, "a remark is no document"),
        (GPU, [file("clusters/prod/scripts/on_create.sh", "#!/bin/sh\n")], "on_create.sh", "scripts run as root"),
        (TEAM | GPU, [scale(3, cluster="dev")], None, "both"),
        (TEAM | GPU, [file("clusters/dev/data.yaml", BUCKET)], "Storage data", "the right place, another kind"),
        (TEAM | GPU, [scale(3)], GROUPS, "the right kind, another place"),
    ],
)
def test_what_a_token_reaches(
    two: ChangeBox, reach: dict[str, Any], edits: list[dict[str, Any]], named: str | None, why: str
) -> None:
    if named is None:
        assert two.open(*edits, who=limited(**reach)).state == "open", why
        return
    with pytest.raises(Forbidden) as told:
        two.open(*edits, who=limited(**reach))
    assert told.value.reason == "OutOfReach" and named in told.value.message, why
    assert not two.changes.list(), "and nothing is left of it"


def test_a_change_that_was_opened_within_does_not_grow_out(two: ChangeBox) -> None:
    who = limited(**TEAM)
    opened = two.open(scale(3, cluster="dev"), who=who)
    with pytest.raises(Forbidden, match=r"groups\.yaml"):
        two.edit(opened.id, scale(3), who=who)
    assert two.edit(opened.id, scale(4, cluster="dev"), who=who).files[0].path.startswith("clusters/dev/")


@pytest.mark.parametrize("deed", ["edit", "rebase", "close"])
def test_others_changes_are_left_alone(two: ChangeBox, deed: str) -> None:
    who, opened = limited(**TEAM), two.open(scale(3))
    two.rig.commit({"other": group_yaml("other")}, cluster="dev")
    deeds = {
        "edit": lambda: two.edit(opened.id, scale(4, cluster="dev"), who=who),
        "rebase": lambda: two.changes.rebase(who, opened.id, head=None),
        "close": lambda: two.changes.close(who, opened.id, "no", head=None),
    }
    with pytest.raises(Forbidden, match="reaches clusters/dev"):
        deeds[deed]()
    assert two.changes.comment(who, opened.id, "but a word is free").state == "open"


def test_a_revert_is_looked_at_too(two: ChangeBox) -> None:
    opened = two.open(scale(3))
    two.merge(opened.id)
    with pytest.raises(Forbidden, match=r"groups\.yaml"):
        two.changes.revert(limited(**TEAM), NewRevert(change=opened.id))


def test_a_person_within_limits_decides_within_them(two: ChangeBox) -> None:
    """Also about an own change, which somebody else may have made larger."""
    mine, theirs = two.open(scale(3, cluster="dev")), two.open(scale(3))
    who = within(person(REVIEWER), **TEAM)
    for limited_one in (who, within(person(AUTHOR), **TEAM)):
        with pytest.raises(Forbidden) as told:
            two.changes.merge(limited_one, theirs.id, head=theirs.head)
        assert told.value.reason == "OutOfReach"
    assert two.changes.merge(who, mine.id, head=mine.head).state == "merged"


@pytest.mark.parametrize(
    ("reach", "may", "why"),
    [
        ({"paths": ("clusters/prod/**",)}, True, "all of the cluster"),
        ({"paths": ("clusters/**",)}, True, "all clusters"),
        ({"paths": (GROUPS,)}, False, "a file of it is not the cluster"),
        (TEAM, False, "another cluster"),
        (GPU, False, "kinds are not a cluster"),
    ],
)
def test_orders_are_about_a_whole_cluster(two: ChangeBox, reach: dict[str, Any], may: bool, why: str) -> None:
    order = NewOrder.model_validate({"cluster": "prod", "do": "retry", "subject": "compute", "why": "try"})
    try:
        ordering.give(two.changes.store, within(person(), **reach), order, order="01JGFJJZ000000000000000000")
        said = ""
    except Forbidden as error:
        said = error.reason
    except Exception as error:  # there may be nothing to retry: it was looked for, so it was allowed
        said = type(error).__name__
    assert (said != "OutOfReach") is may, why


@pytest.mark.parametrize(
    ("mine", "given", "holds", "why"),
    [
        (Reach(), Reach(), True, "everything gives everything"),
        (Reach(), Reach(paths=("clusters/a/**",)), True, "and less"),
        (Reach(paths=("clusters/a/**",)), Reach(), False, "a part does not give the whole"),
        (Reach(paths=("clusters/a/**",)), Reach(paths=("clusters/a/**",)), True, "the same"),
        (Reach(paths=("clusters/a/**",)), Reach(paths=("clusters/a/groups.yaml",)), True, "a file within"),
        (Reach(paths=("clusters/a/**",)), Reach(paths=("clusters/*/groups.yaml",)), False, "a pattern that leads out"),
        (Reach(paths=("clusters/a/**",)), Reach(paths=("clusters/a/**", "clusters/b/**")), False, "one too many"),
        (Reach(kinds=("Storage",)), Reach(kinds=("Storage",)), True, "the same kind"),
        (Reach(kinds=("Storage",)), Reach(kinds=("Cluster",)), False, "another kind"),
        (Reach(kinds=("Storage",)), Reach(paths=("clusters/a/**",)), False, "all kinds of a place are more"),
    ],
)
def test_nobody_gives_more_than_they_have(mine: Reach, given: Reach, holds: bool, why: str) -> None:
    assert mine.holds(given) is holds, why
