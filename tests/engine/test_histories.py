"""What git does to a cluster: reverts, moved documents, merges, rewritten branches, links; and what must not get out.

The clusters are suspended: everything is read, planned, held and told, and nothing has to be waited for.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from reconciler.cli.app import make_app
from schemas.journal import Condition
from tests.engine_support import Site, group_yaml

SYSTEM, GPU = group_yaml("system"), group_yaml("gpu", "ml.g5.8xlarge")
TOKEN = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNm12345678"


def suspended(site: Site, name: str = "prod", extra: str = "") -> bytes:
    return site.cluster_yaml(f"  suspend: true\n{extra}").replace("name: prod", f"name: {name}").encode()


def git(where: Path, *arguments: str, data: bytes | None = None, index: bool = False) -> str:
    """`index`: an index of its own, whatever the repository has."""
    own = {"GIT_INDEX_FILE": str(where / "of-the-test.index")} if index else {}
    done = subprocess.run(
        ["git", "-c", "user.name=E", "-c", "user.email=e@example.com", *arguments],
        cwd=where,
        check=True,
        capture_output=True,
        input=data,
        env={**os.environ, **own},
    )
    return done.stdout.decode().strip()


def test_a_revert_is_a_revision_of_its_own_and_other_clusters_do_not_notice(site: Site) -> None:
    """B36: desired is the tree; the revert has a note; what was not reverted is not looked at anew."""
    there = {
        "clusters/prod/cluster.yaml": suspended(site),
        "clusters/prod/groups.yaml": SYSTEM.encode(),
        "clusters/other/cluster.yaml": suspended(site, "other"),
    }
    first = site.commit_paths(there, "A")
    site.idle(2)
    plan = site.engine.observe("prod").plan
    others = site.repo.notes("other").entries
    second = site.commit("B", groups=group_yaml("system", count=5))
    site.idle(2)
    third = site.commit_paths({"clusters/prod/groups.yaml": SYSTEM.encode()}, 'Revert "B"')
    site.idle(2)
    assert set(site.repo.notes("prod").entries) == {first, second, third}
    assert site.status.rev == third
    again = site.engine.observe("prod").plan
    assert plan is not None and again is not None and again.digest == plan.digest
    assert site.repo.notes("other").entries == others


def test_a_document_that_moves_to_another_file_is_no_change(site: Site) -> None:
    """B15: handed over, not deleted and made again; and a document that stands in both is refused (B18)."""
    both = {"clusters/prod/cluster.yaml": suspended(site), "clusters/prod/groups.yaml": (SYSTEM + GPU).encode()}
    site.commit_paths(both)
    before = site.engine.observe("prod").plan
    moved = {"clusters/prod/groups.yaml": SYSTEM.encode(), "clusters/prod/team/a/gpu.yaml": GPU.encode()}
    site.commit_paths(moved, "move")
    after = site.engine.observe("prod").plan
    assert before is not None and after is not None and after.digest == before.digest
    site.commit_paths({"clusters/prod/groups.yaml": (SYSTEM + GPU).encode()}, "two clean merges")
    site.idle(2)
    said = site.status.stages["validate"].msg
    assert site.status.reason == "Invalid" and "clusters/prod/groups.yaml" in said and "team/a/gpu.yaml" in said


def test_a_rewritten_branch_is_followed_and_told(site: Site, tmp_path: Path) -> None:
    """B30: amend, force-push, and the old commit is gone."""
    bare = tmp_path / "remote.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(site.path), str(bare))
    site.close()
    site.path, site.location = bare, f"file://{bare}"
    site.repo.fetch()
    files = {"clusters/prod/cluster.yaml": suspended(site), "clusters/prod/groups.yaml": SYSTEM.encode()}
    old = site.commit_paths(files, "old")
    site.idle(2)
    tree = git(bare, "rev-parse", f"{old}^{{tree}}")
    new = git(bare, "commit-tree", tree, "-m", "amended")
    git(bare, "update-ref", "refs/heads/main", new)
    git(bare, "-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now")
    site.restart()
    site.idle(2)
    assert site.status.rev == new
    told = [line for line in site.lines if line["t"] == "rollout" and line.get("rewritten")]
    assert len(told) == 1


def test_links_are_never_followed_and_that_is_said(site: Site) -> None:
    """B27, B28: one rule for all links where documents are read: a problem that names the file; others go on."""
    files = {
        "clusters/prod/cluster.yaml": suspended(site),
        "clusters/other/cluster.yaml": suspended(site, "other"),
    }
    head = site.commit_paths(files)
    git(site.path, "read-tree", head, index=True)
    for name, target in (("clusters/prod/staging.yaml", b"cluster.yaml"), ("docs/link", b"/etc/passwd")):
        blob = git(site.path, "hash-object", "-w", "--stdin", data=target)
        git(site.path, "update-index", "--add", "--cacheinfo", f"120000,{blob},{name}", index=True)
    linked = git(site.path, "commit-tree", git(site.path, "write-tree", index=True), "-p", head, "-m", "links")
    git(site.path, "update-ref", "refs/heads/main", linked)
    site.idle(2)
    said = site.status.stages["validate"].msg
    assert "clusters/prod/staging.yaml" in said and "never followed" in said
    assert site.engine.observe("other").plan is not None


def test_a_repository_without_a_commit_says_so(site: Site, tmp_path: Path) -> None:
    """B37: nothing is wrong, nothing is deleted, and the way to begin is named."""
    empty = tmp_path / "empty.git"
    git(tmp_path, "init", "--quiet", "--bare", "-b", "main", str(empty))
    site.close()
    site.location = f"file://{empty}"
    result = site.engine.tick()
    assert result.problem is not None and "no commits on branch main yet" in result.problem
    assert (result.clusters, result.sent, site.mutations()) == ([], 0, [])


SLIPS = {
    "in a value": ("cluster.yaml", "{cluster}    values:\n      env:\n        HF_TOKEN: {token}\n"),
    "as a label": ("groups.yaml", "{group}  labels:\n    token: {token}\n"),
    "where a number belongs": ("groups.yaml", "{group}  minCount: {token}\n"),
    "as the name of a field": ("groups.yaml", "{group}  {token}: 1\n"),
    "in a file that is no YAML": ("groups.yaml", "a: [{token}\n"),
    "as a document's name": ("groups.yaml", "{named}"),
    "as the file's name": ("{token}.yaml", "kind: Nothing\n"),
}


def test_a_planted_secret_gets_out_nowhere(site: Site) -> None:
    """D05, R10: by data, not by tool: whatever a face or a note says about the document, the value is not in it."""
    words = {"{cluster}": suspended(site).decode(), "{group}": SYSTEM, "{named}": group_yaml(TOKEN), "{token}": TOKEN}
    good = {"clusters/prod/cluster.yaml": suspended(site)}
    site.commit_paths(good, "good")

    def told(*command: str) -> str:
        environment = {"INSTANTSTART_REPOSITORY": str(site.path), "INSTANTSTART_STATE_DIR": str(site.state / "cli")}
        return str(CliRunner().invoke(make_app(), command, env=environment).output)

    said: dict[str, str] = {}
    for reason, (name, text) in SLIPS.items():
        for word, value in words.items():
            name, text = name.replace(word, value), text.replace(word, value)
        path = f"clusters/prod/{name}"
        site.commit_paths({path: text.encode()}, "a slip")
        site.idle(1)
        assert (site.status.condition, site.status.reason) == (Condition.STALLED, "Invalid"), reason
        said[reason] = json.dumps(site.lines) + str(site.status) + told("validate")
        site.commit_paths({path: good.get(path)}, "back")
    said |= {" ".join(command): told(*command) for command in (["plan"], ["status"], ["log"], ["log", "--json"])}
    assert [where for where, text in said.items() if TOKEN.lower() in text.lower()] == []
