"""The OpenID Connect provider that lets a cluster's service accounts assume roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from reconciler.live.errors import NotFound
from reconciler.resources.base import OUR_TAGS, TAG_KEY, TAG_OP, bar_of, mark_of, tag_list, tag_map
from reconciler.resources.drafts import (
    Draft,
    SteppingHandler,
    adding,
    adoption_marks,
    as_list,
    as_map,
    in_words_of,
    new_marks,
    removing,
    resolved,
    step,
)
from reconciler.resources.handler import Call, World
from schemas.journal import EffectClass
from schemas.plan import Action
from schemas.resource import Health, Mark, Observed, Presence, Resource, absent, resolve
from schemas.values import JsonObject

TYPE = "iam.OpenIDConnectProvider"
SETTLE = 120
_ISSUERS = "oidc.eks."  # providers of EKS clusters: the only ones whose tags are worth a call


class ProviderHandler(SteppingHandler):
    """Found by the issuer in its ARN; if that is not known or not there, by our tags."""

    types: tuple[str, ...] = (TYPE,)
    looks_after: tuple[str, ...] = ("eks.Cluster",)

    def look(self, world: World, wanted: Sequence[Resource]) -> Iterable[Observed]:
        arns = [str(each["Arn"]) for each in _list(world)]
        found = [self._by_issuer(world, resource, arns) for resource in wanted]
        if wanted and all(seen.present for seen in found):
            return found
        marked = list(_marked(world, arns, {r.key: r for r in wanted}))
        open_keys = {r.key for r in wanted if _host(world, r) is None}
        shown: dict[str, Observed] = {seen.key: seen for seen in found}
        for seen in marked:
            if seen.key not in shown or seen.key in open_keys:
                shown[seen.key] = seen
            elif not shown[seen.key].present:
                # The provider of a former issuer: the key is free for the new one, and this one is left over.
                former = f"{seen.key}/{str(seen.spec['url']).rpartition('/')[2]}"
                shown[former] = replace(seen, key=former)
        return list(shown.values())

    def create(self, world: World, action: Action) -> Draft | None:
        want = resolved(world, action.want)
        if want is None:
            return None
        made = step(
            "iam",
            "CreateOpenIDConnectProvider",
            Url=want["url"],
            ClientIDList=as_list(want.get("audiences")),
            Tags=tag_list(new_marks(world, action)),
        )
        return Draft(steps=[made], say=f"Create identity provider {action.name}", cls=EffectClass.NAME, settle=SETTLE)

    def update(self, world: World, action: Action, seen: Observed) -> Draft | None:
        """New audiences come before old ones go. The patch says which go: those of others stay."""
        there, provider = as_list(seen.spec.get("audiences")), {"OpenIDConnectProviderArn": seen.attrs["arn"]}
        missing = [each for each in as_list(action.want.get("audiences")) if each not in there]
        added = [adding("iam", "AddClientIDToOpenIDConnectProvider", ClientID=each, **provider) for each in missing]
        told = next((line["value"] for line in action.patch if line["path"] == "/audiences"), there)
        stale = [each for each in there if each not in as_list(told)]
        gone = [removing("iam", "RemoveClientIDFromOpenIDConnectProvider", ClientID=each, **provider) for each in stale]
        steps = [*added, *gone]
        return Draft(steps=steps, say=f"Update identity provider {action.name}: audiences")

    def delete(self, world: World, action: Action, seen: Observed) -> Draft | None:
        gone = removing("iam", "DeleteOpenIDConnectProvider", OpenIDConnectProviderArn=seen.attrs["arn"])
        return Draft(steps=[gone], say=f"Delete identity provider {action.name}", cls=EffectClass.NAME)

    def adopt(self, world: World, action: Action, seen: Observed) -> Draft | None:
        tags = tag_list(adoption_marks(world, action))
        tag = step("iam", "TagOpenIDConnectProvider", OpenIDConnectProviderArn=seen.attrs["arn"], Tags=tags)
        return Draft(steps=[tag], say=f"Adopt identity provider {action.name}")

    def release(self, world: World, action: Action, seen: Observed) -> Draft | None:
        arn = seen.attrs["arn"]
        untag = removing("iam", "UntagOpenIDConnectProvider", OpenIDConnectProviderArn=arn, TagKeys=list(OUR_TAGS))
        return Draft(steps=[untag], say=f"Release identity provider {action.name}: it stays, our tags go")

    def reply_ref(self, call: Call, answers: Sequence[JsonObject]) -> JsonObject:
        return {"arn": answers[0]["OpenIDConnectProviderArn"]} if call.verb == "create" else {}

    def _by_issuer(self, world: World, resource: Resource, arns: Sequence[str]) -> Observed:
        host = _host(world, resource)
        for arn in arns:
            if arn == resource.adopt or (host and arn.partition(":oidc-provider/")[2] == host):
                seen = _look(world, arn, resource.key, resource)
                if seen is not None:
                    return seen
        return absent(resource)


def _host(world: World, resource: Resource) -> str | None:
    """The issuer without its scheme, if it is known."""
    url = resolve(resource.spec.get("url"), world.observed)
    return url.removeprefix("https://") if isinstance(url, str) else None


def _list(world: World) -> list[JsonObject]:
    found: list[JsonObject] = world.aws.pages("iam", "ListOpenIDConnectProviders", "OpenIDConnectProviderList")
    return found


def _marked(world: World, arns: Iterable[str], wanted: dict[str, Resource]) -> Iterable[Observed]:
    for arn in arns:
        if _ISSUERS not in arn:
            continue
        seen = _look(world, arn, "", None)
        if seen is None:
            continue
        key = str(seen.detail[TAG_KEY])
        if key.startswith(f"{TYPE}/{world.cluster}"):
            again = _look(world, arn, key, wanted.get(key))
            if again is not None and again.mark is not Mark.FOREIGN:
                yield again


def _look(world: World, arn: str, key: str, resource: Resource | None) -> Observed | None:
    try:
        raw = world.aws.read("iam", "GetOpenIDConnectProvider", OpenIDConnectProviderArn=arn)
    except NotFound:
        return None
    tags = tag_map(as_list(raw.get("Tags")))
    url = str(raw.get("Url", ""))
    wanted: dict[str, Any] = as_map(resolve(resource.spec, world.observed)) if resource else {}
    spec: JsonObject = {
        "url": url if url.startswith("https://") else f"https://{url}",
        "audiences": sorted(str(each) for each in as_list(raw.get("ClientIDList"))),
    }
    return Observed(
        key=key,
        type=TYPE,
        name=resource.name if resource else url,
        presence=Presence.PRESENT,
        spec=as_map(in_words_of(wanted, spec)),
        attrs={"arn": arn},
        health=Health.HEALTHY,
        ready=True,
        mark=mark_of(tags, key, world.cluster),
        bar=bar_of(tags, world.cluster),
        op=tags.get(TAG_OP),
        identity=f"{arn}@{raw.get('CreateDate', '')}",
        detail={TAG_KEY: tags.get(TAG_KEY, "")},
    )
