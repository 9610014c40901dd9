"""A folder of files: what lies between documents, and the texts people read."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

from schemas.documents.load import assemble, load_cluster, load_policy
from schemas.documents.parse import parse_file, parse_files
from schemas.documents.records import LoadedCluster, SourceFile

REPOSITORY = Path(__file__).parents[2]
CLUSTER = """\
apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: demo
spec:
  account: "111122223333"
  region: us-west-2
  kubernetesVersion: "1.33"
"""
GROUP = """\
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: train
spec:
  instanceType: ml.g5.8xlarge
  count: 2
"""


def load(name: str = "demo", /, **files: str | bytes) -> LoadedCluster:
    """Files of clusters/<name>/; `__` in a name stands for the dot, a missing suffix for .yaml."""
    sources: list[SourceFile] = []
    for key, content in files.items():
        file = key.replace("__", ".") if "__" in key else f"{key}.yaml"
        data = content if isinstance(content, bytes) else content.encode()
        sources.append(SourceFile(path=f"clusters/{name}/{file}", data=data))
    return load_cluster(name, sources)


def texts(loaded: LoadedCluster) -> list[str]:
    return [str(problem) for problem in loaded.problems]


def test_a_cluster_of_several_files() -> None:
    loaded = load(cluster=CLUSTER, groups=GROUP + "---\n" + GROUP.replace("train", "system"), readme__md="hello")
    assert texts(loaded) == []
    assert loaded.cluster is not None
    assert loaded.cluster.spec.region == "us-west-2"
    assert [group.metadata.name for group in loaded.groups] == ["system", "train"]
    assert dict(loaded.others) == {"readme.md": b"hello"}
    document = loaded.document("InstanceGroup", "system")
    assert document is not None
    assert str(document.source) == "InstanceGroup/system"
    assert (document.path, document.line) == ("clusters/demo/groups.yaml", 9)


def test_golden_texts() -> None:
    """Every problem of a file at once, each with its place, its field, and what to do."""
    bad = """\
apiVersion: instantstart/v1
kind: InstanceGroup
metadata: {name: train_a}
spec:
  instanceType: g5.2xlarge
  count: ${N}
  replicas: 2
  capacity: {spot: }
  volume: {sizeGiB: 64Gi}
  labels: {node.kubernetes.io/x: y, team: <team>}
  zone: on
"""
    cluster = CLUSTER.replace('"111122223333"', "012345670123").replace('"1.33"', "1.30")
    assert texts(load(cluster=cluster, groups=bad)) == [
        "clusters/demo/cluster.yaml:6:12: spec.account: expected an AWS account id: 12 digits as text,"
        ' got the number 012345670123 (quote it, as in "111122223333")',
        "clusters/demo/cluster.yaml:8:22: spec.kubernetesVersion: expected a Kubernetes version that HyperPod runs on:"
        ' 1.30, 1.31, 1.32, 1.33, 1.34 or 1.35, got the number 1.30 (quote it, as in "1.33")',
        "clusters/demo/groups.yaml:3:18: metadata.name: expected an instance group name: letters, digits and '-',"
        ' at most 63 characters, got "train_a" (no underscores, no dots)',
        "clusters/demo/groups.yaml:5:17: spec.instanceType: expected an instance type that HyperPod offers,"
        ' such as ml.g5.8xlarge, got "g5.2xlarge" (write ml.g5.2xlarge)',
        "clusters/demo/groups.yaml:6:10: spec.count: expected a whole number, got the placeholder ${N}"
        " (nothing is substituted here: write the value)",
        "clusters/demo/groups.yaml:7:3: spec.replicas: expected a known field, got `replicas` (did you mean count?)",
        "clusters/demo/groups.yaml:8:3: spec.capacity: expected exactly one of onDemand, spot and trainingPlan,"
        " got none (write `spot: {}` or `onDemand: {}`, with the braces)",
        'clusters/demo/groups.yaml:9:21: spec.volume.sizeGiB: expected a whole number, got "64Gi"',
        "clusters/demo/groups.yaml:10:12: spec.labels['node.kubernetes.io/x']: expected a key outside kubernetes.io/,"
        ' got "node.kubernetes.io/x" (that prefix is reserved; use your own or none)',
        "clusters/demo/groups.yaml:10:43: spec.labels.team: expected a label value: 1 to 63 letters, digits and -_.,"
        " got the placeholder <team> (nothing is substituted here: write the value)",
        "clusters/demo/groups.yaml:11:9: spec.zone: expected a zone id such as usw2-az2,"
        ' or a zone name such as us-west-2b, got "on"',
    ]


def test_empty_required_fields_are_all_listed() -> None:
    """A22: a config written with empty variables."""
    text = CLUSTER.replace('"111122223333"', '""').replace("us-west-2", '""').replace('"1.33"', '""')
    assert [problem.found for problem in load(cluster=text).problems] == ["empty text"] * 3


def test_two_documents_with_one_name() -> None:
    """B18: two clean merges put the same document into two files."""
    loaded = load(cluster=CLUSTER, a=GROUP, b="# moved\n" + GROUP)
    assert texts(loaded) == [
        "clusters/demo/b.yaml:5:9: metadata.name: expected each InstanceGroup once,"
        " got train a second time (first in clusters/demo/a.yaml:1) (keep one of the two)"
    ]


def test_one_name_for_two_kinds_is_fine() -> None:
    storage = GROUP.replace("InstanceGroup", "Storage").replace("instanceType: ml.g5.8xlarge", "s3: {}")
    assert texts(load(cluster=CLUSTER, a=GROUP, b=storage.replace("  count: 2\n", ""))) == []


def test_no_cluster() -> None:
    assert texts(load(groups=GROUP)) == [
        "clusters/demo/:1:1: expected exactly one Cluster, got none (add clusters/demo/cluster.yaml)"
    ]


def test_an_unreadable_cluster_is_not_missing() -> None:
    for text in ("a: [", CLUSTER.replace("account", "acount"), CLUSTER.replace("kind: Cluster", "kind: Clutser")):
        assert not any("exactly one" in text for text in texts(load(cluster=text, groups=GROUP)))


def test_a_broken_group_does_not_hide_a_missing_cluster() -> None:
    found = texts(load(groups=GROUP.replace("count: 2", "count: x")))
    assert len(found) == 2
    assert "exactly one Cluster" in found[0]


def test_two_clusters() -> None:
    loaded = load(a=CLUSTER, b=CLUSTER.replace("name: demo", "name: other"))
    assert [problem.expected for problem in loaded.problems] == ["exactly one Cluster", "demo, the name of the folder"]


def test_the_folder_is_the_cluster() -> None:
    assert texts(load("prod", cluster=CLUSTER)) == [
        'clusters/prod/cluster.yaml:4:9: metadata.name: expected prod, the name of the folder, got "demo"'
        " (a cluster cannot be renamed; a copy goes into a folder of its own)"
    ]


def test_a_zone_of_another_region() -> None:
    """A17: found before a machine is asked for."""
    for zone in ("use1-az2", "us-east-1a"):
        (problem,) = load(cluster=CLUSTER, groups=GROUP + f"  zone: {zone}\n").problems
        assert (problem.line, problem.field, problem.expected) == (
            8,
            "spec.zone",
            "a zone of us-west-2, such as usw2-az1",
        )


def test_lifecycle_scripts_are_there_and_can_run() -> None:
    """A23: a script that is missing or cannot start is found here, not on a machine that costs money."""
    groups = GROUP + "  lifecycleScript: on.sh\n"
    assert "which is not there" in texts(load(cluster=CLUSTER, groups=groups))[0]
    assert "starts with #!" in texts(load(cluster=CLUSTER, groups=groups, on__sh="echo"))[0]
    assert "LF line ends" in texts(load(cluster=CLUSTER, groups=groups, on__sh="#!/bin/bash\r\necho\r\n"))[0]
    assert texts(load(cluster=CLUSTER, groups=groups, on__sh="#!/bin/bash\necho\n")) == []


def test_kinds_that_nobody_serves() -> None:
    """R08: told at once, with the kind that was meant."""
    for kind, hint in (
        ("NodeGroup", "did you mean InstanceGroup?"),
        ("instancegroup", "did you mean InstanceGroup?"),
        ("Clutser", "did you mean Cluster?"),
        ("ModelDeployment", "this version serves no other kind"),
    ):
        (problem,) = load(cluster=CLUSTER, x=f"apiVersion: instantstart/v1\nkind: {kind}\n").problems
        assert (problem.line, problem.field, problem.hint) == (2, "kind", hint)


def test_objects_of_kubernetes_do_not_belong_here() -> None:
    (problem,) = load(cluster=CLUSTER, x="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n").problems
    assert str(problem) == (
        'clusters/demo/x.yaml:1:13: apiVersion: expected instantstart/v1, got "v1"'
        " (objects of Kubernetes itself do not belong here)"
    )


def test_things_that_are_no_document() -> None:
    assert [problem.found for problem in load(cluster=CLUSTER, x="[a]\n---\nhello\n---\n3\n").problems] == [
        "a list of 1",
        '"hello"',
        "the number 3",
    ]


def test_one_bad_file_leaves_the_others_readable() -> None:
    """B24, B45: the bad byte is reported with its place; what can be read is there."""
    loaded = load(cluster=CLUSTER, groups=b"# caf\x97\n" + GROUP.encode())
    assert texts(loaded) == [
        "clusters/demo/groups.yaml:1:6: expected UTF-8, got byte 0x97 at offset 5 (save the file as UTF-8)"
    ]
    assert loaded.cluster is not None


def test_duplicate_keys() -> None:
    """B19: both lines are told, in YAML and JSON, and the rest of the document is still looked at."""
    assert texts(load(cluster=CLUSTER, groups=GROUP + "  count: 3\n  zoen: x\n")) == [
        "clusters/demo/groups.yaml:8:3: spec.count: expected each key once,"
        " got `count` a second time (first in line 7) (keep one of the two)",
        "clusters/demo/groups.yaml:9:3: spec.zoen: expected a known field, got `zoen` (did you mean zone?)",
    ]


def test_crlf_files_say_the_same() -> None:
    """B25: same documents, same digests, same places."""
    text = CLUSTER + "---\r\n# nothing\n---\n" + GROUP.replace("count: 2", "count: x")
    unix, windows = load(cluster=text.replace("\r", "")), load(cluster=text.replace("\r", "").replace("\n", "\r\n"))
    assert texts(unix) == texts(windows)
    assert [item.digest for item in unix.documents] == [item.digest for item in windows.documents]


def test_a_secret_is_refused_and_not_repeated() -> None:
    """R10, D05: the value appears nowhere in the message."""
    token = "hf_" + "aB3" * 12
    group = GROUP + f"  labels:\n    token: {token}\n"
    found = "\n".join(texts(load(cluster=CLUSTER, groups=group, setup__sh=f"#!/bin/sh\nexport X={token}\n")))
    assert "clusters/demo/groups.yaml:9:12: spec.labels.token: expected no secret in git" in found
    assert "clusters/demo/setup.sh:2:10: expected no secret in git" in found
    assert token not in found
    assert token[5:] not in found


def test_a_long_or_odd_value_is_shown_short() -> None:
    text = GROUP.replace("ml.g5.8xlarge", '"' + "x" * 500 + '\\n"')
    (problem,) = load(cluster=CLUSTER, groups=text).problems
    assert len(problem.found) < 70


def test_authored_is_what_was_written() -> None:
    """`{}` stays, defaults do not appear, an entry without a value is not there (R16, A29)."""
    loaded = load(cluster=CLUSTER, groups=GROUP + "  capacity: {spot: {}}\n  labels:\n  taints: []\n")
    assert texts(loaded) == []
    document = loaded.document("InstanceGroup", "train")
    assert document is not None
    assert document.authored == {"instanceType": "ml.g5.8xlarge", "count": 2, "capacity": {"spot": {}}, "taints": []}


def test_null_inside_values_is_kept() -> None:
    text = CLUSTER + "  dependencies:\n    addons:\n      coredns:\n        version:\n        values: {a: }\n"
    loaded = load(cluster=text)
    assert texts(loaded) == []
    assert loaded.documents[0].authored["dependencies"] == {"addons": {"coredns": {"values": {"a": None}}}}


def test_the_digest_does_not_depend_on_form() -> None:
    json_text = (
        '{"kind": "InstanceGroup", "apiVersion": "instantstart/v1", "metadata": {"name": "train"},'
        ' "spec": {"count": 2, "instanceType": "ml.g5.8xlarge"}}'
    )
    (one,) = parse_file("a.yaml", GROUP.encode()).documents
    (other,) = parse_file("a.json", json_text.encode()).documents
    assert one.digest == other.digest
    assert len(one.digest) == 64


def test_the_order_of_files_does_not_matter() -> None:
    files = [parse_file("clusters/demo/a.yaml", CLUSTER.encode()), parse_file("clusters/demo/b.yaml", GROUP.encode())]
    assert assemble("demo", files) == assemble("demo", files[::-1])


def test_many_files_at_once_are_the_same() -> None:
    contents = {"a.yaml": CLUSTER, "b.yaml": GROUP + "x: 1\n", "c.sh": "#!/bin/sh\n", "d.json": "{", "e.yaml": GROUP}
    files = [SourceFile(path=path, data=text.encode()) for path, text in contents.items()]
    assert gc.isenabled()
    assert parse_files(files) == [parse_file(file.path, file.data) for file in files]
    assert gc.isenabled()


def test_parsed_files_can_be_kept() -> None:
    """Callers cache them by blob; a cache on disk pickles."""
    parsed = parse_file("clusters/demo/a.yaml", (CLUSTER + "---\n" + GROUP).encode())
    assert pickle.loads(pickle.dumps(parsed)) == parsed


def test_an_absent_policy_is_the_built_in_one() -> None:
    loaded = load_policy(None)
    assert loaded.problems == ()
    assert loaded.policy.spec.approvals.require_for == ("replace", "delete")


def test_a_policy_file() -> None:
    text = "apiVersion: instantstart/v1\nkind: Policy\nmetadata: {name: x}\nspec: {drift: {counts: hold}}\n"
    loaded = load_policy(SourceFile(path="clusters/policy.yaml", data=text.encode()))
    assert loaded.problems == ()
    assert loaded.policy.spec.drift.counts == "hold"


def test_policies_that_cannot_be_taken() -> None:
    policy = "apiVersion: instantstart/v1\nkind: Policy\nmetadata: {name: x}\nspec: {}\n"
    for text, expected in (
        ("", "a Policy"),
        (policy + "---\n" + policy, "one Policy"),
        (GROUP, "Policy"),
        (policy.replace("{}", "{drift: {counts: x}}"), "one of restore, hold"),
        ("a: [", "YAML"),
    ):
        loaded = load_policy(SourceFile(path="clusters/policy.yaml", data=text.encode()))
        assert [problem.expected for problem in loaded.problems] == [expected], text
        assert loaded.policy.metadata.name == "built-in"


def test_a_policy_in_a_folder() -> None:
    policy = "apiVersion: instantstart/v1\nkind: Policy\nmetadata: {name: x}\nspec: {}\n"
    (problem,) = load(cluster=CLUSTER, policy=policy).problems
    assert problem.hint == "the Policy is clusters/policy.yaml"


def test_the_sample_repository_has_no_problems() -> None:
    folder = REPOSITORY / "clusters" / "demo"
    files = [
        SourceFile(path=str(path.relative_to(REPOSITORY)), data=path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    loaded = load_cluster("demo", files)
    assert texts(loaded) == []
    assert [(item.kind, item.name) for item in loaded.documents] == [
        ("Cluster", "demo"),
        ("InstanceGroup", "system"),
        ("InstanceGroup", "train"),
        ("Storage", "shared"),
    ]
    policy = REPOSITORY / "clusters" / "policy.yaml"
    assert load_policy(SourceFile(path="clusters/policy.yaml", data=policy.read_bytes())).problems == ()


def test_the_sample_policy_says_what_is_built_in() -> None:
    data = (REPOSITORY / "clusters" / "policy.yaml").read_bytes()
    sample = load_policy(SourceFile(path="clusters/policy.yaml", data=data)).policy
    assert sample.spec == load_policy(None).policy.spec
