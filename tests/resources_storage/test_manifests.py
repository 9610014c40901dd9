"""Volume and claim of a Storage on S3."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reconciler.desired.storage_manifests import options, storage_manifests, volume_name
from schemas.resource import Ref

names = st.from_regex(r"[a-z]([-a-z]{0,4}[a-z])?", fullmatch=True)


def made(**more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    given_: dict[str, Any] = {"cluster": "prod", "name": "data", "bucket": "b", "region": "us-east-2", **more}
    found = storage_manifests(**given_)
    return found["PersistentVolume"], found["PersistentVolumeClaim"]


def test_volume_and_claim_point_at_each_other() -> None:
    """C22: the claim is in the namespace of its Storage."""
    volume, claim = made(namespace="team-a")
    assert volume["spec"]["claimRef"] == {"namespace": "team-a", "name": "data"}
    assert (claim["metadata"]["namespace"], claim["metadata"]["name"]) == ("team-a", "data")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"] == volume["spec"]["csi"]["volumeHandle"]
    # An empty class is kept of a claim, where it means none; of a volume the server drops it, so it is not written.
    assert claim["spec"]["storageClassName"] == "" and "storageClassName" not in volume["spec"]
    for manifest in (volume, claim):
        assert manifest["metadata"]["labels"] == {"instantstart.dev/cluster": "prod"}
        assert manifest["metadata"]["annotations"] == {"instantstart.dev/key": "Storage/prod/data"}


def test_an_open_reference_to_the_bucket_stays_open() -> None:
    volume, _ = made(bucket=Ref("s3.Bucket/prod/lifecycle", "name"))
    assert volume["spec"]["csi"]["volumeAttributes"]["bucketName"] == Ref("s3.Bucket/prod/lifecycle", "name")


def test_access() -> None:
    writable, _ = made(prefix="/data/set/", mount_options=["uid=1000", "allow-delete"])
    assert writable["spec"]["mountOptions"] == [
        "allow-delete",
        "allow-other",
        "allow-overwrite",
        "prefix data/set/",
        "region us-east-2",
        "uid=1000",
    ]
    reading, claim = made(read_only=True, mount_options=["allow-delete"])
    assert reading["spec"]["mountOptions"] == ["allow-other", "read-only", "region us-east-2"]
    assert reading["spec"]["accessModes"] == claim["spec"]["accessModes"] == ["ReadOnlyMany"]


def test_no_prefix_is_the_whole_bucket() -> None:
    assert not [o for o in options("us-east-2", "/", read_only=False) if o.startswith("prefix")]


@given(st.tuples(names, names, names), st.tuples(names, names, names))
def test_volume_names_never_clash(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert (volume_name(*one) == volume_name(*other)) == (one == other)
