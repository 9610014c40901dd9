"""What the README tells people to write is a document that can be read, and adopts."""

from __future__ import annotations

from pathlib import Path

from reconciler.desired.build import build
from schemas.documents.load import load_cluster
from schemas.documents.records import SourceFile

README = Path(__file__).parents[2] / "README.md"


def test_the_example_adopts() -> None:
    section = README.read_text().split("## A cluster that is there already", 1)[1]
    text = section.split("```yaml\n", 1)[1].split("```", 1)[0]
    loaded = load_cluster("prod", [SourceFile(path="clusters/prod/cluster.yaml", data=text.encode())])
    assert loaded.problems == ()
    desired = build(loaded, b"")
    assert {r.adopt for r in desired.resources.values() if r.adopt} == {
        "vpc-0a1b2c3d4e5f60718",
        "my-eks",
        "my-hyperpod",
    }
    compared = desired.resources["hyperpod.InstanceGroup/prod/workers"].spec
    assert compared == {"instanceType": "ml.g5.8xlarge", "count": 4}, "what is written and nothing else"
