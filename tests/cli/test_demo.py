"""The whole demo as a program calls it: sandbox, service, five scenes, and the proof that nothing happened twice."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from reconciler.cli.sample import read_sample
from schemas.documents.load import load_cluster
from schemas.documents.records import SourceFile
from web.demo import documents


@pytest.mark.sandbox
@pytest.mark.behaviour("Product: the demo, five scenes")
def test_the_demo_goes_well(request: pytest.FixtureRequest) -> None:
    kubernetes = str(request.config.getoption("--kubernetes"))
    command = [sys.executable, "-m", "web", "demo", "--once", "--json", "--rate", "150", "--kubernetes", kubernetes]
    done = subprocess.run(command, capture_output=True, timeout=1200)
    told = json.loads(done.stdout)
    assert told["failed"] == [] and told["ok"] and done.returncode == 0, done.stderr.decode()[-2000:]
    assert told["conditions"] == {"create": "Ready", "scale": "Ready", "refused": "Stalled", "revert": "Ready"}
    assert told["refusal"].startswith("Immutable")
    assert list(told["changes"].values()) == ["merged"]
    assert told["duplicates"] == [] and told["unjoined"] == [] and told["idle_mutations"] == 0


def test_its_documents_are_the_sample_with_a_few_words_changed() -> None:
    sample = read_sample()
    files = documents.seeded(sample, account="444455556666", region="us-west-2", chart=("chart", "a" * 40))
    changed = {path for path in files if files[path] != sample[path]}
    assert changed == {"clusters/demo/cluster.yaml"}
    for edit in ({}, documents.with_count(files, 3), documents.with_type(files, "ml.g5.12xlarge")):
        sources = [SourceFile(path=p, data=d) for p, d in {**files, **edit}.items() if p.startswith("clusters/demo/")]
        loaded = load_cluster("demo", sources)
        assert loaded.problems == ()
        assert loaded.cluster is not None and loaded.cluster.spec.account == "444455556666"
    assert documents.count_of({**files, **documents.with_count(files, 7)}) == 7
