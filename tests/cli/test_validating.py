from __future__ import annotations

from pathlib import Path

from tests.cli.clibox import CliBox, call, same_as_golden

BAD = """\
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: extra
spec:
  instanceType: ml.m5.2xlarge
  count: two
  zone: usw2-az2
  colour: red
"""


def test_it_says_what_is_clean(box: CliBox) -> None:
    said = box.call("validate")
    assert (said.code, said.out) == (0, f"Nothing wrong in {box.path}: 4 documents in 1 cluster.\n")
    said = box.call("validate", "--revision", "main")
    assert (said.code, said.out) == (0, f"Nothing wrong in commit {box.first[:7]}: 4 documents in 1 cluster.\n")


def test_a_checkout_is_checked_before_a_commit_is_made(box: CliBox, tmp_path: Path) -> None:
    (box.path / "clusters/demo/extra.yaml").write_text(BAD)
    assert box.call("validate").code == 1, "who edits wants to know about the edit"
    box.git("clone", "-q", "--bare", str(box.path), str(tmp_path / "bare"))
    assert "in commit" in call("validate", "-r", str(tmp_path / "bare")).out, "there is nothing but commits"


def test_what_no_commit_would_be_read_for_is_told_of_a_folder_too(box: CliBox) -> None:
    (box.path / "clusters/demo/extra.yaml").write_text("a: 1\n" * 300_000)
    said = box.call("validate")
    assert said.code == 1 and "expected a file of at most 1 MiB, got 1500000 bytes" in said.out


def test_problems_have_places_and_the_same_ones_in_a_folder_and_in_a_revision(box: CliBox) -> None:
    (box.path / "clusters/demo/extra.yaml").write_text(BAD)
    from_folder = call("validate", str(box.path))
    assert from_folder.code == 1
    assert call("validate", str(box.path / "clusters")).out == from_folder.out
    (box.path / "clusters/demo/extra.yaml").unlink()
    revision = box.commit({"clusters/demo/extra.yaml": BAD})
    assert box.call("validate", "--revision", revision[:10]).out == from_folder.out
    assert box.call("validate", "--revision", "main~1").code == 0
    same_as_golden("validate.txt", from_folder.out)
    found = box.call("validate", "--json").json["problems"]
    assert [(p["file"], p["line"], p["field"]) for p in found] == [
        ("clusters/demo/extra.yaml", 7, "spec.count"),
        ("clusters/demo/extra.yaml", 9, "spec.colour"),
    ]


def test_the_policy_counts(box: CliBox) -> None:
    box.commit({"clusters/policy.yaml": "apiVersion: instantstart/v1\nkind: Policy\nmetadata: {name: x}\nspec: 3\n"})
    said = box.call("validate")
    assert said.code == 1 and "clusters/policy.yaml:4:7" in said.out


def test_what_is_no_cluster(tmp_path: Path) -> None:
    said = call("validate", str(tmp_path))
    assert said.code == 1 and "holds no folder clusters/" in said.err
    (tmp_path / "clusters" / "Not_A_Name").mkdir(parents=True)
    (tmp_path / "clusters" / "ok").mkdir()
    (tmp_path / "clusters" / "ok" / "link.yaml").symlink_to("/etc/hostname")
    said = call("validate", str(tmp_path))
    assert said.code == 1 and "Not_A_Name" in said.out and "a symbolic link" in said.out


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "clusters" / "demo"
    folder.mkdir(parents=True)
    (folder / "cluster.yaml").write_text('kind: "\\e[31mred"\n')
    said = call("validate", str(tmp_path))
    assert said.code == 1 and "\x1b" not in said.out
