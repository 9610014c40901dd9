"""Keys, lanes and AWS names of a cluster's resources. A key names a thing for ever, so it is made here only."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.resource import Ref


@dataclass(frozen=True, kw_only=True)
class Names:
    """All names that follow from a cluster's name, account and region."""

    cluster: str
    account: str
    region: str

    def key(self, type_: str, what: str = "") -> str:
        return f"{type_}/{self.cluster}" + (f"/{what}" if what else "")

    def ref(self, type_: str, what: str = "", attr: str = "id") -> Ref:
        return Ref(self.key(type_, what), attr)

    @property
    def vpc_lane(self) -> str:
        return f"vpc/{self.cluster}"

    @property
    def eks_lane(self) -> str:
        return f"eks/{self.cluster}"

    @property
    def hyperpod_lane(self) -> str:
        return f"hyperpod/{self.cluster}"

    def role(self, what: str) -> str:
        """IAM allows 64 characters; a cluster name has at most 40."""
        return f"{self.cluster}-{what}"

    @property
    def bucket(self) -> str:
        """S3 allows 63 characters. HyperPod's managed policy lets nodes read buckets named sagemaker-*."""
        name = f"sagemaker-{self.cluster}-{self.account}-{self.region}"
        return (
            name if len(name) <= 63 else f"sagemaker-{self.cluster[:20]}-{self.account}-{self.region}"[:63].rstrip("-")
        )

    def operation(self, name: str, node: str) -> str:
        return f"Operation/{name}#{node}"


def type_of(key: str) -> str:
    """The resource type behind a key."""
    head = key.split("/", 1)[0]
    return {"Storage": "k8s.Storage", "Operation": "hyperpod.Reboot"}.get(head, head)
