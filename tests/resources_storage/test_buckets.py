"""The lifecycle bucket and what is in it, over HTTP."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from typing import Any, cast

import pytest

from reconciler.live.aws.sessions import AwsSession
from reconciler.live.errors import CallRejected
from reconciler.resources.handler import Call, Handler, Reply, Settlement, Verdict, World
from reconciler.resources.storage.buckets import Buckets
from reconciler.resources.storage.objects import Objects
from schemas.errors import InvalidInput
from schemas.journal import OpRecord, Phase
from schemas.plan import Action, Cost, Verb
from schemas.resource import Health, Mark, Observed, Presence, Ref, Resource, Source, Stage

SPEC = {"publicAccess": "blocked", "encryption": "AES256"}
SOURCE = Source("Cluster", "prod")
PACKAGED = "package:on_create.sh"
_numbers = itertools.count(1)


def op_id() -> str:
    return f"01NEW{next(_numbers):04}"


def bucket(world: World, **more: Any) -> Resource:
    name = f"sagemaker-prod-{world.account}-{world.region}"
    fields: dict[str, Any] = {
        "key": "s3.Bucket/prod/lifecycle",
        "name": name,
        "spec": {} if more.get("reference") else SPEC,
        **more,
    }
    return Resource(type="s3.Bucket", cluster="prod", stage=Stage.COMPUTE, lane=f"s3/{name}", source=SOURCE, **fields)


def objects(world: World, files: dict[str, str], contents: dict[str, bytes]) -> Resource:
    return Resource(
        key="s3.Objects/prod/lifecycle",
        type="s3.Objects",
        name="lifecycle",
        cluster="prod",
        stage=Stage.COMPUTE,
        lane=bucket(world).lane,
        spec={
            "bucket": Ref("s3.Bucket/prod/lifecycle", "name"),
            "prefix": "lifecycle/",
            "objects": {name: hashlib.sha256(contents[name]).hexdigest() for name in files},
        },
        initial={"files": files},
        source=SOURCE,
    )


def action(verb: Verb, resource: Resource, *fields: str) -> Action:
    return Action(
        verb=verb,
        key=resource.key,
        type=resource.type,
        name=resource.name,
        stage=resource.stage,
        lane=resource.lane,
        cost=Cost.NONE,
        source=SOURCE,
        want=resource.spec,
        fields=fields,
    )


class Bench:
    """Looks, does one action, and reads its fate."""

    def __init__(self, world: World, *resources: Resource) -> None:
        self.world = world
        self.world.desired = {resource.key: resource for resource in resources}
        self.handlers: Sequence[Handler] = (Buckets(), Objects())
        self.look()

    def look(self) -> dict[str, Observed]:
        self.world.observed.clear()
        for handler in self.handlers:
            self.world.observed.update({o.key: o for o in handler.look(self.world, [*self.world.desired.values()])})
        return self.world.observed

    def do(self, verb: Verb, resource: Resource, *fields: str) -> tuple[Settlement, Reply]:
        handler = next(h for h in self.handlers if resource.type in h.types)
        (call,) = handler.calls(self.world, [action(verb, resource, *fields)])
        op = op_id()
        reply = handler.send(self.world, call, op)
        self.look()
        return handler.settled(self.world, record(call, op, reply)), reply

    def made(self, resource: Resource) -> Reply:
        """Created. This S3 does not take tags with the creation, so that the mark follows, as a later plan has it."""
        reply = self.do(Verb.CREATE, resource)[1]
        assert self.do(Verb.MARK, resource)[0].verdict is Verdict.HAPPENED
        return reply


def record(call: Call, op: str, reply: Reply) -> OpRecord:
    return OpRecord.model_validate(
        {
            "op": op,
            "phase": Phase.INTENT,
            "key": call.key,
            "verb": call.verb,
            "call": call.call,
            "class": call.cls,
            "before": call.before,
            "ref": reply.ref,
        }
    )


@pytest.fixture(autouse=True)
def empty(world: World) -> None:
    """Every test starts without our bucket."""
    name = bucket(world).name
    if next(iter(Buckets().look(world, [bucket(world)]))).present:
        for item in world.aws.pages("s3", "ListObjectsV2", "Contents", Bucket=name):
            world.aws.mutate("s3", "DeleteObject", op="01CLEAN", Bucket=name, Key=item["Key"])
        world.aws.mutate("s3", "DeleteBucket", op="01CLEAN", Bucket=name)


def test_a_bucket_from_nothing_to_gone(world: World) -> None:
    wanted = bucket(world)
    bench = Bench(world, wanted)
    assert bench.world.observed[wanted.key].presence is Presence.ABSENT
    assert bench.made(wanted).ref == {"id": wanted.name}
    seen = bench.world.observed[wanted.key]
    assert (seen.mark, seen.attrs["name"], seen.attrs["region"]) == (Mark.OURS, wanted.name, world.region)
    assert bench.do(Verb.UPDATE, wanted, "publicAccess", "encryption")[0].verdict is Verdict.HAPPENED
    assert bench.world.observed[wanted.key].spec == SPEC
    assert bench.do(Verb.DELETE, wanted)[0].verdict is Verdict.HAPPENED
    assert bench.world.observed[wanted.key].presence is Presence.ABSENT


def made(world: World, tags: dict[str, str]) -> Observed:
    """The bucket as another request left it, and what the look says of it."""
    name = bucket(world).name
    where: dict[str, Any] = {"CreateBucketConfiguration": {"LocationConstraint": world.region}}
    world.aws.mutate("s3", "CreateBucket", op="01X", Bucket=name, **({} if world.region == "us-east-1" else where))
    world.aws.mutate("s3", "DeleteBucketTagging", op="01X", Bucket=name)  # moto keeps those of a bucket that is gone
    if tags:
        tag_set = [{"Key": key, "Value": value} for key, value in tags.items()]
        world.aws.mutate("s3", "PutBucketTagging", op="01X", Bucket=name, Tagging={"TagSet": tag_set})
    (seen,) = Buckets().look(world, [bucket(world)])
    world.observed[seen.key] = seen
    return seen


@pytest.mark.parametrize(
    ("tags", "verdict"),
    [
        pytest.param({}, Verdict.HAPPENED, id="died between the creation and the tags"),
        pytest.param({"owner": "team-a"}, Verdict.TAKEN, id="somebody else was faster"),
    ],
)
def test_a_creation_whose_outcome_nobody_heard(world: World, tags: dict[str, str], verdict: Verdict) -> None:
    """A bucket gets its mark by a second request where S3 takes no tags with the first. In between it is still ours:
    the op has happened, and what the journal knows as made is marked."""
    wanted = bucket(world)
    (call,) = Buckets().calls(world, [action(Verb.CREATE, wanted)])
    seen = made(world, tags)
    assert seen.mark is Mark.FOREIGN
    settled = Buckets().settled(world, record(call, op_id(), Reply()))
    assert settled.verdict is verdict
    assert settled.ref == ({"id": wanted.name} if verdict is Verdict.HAPPENED else {})


def test_a_strangers_bucket_is_adopted_and_let_go_of(world: World) -> None:
    wanted = bucket(world)
    bench = Bench(world, wanted)
    bench.made(wanted)
    tags = [{"Key": "owner", "Value": "team-a"}]
    world.aws.mutate("s3", "PutBucketTagging", op="01X", Bucket=wanted.name, Tagging={"TagSet": tags})
    assert bench.look()[wanted.key].mark is Mark.FOREIGN
    assert bench.do(Verb.ADOPT, wanted)[0].verdict is Verdict.HAPPENED
    assert bench.look()[wanted.key].mark is Mark.ADOPTED
    assert bench.do(Verb.RELEASE, wanted)[0].verdict is Verdict.HAPPENED
    assert world.aws.read("s3", "GetBucketTagging", Bucket=wanted.name)["TagSet"] == tags


def test_a_bucket_with_data_of_others_is_released_not_deleted(world: World) -> None:
    wanted = bucket(world)
    script = b"#!/bin/bash\n"
    scripts = objects(world, {"on_create.sh": "on_create.sh"}, {"on_create.sh": script})
    world.file = lambda path: script
    bench = Bench(world, wanted, scripts)
    bench.made(wanted)
    bench.do(Verb.CREATE, scripts)
    world.aws.mutate("s3", "PutObject", op="01X", Bucket=wanted.name, Key="data/model.bin", Body=b"x")
    settled, reply = bench.do(Verb.DELETE, wanted)
    assert (settled.verdict, reply.ref["kept"]) == (Verdict.HAPPENED, "1")
    assert "1 objects" in settled.message
    left = world.aws.pages("s3", "ListObjectsV2", "Contents", Bucket=wanted.name)
    assert [item["Key"] for item in left] == ["data/model.bin"]
    assert bench.look()[wanted.key].mark is Mark.FOREIGN


def test_an_existing_bucket_is_only_looked_up(world: World) -> None:
    """A reference that is not there is absent."""
    there = bucket(world)
    Bench(world, there).do(Verb.CREATE, there)
    used = bucket(world, key="s3.Bucket/prod/data", reference=True)
    missing = bucket(world, key="s3.Bucket/prod/none", name=f"not-there-{world.region}", reference=True)
    seen = Bench(world, used, missing).world.observed
    assert (seen[used.key].health, seen[used.key].attrs["name"]) == (Health.HEALTHY, there.name)
    assert seen[missing.key].presence is Presence.ABSENT


def test_scripts_are_uploaded_as_a_unit_and_compared_without_download(world: World, files: dict[str, bytes]) -> None:
    """A23"""
    files |= {"scripts/on_create.sh": b"#!/bin/bash\n./main.sh\n", "scripts/main.sh": b"#!/bin/bash\n"}
    paths = {"c/on_create.sh": "scripts/on_create.sh", "c/main.sh": "scripts/main.sh"}
    wanted = objects(world, paths, {name: files[path] for name, path in paths.items()})
    bench = Bench(world, bucket(world), wanted)
    assert bench.world.observed[wanted.key].presence is Presence.ABSENT
    assert not Objects().calls(world, [action(Verb.CREATE, wanted)])  # no bucket yet
    bench.do(Verb.CREATE, bucket(world))
    assert bench.do(Verb.CREATE, wanted)[0].verdict is Verdict.HAPPENED
    seen = bench.world.observed[wanted.key]
    assert (seen.spec["objects"], seen.mark, seen.ready) == (wanted.spec["objects"], Mark.OURS, True)

    files["scripts/on_create.sh"] = b"#!/bin/bash\ntrue\n"
    fewer = objects(
        world, {"c/on_create.sh": "scripts/on_create.sh"}, {"c/on_create.sh": files["scripts/on_create.sh"]}
    )
    bench.world.desired = {r.key: r for r in (bucket(world), fewer)}
    bench.look()
    assert not bench.world.observed[fewer.key].ready
    assert bench.do(Verb.UPDATE, fewer, "objects")[0].verdict is Verdict.HAPPENED
    assert bench.world.observed[fewer.key].spec["objects"] == fewer.spec["objects"]
    assert bench.do(Verb.DELETE, fewer)[0].verdict is Verdict.HAPPENED
    assert bench.world.observed[fewer.key].presence is Presence.ABSENT


def test_objects_of_others_under_our_prefix_stay(world: World, files: dict[str, bytes]) -> None:
    files["a.sh"] = b"#!/bin/bash\n"
    wanted = objects(world, {"a.sh": "a.sh"}, files)
    bench = Bench(world, bucket(world), wanted)
    bench.do(Verb.CREATE, bucket(world))
    world.aws.mutate("s3", "PutObject", op="01X", Bucket=bucket(world).name, Key="lifecycle/note.txt", Body=b"hand")
    bench.do(Verb.CREATE, wanted)
    assert bench.do(Verb.DELETE, wanted)[0].verdict is Verdict.HAPPENED
    left = world.aws.pages("s3", "ListObjectsV2", "Contents", Bucket=bucket(world).name)
    assert [item["Key"] for item in left] == ["lifecycle/note.txt"]


@pytest.mark.parametrize(
    ("reason", "content", "wanted"),
    [
        ("no shebang", b"echo hi\n", "ScriptUnsound"),
        ("CRLF", b"#!/bin/bash\r\n", "ScriptUnsound"),
        ("not what was planned", b"#!/bin/bash\necho other\n", "FileMoved"),
    ],
)
def test_unsound_scripts_do_not_leave(
    world: World, files: dict[str, bytes], reason: str, content: bytes, wanted: str
) -> None:
    files["a.sh"] = content
    planned = content if wanted == "ScriptUnsound" else b"#!/bin/bash\n"
    resource = objects(world, {"a.sh": "a.sh"}, {"a.sh": planned})
    bench = Bench(world, bucket(world), resource)
    bench.do(Verb.CREATE, bucket(world))
    with pytest.raises(InvalidInput) as caught:
        bench.do(Verb.CREATE, resource)
    assert caught.value.reason == wanted, reason


def test_what_answers_403_is_anothers_bucket_unless_we_made_it(world: World) -> None:
    """Rule 1: a denied look at our own bucket is Unknown, so nothing is marked or made on its strength."""
    wanted = bucket(world)
    denied = CallRejected("HeadBucket: 403", reason="AccessDenied")
    world.aws = cast("AwsSession", _Denying(denied))
    (seen,) = Buckets().look(world, [wanted])
    assert (seen.health, seen.reason, seen.mark) == (Health.FAILED, "BucketForbidden", Mark.FOREIGN)
    world.made = {wanted.key: wanted.name}
    with pytest.raises(CallRejected):
        list(Buckets().look(world, [wanted]))


class _Denying:
    def __init__(self, error: CallRejected) -> None:
        self.error = error

    def read(self, *_: Any, **__: Any) -> Any:
        raise self.error
