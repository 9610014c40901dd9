"""S3 buckets: the one we make for lifecycle scripts, and others that are only looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconciler.live.errors import CallRejected, NotFound
from reconciler.resources.base import (
    OUR_TAGS,
    TAG_ADOPTED,
    TAG_OP,
    BaseHandler,
    mark_of,
    marks,
    of_types,
    tag_list,
    tag_map,
)
from reconciler.resources.drafts import as_map
from reconciler.resources.handler import Call, Reply, Settlement, Verdict, World
from reconciler.resources.storage.objects import META_KEY, listed, metadata
from schemas.errors import Refused
from schemas.journal import EffectClass, OpRecord
from schemas.plan import Action, Verb
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent
from schemas.values import JsonObject, digest

BUCKET = "s3.Bucket"
BLOCKED = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
PREFIX = "lifecycle/"  # all that we ever put into a bucket


class Buckets(BaseHandler):
    """A bucket name is one of the whole world's: what answers 403 is there and not for us."""

    types: tuple[str, ...] = (BUCKET,)

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        for resource in of_types(wanted, BUCKET):
            yield _look(world, resource)

    def calls(self, world: World, actions: Sequence[Action]) -> Sequence[Call]:
        return [_draft(world, action) for action in actions if action.type == BUCKET]

    def send(self, world: World, call: Call, op: str) -> Reply:
        name = str(call.params["name"])
        match call.verb:
            case Verb.CREATE:
                _create(world, name, marks(world.cluster, call.key, op), op)
            case Verb.ADOPT | Verb.MARK:
                adopted = {TAG_ADOPTED: "true"} if call.verb == Verb.ADOPT else {}
                tags = {**_tags(world, name), **marks(world.cluster, call.key, op), **adopted}
                world.aws.mutate("s3", "PutBucketTagging", op=op, Bucket=name, Tagging={"TagSet": tag_list(tags)})
            case Verb.RELEASE:
                _release(world, name, op)
            case Verb.DELETE:
                return _delete(world, name, op)
            case _:
                _update(world, name, call.params["want"], op)
        return Reply(ref={"id": name})

    def settled(self, world: World, op: OpRecord) -> Settlement:
        seen = world.observed.get(op.key)
        if op.verb == Verb.DELETE and seen is not None and seen.present and not seen.ours:
            # Not ours any more: what others keep in it stays.
            kept = (op.ref or {}).get("kept", "some")
            said = f"released, not deleted: {kept} objects in {seen.name} are not ours"
            return Settlement(verdict=Verdict.HAPPENED, reason="BucketKept", message=said)
        if op.verb == Verb.CREATE and seen is not None and seen.present and seen.detail.get("tagged") is False:
            # A bucket of this account, with our name, that was not there before and says nothing about itself: we made
            # it and did not come to the tags. What the journal knows as ours is marked next.
            return Settlement(verdict=Verdict.HAPPENED, ref=self.ref(seen), message="it has no tags yet")
        return super().settled(world, op)


def _look(world: World, resource: Resource) -> Observed:
    name = resource.adopt or resource.name
    try:
        head = world.aws.read("s3", "HeadBucket", Bucket=name)
    except NotFound:
        return absent(resource)
    except CallRejected as error:
        # Of one that we made a 403 says nothing but that we cannot see it now; a HEAD has no words for why.
        if error.reason not in ("AccessDenied", "WrongRegion") or resource.key in world.made:
            raise
        return _seen(resource, name, health=Health.FAILED, reason=_WHY[error.reason], message=_SAID[error.reason])
    region = str(head.get("BucketRegion") or world.region)
    if resource.reference:
        return _seen(resource, name, region=region, health=Health.HEALTHY)
    tags = _tags(world, name)
    return _seen(
        resource,
        name,
        region=region,
        health=Health.HEALTHY,
        spec={"publicAccess": _public_access(world, name), "encryption": _encryption(world, name)},
        mark=mark_of(tags, resource.key, world.cluster),
        op=tags.get(TAG_OP),
        detail={"tagged": bool(tags)},
    )


_WHY = {"AccessDenied": "BucketForbidden", "WrongRegion": "WrongRegion"}
_SAID = {
    "AccessDenied": "the bucket is there, but we may not look into it: it is another's, or a policy is missing",
    "WrongRegion": "the bucket is in another region",
}


def _seen(
    resource: Resource,
    name: str,
    *,
    health: Health,
    region: str = "",
    reason: str = "",
    message: str = "",
    spec: JsonObject | None = None,
    mark: Mark = Mark.FOREIGN,
    op: str | None = None,
    detail: JsonObject | None = None,
) -> Observed:
    return Observed(
        key=resource.key,
        type=BUCKET,
        name=name,
        presence=Presence.PRESENT,
        spec=spec or {},
        attrs={"name": name, "region": region, "id": name},
        health=health,
        ready=health is Health.HEALTHY,
        reason=reason,
        message=message,
        mark=mark,
        op=op,
        identity=name,
        detail=detail or {},
    )


def _draft(world: World, action: Action) -> Call:
    seen = world.observed.get(action.key)
    name = seen.name if seen is not None and seen.present else action.name
    verb = action.verb
    return Call(
        key=action.key,
        lane=action.lane,
        verb=verb.value,
        call=_CALLS[verb],
        cls=EffectClass.NAME if verb in (Verb.CREATE, Verb.DELETE) else EffectClass.CONVERGENT,
        want=digest(action.want),
        say=f"{verb.value} bucket {name}",
        actions=(action,),
        params={"name": name, "want": {field: action.want.get(field) for field in action.fields}},
        before={"identity": action.identity} if verb is Verb.DELETE else {},
        settle=60,
        deadline=900,
        closes_on_reply=verb is not Verb.DELETE,
    )


_CALLS = {
    Verb.CREATE: "s3:CreateBucket",
    Verb.UPDATE: "s3:PutBucketEncryption",
    Verb.DELETE: "s3:DeleteBucket",
    Verb.ADOPT: "s3:PutBucketTagging",
    Verb.MARK: "s3:PutBucketTagging",
    Verb.RELEASE: "s3:PutBucketTagging",
    Verb.REPLACE: "s3:DeleteBucket",
    Verb.RUN: "s3:HeadBucket",
}


def _create(world: World, name: str, tags: dict[str, str], op: str) -> None:
    configuration: JsonObject = {"Tags": tag_list(tags)}
    if world.region != "us-east-1":  # S3 refuses to be told its default
        configuration["LocationConstraint"] = world.region
    # One request: an S3 that leaves the tags out is marked by a later plan, since the journal knows what we made.
    world.aws.mutate("s3", "CreateBucket", op=op, Bucket=name, CreateBucketConfiguration=configuration)


def _update(world: World, name: str, want: JsonObject, op: str) -> None:
    if want.get("publicAccess") == "blocked":
        blocked = dict.fromkeys(BLOCKED, True)
        world.aws.mutate("s3", "PutPublicAccessBlock", op=op, Bucket=name, PublicAccessBlockConfiguration=blocked)
    if want.get("encryption"):
        rules = [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": want["encryption"]}}]
        configuration = {"Rules": rules}
        world.aws.mutate(
            "s3", "PutBucketEncryption", op=op, Bucket=name, ServerSideEncryptionConfiguration=configuration
        )


def _delete(world: World, name: str, op: str) -> Reply:
    """Takes our objects along. What others put in stays, and then the bucket stays too and is let go of."""
    for key in listed(world, name, PREFIX):
        if META_KEY in metadata(world, name, key):
            world.aws.mutate("s3", "DeleteObject", op=op, Bucket=name, Key=key)
    rest = world.aws.read("s3", "ListObjectsV2", Bucket=name)  # one page tells enough
    others = len(rest.get("Contents") or ())
    if others:
        _release(world, name, op)
        return Reply(ref={"id": name, "kept": f"{others}{'+' if rest.get('IsTruncated') else ''}"})
    try:
        world.aws.mutate("s3", "DeleteBucket", op=op, Bucket=name)
    except NotFound:
        pass
    except Refused as error:
        if getattr(error, "code", "") != "BucketNotEmpty":
            raise
        _release(world, name, op)  # old versions, or an object that came between
        return Reply(ref={"id": name, "kept": "some"})
    return Reply(ref={"id": name})


def _release(world: World, name: str, op: str) -> None:
    rest = {key: value for key, value in _tags(world, name).items() if key not in OUR_TAGS}
    if rest:
        world.aws.mutate("s3", "PutBucketTagging", op=op, Bucket=name, Tagging={"TagSet": tag_list(rest)})
    else:
        world.aws.mutate("s3", "DeleteBucketTagging", op=op, Bucket=name)


def _tags(world: World, name: str) -> dict[str, str]:
    try:
        return tag_map(world.aws.read("s3", "GetBucketTagging", Bucket=name).get("TagSet"))
    except NotFound:
        return {}


def _public_access(world: World, name: str) -> str:
    try:
        answer = world.aws.read("s3", "GetPublicAccessBlock", Bucket=name)
    except NotFound:
        return "open"
    block: JsonObject = answer.get("PublicAccessBlockConfiguration") or {}
    return "blocked" if all(block.get(part) for part in BLOCKED) else "partly"


def _encryption(world: World, name: str) -> str:
    try:
        answer = world.aws.read("s3", "GetBucketEncryption", Bucket=name)
    except NotFound:
        return ""
    rules: list[JsonObject] = as_map(answer.get("ServerSideEncryptionConfiguration")).get("Rules") or []
    found = [str(as_map(rule.get("ApplyServerSideEncryptionByDefault")).get("SSEAlgorithm", "")) for rule in rules]
    return found[0] if found else ""
