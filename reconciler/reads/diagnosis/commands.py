"""Commands that a person could run, whole, and as a shell takes them: what stands in a name stays one word."""

from __future__ import annotations

import shlex
from typing import Final

WHY: Final = "..."  # the person's own words: an order has a reason, which the journal keeps


def shell(*words: str) -> str:
    return shlex.join(word for word in words if word)


def order(do: str, cluster: str, subject: str, *more: str) -> str:
    """retry, approve, release or resolve."""
    return shell("instantstart", do, cluster, subject, *more, "--why", WHY)


def status(cluster: str) -> str:
    return shell("instantstart", "status", cluster, "--live")


def plan(cluster: str) -> str:
    return shell("instantstart", "plan", "--cluster", cluster)


def kubectl(verb: str, kind: str, name: str, namespace: str = "", *more: str) -> str:
    return shell("kubectl", *(("-n", namespace) if namespace else ()), verb, kind, name, *more)


def aws(service: str, operation: str, region: str, *more: str) -> str:
    return shell("aws", service, operation, *more, *(("--region", region) if region else ()))
