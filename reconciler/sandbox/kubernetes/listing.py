"""LIST with selectors and pages."""

import base64
import binascii
from dataclasses import dataclass

import orjson

from reconciler.sandbox.kubernetes.errors import bad_request, expired
from reconciler.sandbox.kubernetes.kinds import Kind
from reconciler.sandbox.kubernetes.selectors import matcher
from reconciler.sandbox.kubernetes.store import Store, Stored


@dataclass(frozen=True, kw_only=True)
class Page:
    """Items and the list's metadata."""

    items: list[Stored]
    revision: str
    token: str = ""
    remaining: int | None = None


def page(
    store: Store, kind: Kind, namespace: str, *, labels: str = "", fields: str = "", limit: int = 0, token: str = ""
) -> Page:
    """The objects in order of (namespace, name), on every page as they were when the first one was asked for.

    ApiError 410 for a page token from before the compaction.
    """
    matches = matcher(kind.plural, labels, fields)
    revision, after = str(store.revision), ("", "")
    if token:
        revision, after = _read_token(token)
        if int(revision) < store.log(kind.stored).floor:
            raise expired("The provided continue parameter is too old to display a consistent list result.")
    items = [
        (key, stored)
        for key, stored in (store.sorted_at(kind.stored, int(revision)) if token else store.sorted(kind.stored))
        if (not namespace or key[0] == namespace)
        and (not token or key > after)
        and (matches is None or matches(stored.obj))
    ]
    if not limit or len(items) <= limit:
        return Page(items=[stored for _, stored in items], revision=revision)
    last = items[limit - 1][0]
    following = base64.urlsafe_b64encode(orjson.dumps([revision, *last])).decode()
    remaining = None if matches else len(items) - limit
    return Page(items=[stored for _, stored in items[:limit]], revision=revision, token=following, remaining=remaining)


def list_body(kind: Kind, found: Page, raws: list[bytes]) -> bytes:
    """The List object, put together from bytes that are there already."""
    metadata: dict[str, object] = {"resourceVersion": found.revision}
    if found.token:
        metadata["continue"] = found.token
    if found.remaining is not None:
        metadata["remainingItemCount"] = found.remaining
    name = kind.list_kind or f"{kind.kind}List"
    head = orjson.dumps({"kind": name, "apiVersion": kind.api_version, "metadata": metadata})
    return head[:-1] + b',"items":[' + b",".join(raws) + b"]}"


def _read_token(token: str) -> tuple[str, tuple[str, str]]:
    try:
        revision, namespace, name = orjson.loads(base64.urlsafe_b64decode(token))
        int(revision)
    except (ValueError, TypeError, binascii.Error) as error:
        raise bad_request("continue key is not valid") from error
    return revision, (namespace, name)
