"""Laws of documents, over generated ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import instance_types
from schemas.documents import packed
from schemas.documents.costs import cost_at
from schemas.documents.kinds import KINDS
from schemas.documents.parse import parse_file
from schemas.values import JsonObject, JsonValue


def _written(document: JsonObject, form: str) -> bytes:
    """JSON, or the same as YAML in block style with quoted text."""
    return (json.dumps(document) if form == "json" else "\n".join(_block(document, 0))).encode()


def _block(value: JsonObject, depth: int) -> list[str]:
    """YAML's block style down to the fields of the spec, flow style below: JSON is valid there."""
    lines: list[str] = []
    for key, item in value.items():
        if depth == 0 and key in ("metadata", "spec"):
            lines += [f"{key}:", *_block(item, 1)] if item else [f"{key}: {{}}"]
        else:
            lines.append(f"{'  ' * depth}{key}: {json.dumps(item, ensure_ascii=False)}")
    return lines


_WORD = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({}, optional=fields)


_NONSENSE: list[Any] = [[], {"x": 1}, -7, "", "${X}", [[]], {"": None}, 1e300, "\U0001f600", [None]]
_CAPACITY = st.sampled_from(
    [
        {"onDemand": {}},
        {"spot": {}},
        {"trainingPlan": {"arn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/a"}},
    ]
)
_TAINT = st.fixed_dictionaries({"key": _WORD, "effect": st.sampled_from(["NoSchedule", "NoExecute"])})
_GROUP = st.tuples(
    st.fixed_dictionaries({"instanceType": st.sampled_from(instance_types.NAMES), "count": st.integers(0, 6758)}),
    _some(
        zone=st.sampled_from(["usw2-az1", "us-west-2c"]),
        capacity=_CAPACITY,
        volume=st.fixed_dictionaries({"sizeGiB": st.integers(1, 16384)}, optional={"kmsKeyId": _WORD}),
        threadsPerCore=st.integers(1, 2),
        labels=st.dictionaries(_WORD, _WORD, max_size=4),
        taints=st.lists(_TAINT, max_size=3, unique_by=lambda taint: (taint["key"], taint["effect"])),
        lifecycleScript=st.just("lifecycle/on_create.sh"),
    ),
).map(lambda parts: {**parts[0], **parts[1]})
_CLUSTER = st.tuples(
    st.fixed_dictionaries(
        {
            "account": st.from_regex(r"[0-9]{12}", fullmatch=True),
            "region": st.sampled_from(["us-west-2", "eu-central-1"]),
            "kubernetesVersion": st.sampled_from(["1.30", "1.33", "1.35"]),
        }
    ),
    _some(
        network=st.sampled_from([{}, {"vpc": "vpc-0a1b2c3d"}, {"vpcCidr": "10.0.0.0/16"}]),
        endpoint=_some(private=st.booleans()),
        logging=st.lists(st.sampled_from(["api", "audit", "scheduler"]), unique=True),
        hyperpod=_some(nodeRecovery=st.sampled_from(["Automatic", "None"]), tags=st.dictionaries(_WORD, _WORD)),
        suspend=st.booleans(),
        deletionProtection=st.booleans(),
    ),
).map(lambda parts: {**parts[0], **parts[1]})
_DOCUMENTS = st.one_of(
    st.tuples(st.just("InstanceGroup"), _WORD, _GROUP), st.tuples(st.just("Cluster"), _WORD, _CLUSTER)
).map(
    lambda parts: {
        "apiVersion": "instantstart/v1",
        "kind": parts[0],
        "metadata": {"name": parts[1]},
        "spec": parts[2],
    }
)


@settings(max_examples=60, deadline=None)
@given(_DOCUMENTS, st.sampled_from(["yaml", "json"]))
def test_a_good_document_comes_back_as_it_was_written(document: JsonObject, form: str) -> None:
    parsed = parse_file(f"a.{form}", _written(document, form))
    assert [str(problem) for problem in parsed.problems] == []
    (read,) = parsed.documents
    assert read.authored == document["spec"]
    assert read.model.spec.model_dump(mode="json", by_alias=True, exclude_unset=True) == document["spec"]


@settings(max_examples=60, deadline=None)
@given(_DOCUMENTS, st.sampled_from(["yaml", "json"]))
def test_what_is_packed_comes_back_the_same(document: JsonObject, form: str) -> None:
    """A document from the cache of an earlier start is the document of the file."""
    parsed = parse_file(f"a.{form}", _written(document, form))
    (blob, held) = packed.listed(packed.pack([("0" * 40, parsed)]))[parsed.path]
    assert blob == "0" * 40
    assert packed.documents(parsed.path, held) == parsed.documents


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=40) | st.text(alphabet='[]{}":,a1', max_size=12).map(str.encode))
def test_nothing_else_is_taken_for_packed(data: bytes) -> None:
    try:
        for path, (_, held) in packed.listed(data).items():
            packed.documents(path, held)
    except packed.NotPacked:
        pass


@settings(max_examples=60, deadline=None)
@given(_DOCUMENTS)
def test_everything_authored_has_a_cost(document: JsonObject) -> None:
    """What the plan can see change, it can also say the cost of."""
    for pointer in _leaves(document["spec"], "/spec"):
        assert cost_at(document["kind"], pointer) is not None, pointer


@settings(max_examples=100, deadline=None)
@given(_DOCUMENTS, st.data())
def test_damage_is_told_at_its_place(document: JsonObject, data: st.DataObject) -> None:
    """Whatever field is replaced by nonsense, there are problems, they name that field or one around it, no crash."""
    spec = document["spec"]
    field = data.draw(st.sampled_from(sorted(spec)))
    spec[field] = data.draw(st.sampled_from(_NONSENSE))
    text = _written(document, "yaml")
    parsed = parse_file("a.yaml", text)
    if parsed.documents:  # some of it makes sense: `logging: []`
        assert parsed.problems == ()
        return
    assert parsed.problems
    assert all(problem.field.startswith(f"spec.{field}") for problem in parsed.problems), parsed.problems
    lines = text.decode().split("\n")
    assert all(lines[problem.line - 1].startswith(f"  {field}:") for problem in parsed.problems)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(KINDS)),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["s3", "count", "access", "reboot", "nodes", "labels", "x"]), inner)
        ),
        max_leaves=10,
    ),
)
def test_no_spec_crashes_it(kind: str, spec: JsonValue) -> None:
    text = json.dumps({"apiVersion": "instantstart/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec})
    parsed = parse_file("a.json", text.encode())
    assert bool(parsed.problems) != bool(parsed.documents)


def _leaves(value: JsonValue, pointer: str) -> list[str]:
    if isinstance(value, dict) and value:
        items = cast("JsonObject", value).items()
        return [leaf for key, item in items for leaf in _leaves(item, f"{pointer}/{key}")]
    if isinstance(value, list) and value:
        entries = enumerate(cast("Sequence[JsonValue]", value))
        return [leaf for index, item in entries for leaf in _leaves(item, f"{pointer}/{index}")]
    return [pointer]
