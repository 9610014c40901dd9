"""S3 names no operation on the wire: it is told from method, path and sub-resource."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qsl

_SUBRESOURCES = {
    "tagging": "Tagging",
    "policy": "Policy",
    "versioning": "Versioning",
    "encryption": "Encryption",
    "publicAccessBlock": "PublicAccessBlock",
    "ownershipControls": "OwnershipControls",
    "lifecycle": "LifecycleConfiguration",
    "location": "Location",
    "acl": "Acl",
    "cors": "Cors",
    "versions": "Versions",
}
_VERBS = {"GET": "Get", "PUT": "Put", "DELETE": "Delete", "HEAD": "Head", "POST": "Post"}


def operation(method: str, path: str, query: str) -> str:
    bucket, _, key = path.lstrip("/").partition("/")
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    verb = _VERBS.get(method, method.title())
    if not bucket:
        return "ListBuckets"
    if key:
        return _object(verb, names)
    for name in names:
        if name in _SUBRESOURCES:
            return f"{verb}Bucket{_SUBRESOURCES[name]}" if name != "versions" else "ListObjectVersions"
    if method == "POST" and "delete" in names:
        return "DeleteObjects"
    if method == "PUT":
        return "CreateBucket"
    if method == "GET":
        return "ListObjectsV2" if "list-type" in names else "ListObjects"
    return f"{verb}Bucket"


def creation_tags(body: bytes) -> dict[str, str]:
    """The tags that a bucket is created with."""
    pairs = re.findall(r"<Tag><Key>(.*?)</Key><Value>(.*?)</Value></Tag>", body.decode(errors="replace"), re.DOTALL)
    return {unescape(key): unescape(value) for key, value in pairs}


def _object(verb: str, names: list[str]) -> str:
    if "uploads" in names:
        return "CreateMultipartUpload"
    if "uploadId" in names:
        return {"Put": "UploadPart", "Post": "CompleteMultipartUpload", "Delete": "AbortMultipartUpload"}.get(
            verb, "ListParts"
        )
    if "tagging" in names:
        return f"{verb}ObjectTagging"
    return f"{verb}Object"
