"""Files we keep in a bucket: lifecycle scripts. Each object carries its sha256, so that a look needs no download.

Nodes read a script when they are made: a changed script reaches new and replaced nodes only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import cast

from reconciler.live.errors import NotFound
from reconciler.resources.base import BaseHandler, of_types
from reconciler.resources.drafts import as_map
from reconciler.resources.handler import Call, Reply, World
from reconciler.resources.storage import scripts
from schemas.errors import InvalidInput
from schemas.journal import EffectClass
from schemas.plan import Action, Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, refs_in, resolve, unknown
from schemas.values import JsonObject, digest

OBJECTS = "s3.Objects"
META_SHA = "instantstart-sha256"
META_KEY = "instantstart-key"
META_OP = "instantstart-op"
LARGEST_SET = 100  # files under one prefix that we look at


class Objects(BaseHandler):
    """A set of files under one prefix, as a unit: a script is never newer than what it calls."""

    types: tuple[str, ...] = (OBJECTS,)
    looks_after: tuple[str, ...] = ("s3.Bucket",)

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        for resource in of_types(wanted, OBJECTS):
            yield _look(world, resource)

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        drafts = [_draft(world, action) for action in actions if action.type == OBJECTS]
        return [call for call in drafts if call is not None]

    def send(self, world: World, call: Call, op: str) -> Reply:
        bucket, prefix = str(call.params["bucket"]), str(call.params["prefix"])
        files = cast("dict[str, str]", call.params["files"])
        if call.verb == Verb.DELETE:
            _remove(world, bucket, prefix, call.key, keep=(), op=op)
            return Reply()
        contents = _contents(world, files, cast("dict[str, str]", call.params["objects"]))
        # The entry point goes last, so that it never calls what is not there yet.
        for name in sorted(contents, key=lambda name: (PurePosixPath(name).name == "on_create.sh", name)):
            world.aws.mutate(
                "s3",
                "PutObject",
                op=op,
                Bucket=bucket,
                Key=prefix + name,
                Body=contents[name],
                Metadata={META_SHA: _sha(contents[name]), META_KEY: call.key, META_OP: op},
            )
        _remove(world, bucket, prefix, call.key, keep=tuple(contents), op=op)
        return Reply()


def listed(world: World, bucket: str, prefix: str) -> list[str]:
    """Keys of all objects under the prefix."""
    found = world.aws.pages("s3", "ListObjectsV2", "Contents", Bucket=bucket, Prefix=prefix)
    return [str(entry["Key"]) for entry in found]


def metadata(world: World, bucket: str, key: str) -> dict[str, str]:
    """The object's own metadata; empty if it has just gone."""
    try:
        answer = world.aws.read("s3", "HeadObject", Bucket=bucket, Key=key)
    except NotFound:
        return {}
    return {str(k).lower(): str(v) for k, v in as_map(answer.get("Metadata")).items()}


def _look(world: World, resource: Resource) -> Observed:
    spec = cast("JsonObject", resolve(resource.spec, world.observed))
    for ref in refs_in(spec):
        seen = world.observed.get(ref.key)
        if seen is None or seen.presence is Presence.UNKNOWN:
            return unknown(resource, "BucketUnknown", f"cannot see {ref.key}, so not what is in it either")
        return absent(resource)  # no bucket, so nothing in it
    bucket, prefix = str(spec["bucket"]), str(spec["prefix"])
    try:
        names = [key.removeprefix(prefix) for key in listed(world, bucket, prefix)][:LARGEST_SET]
    except NotFound:
        return absent(resource)
    found = {name: metadata(world, bucket, prefix + name) for name in names}
    ours = {name: meta for name, meta in found.items() if meta.get(META_KEY) == resource.key}
    wanted: JsonObject = spec.get("objects") or {}
    shown = {name: meta.get(META_SHA, "") for name, meta in found.items() if name in ours or name in wanted}
    if not shown:
        return absent(resource)
    return Observed(
        key=resource.key,
        type=OBJECTS,
        name=resource.name,
        presence=Presence.PRESENT,
        spec={"bucket": bucket, "prefix": prefix, "objects": shown},
        attrs={"uri": f"s3://{bucket}/{prefix}", "bucket": bucket, "prefix": prefix},
        health=Health.HEALTHY,
        ready=wanted.items() <= shown.items(),
        mark=Mark.OURS if ours else Mark.FOREIGN,
        op=next(iter(sorted({meta[META_OP] for meta in ours.values() if META_OP in meta}, reverse=True)), None),
        identity=f"{bucket}/{prefix}",
    )


def _draft(world: World, action: Action) -> Call | None:
    seen = world.observed.get(action.key)
    resource = world.desired.get(action.key)
    if action.verb in (Verb.DELETE, Verb.RELEASE):
        spec: JsonObject = dict(seen.spec) if seen is not None else {}
    else:
        spec = cast("JsonObject", resolve(action.want, world.observed))
    if "bucket" not in spec or any(refs_in(spec)):
        return None
    return Call(
        key=action.key,
        lane=action.lane,
        verb=Verb.DELETE.value if action.verb is Verb.RELEASE else action.verb.value,
        call="s3:DeleteObject" if action.verb in (Verb.DELETE, Verb.RELEASE) else "s3:PutObject",
        cls=EffectClass.CONVERGENT,
        want=digest(spec),
        say=f"{action.verb.value} {len(spec.get('objects') or {})} objects under s3://{spec['bucket']}/{spec['prefix']}",
        actions=(action,),
        params={
            "bucket": spec["bucket"],
            "prefix": spec["prefix"],
            "objects": spec.get("objects") or {},
            "files": (resource.initial if resource is not None else {}).get("files") or {},
        },
        settle=60,
        deadline=900,
    )


def _contents(world: World, files: Mapping[str, str], objects: Mapping[str, str]) -> dict[str, bytes]:
    """All files of the set, sound and as planned."""
    contents: dict[str, bytes] = {}
    for name, sha in objects.items():
        if name not in files:
            raise InvalidInput(f"no file is named for the object {name}")
        contents[name] = scripts.content(files[name], world.file)
        if _sha(contents[name]) != sha:
            raise InvalidInput(f"{files[name]} is not what was planned: plan again", reason="FileMoved")
    wrong = [fault for name in contents for fault in scripts.faults(name, contents[name])]
    if wrong:
        raise InvalidInput("; ".join(wrong), reason="ScriptUnsound")
    return contents


def _remove(world: World, bucket: str, prefix: str, resource_key: str, *, keep: Sequence[str], op: str) -> None:
    """Takes away what we put there and nobody wants now. Objects of others are left alone."""
    try:
        names = [key.removeprefix(prefix) for key in listed(world, bucket, prefix)]
    except NotFound:
        return
    for name in names:
        if name not in keep and metadata(world, bucket, prefix + name).get(META_KEY) == resource_key:
            world.aws.mutate("s3", "DeleteObject", op=op, Bucket=bucket, Key=prefix + name)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
