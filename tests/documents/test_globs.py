from __future__ import annotations

import pytest

from schemas.globs import any_matches, matches


@pytest.mark.parametrize(
    ("pattern", "path", "fits", "why"),
    [
        ("clusters/prod/cluster.yaml", "clusters/prod/cluster.yaml", True, "a path is a pattern of itself"),
        ("clusters/prod/cluster.yaml", "clusters/prod/clusterxyaml", False, "a dot is a dot"),
        ("clusters/*/cluster.yaml", "clusters/prod/cluster.yaml", True, "any one folder"),
        ("clusters/*/cluster.yaml", "clusters/prod/old/cluster.yaml", False, "one star does not cross a slash"),
        ("clusters/*", "clusters/policy.yaml", True, "files of the folder"),
        ("clusters/*", "clusters/prod/cluster.yaml", False, "and not of those below"),
        ("clusters/team-a-*/**", "clusters/team-a-1/groups/x.yaml", True, "a star within a name"),
        ("clusters/team-a-*/**", "clusters/team-b/groups.yaml", False, "another team"),
        ("clusters/prod/**", "clusters/prod/groups.yaml", True, "right below"),
        ("clusters/prod/**", "clusters/prod/a/b/c.yaml", True, "far below"),
        ("clusters/prod/**", "clusters/prod", False, "not the folder itself"),
        ("clusters/prod/**", "clusters/prod-2/groups.yaml", False, "nor a neighbour whose name begins alike"),
        ("clusters/**/cluster.yaml", "clusters/cluster.yaml", True, "no folder is a number of folders too"),
        ("clusters/**/cluster.yaml", "clusters/a/b/cluster.yaml", True, "so are two"),
        ("clusters/**/cluster.yaml", "clusters/a/mycluster.yaml", False, "the name begins at a slash"),
        ("clusters/pro**", "clusters/prod", True, "two stars within a name are as one"),
        ("clusters/pro**", "clusters/prod/x", False, "and stay within the folder"),
        ("clusters/gpu?", "clusters/gpu1", True, "one character"),
        ("clusters/gpu?", "clusters/gpu", False, "exactly one"),
        ("clusters/a?b", "clusters/a/b", False, "which is not a slash"),
        ("clusters/prod/x", "clusters/prod/x\n", False, "a line end is no end"),
    ],
)
def test_what_fits(pattern: str, path: str, fits: bool, why: str) -> None:
    assert matches(pattern, path) is fits, why


def test_of_several_one_is_enough() -> None:
    assert any_matches(["clusters/a/**", "clusters/b/**"], "clusters/b/x.yaml")
    assert not any_matches([], "clusters/b/x.yaml")
