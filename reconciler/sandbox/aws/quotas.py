"""Service Quotas for SageMaker clusters: what may run per instance type, per cluster and in all."""

from __future__ import annotations

import hashlib

from reconciler.sandbox.aws.calls import Call, Handler, Json
from reconciler.sandbox.aws.errors import AwsError
from reconciler.sandbox.aws.wire import service_model

TOTAL = "Total number of instances allowed across SageMaker HyperPod clusters"
PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
VOLUME = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"

_DEFAULT_PER_TYPE = 1000
_FIXED = {TOTAL: 6758, PER_CLUSTER: 6758, VOLUME: 16384}


class Quotas:
    def __init__(self) -> None:
        self._set: dict[tuple[str, str, str], float] = {}

    def put(self, account: str, region: str, name: str, value: float) -> None:
        self._set[account, region, name] = value

    def value(self, account: str, region: str, name: str) -> int:
        return int(self._set.get((account, region, name), _FIXED.get(name, _DEFAULT_PER_TYPE)))

    def clear(self) -> None:
        self._set.clear()

    def handlers(self) -> dict[str, Handler]:
        return {
            "ListServiceQuotas": self.list_service_quotas,
            "ListAWSDefaultServiceQuotas": self.list_service_quotas,
            "GetServiceQuota": self.get_service_quota,
            "ListServices": lambda call, params: {
                "Services": [{"ServiceCode": "sagemaker", "ServiceName": "Amazon SageMaker"}]
            },
        }

    def list_service_quotas(self, call: Call, params: Json) -> Json:
        names = _names(params["ServiceCode"])
        start = int(params.get("NextToken", "0"))
        stop = start + int(params.get("MaxResults", 100))
        default = call.operation == "ListAWSDefaultServiceQuotas"
        answer: Json = {"Quotas": [self._quota(call, name, default) for name in names[start:stop]]}
        if stop < len(names):
            answer["NextToken"] = str(stop)
        return answer

    def get_service_quota(self, call: Call, params: Json) -> Json:
        for name in _names(params["ServiceCode"]):
            if code_of(name) == params["QuotaCode"]:
                return {"Quota": self._quota(call, name, False)}
        raise AwsError(
            "NoSuchResourceException", f"The request failed because the quota {params['QuotaCode']} is unknown"
        )

    def _quota(self, call: Call, name: str, default: bool) -> Json:
        code = code_of(name)
        value = float(_FIXED.get(name, _DEFAULT_PER_TYPE) if default else self.value(call.account, call.region, name))
        return {
            "ServiceCode": "sagemaker",
            "ServiceName": "Amazon SageMaker",
            "QuotaArn": call.arn("servicequotas", f"sagemaker/{code}"),
            "QuotaCode": code,
            "QuotaName": name,
            "Value": value,
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
        }


def usage_name(instance_type: str, *, spot: bool = False) -> str:
    return f"{instance_type} for cluster {'spot ' if spot else ''}usage"


def code_of(name: str) -> str:
    """Made up but stable; the product resolves quotas by name."""
    return "L-" + hashlib.sha256(name.encode()).hexdigest()[:8].upper()


def _names(service: str) -> list[str]:
    if service != "sagemaker":
        raise AwsError("NoSuchResourceException", f"The request failed because the service {service} is not known here")
    types: list[str] = service_model("sagemaker").shape_for("ClusterInstanceType").metadata["enum"]
    return [*_FIXED, *(usage_name(kind) for kind in types), *(usage_name(kind, spot=True) for kind in types)]
