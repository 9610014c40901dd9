"""The DaemonSet by which HyperPod knows that its chart is installed, as anyone could have made it."""

from __future__ import annotations

from typing import Any

MONITORING_AGENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "health-monitoring-agent", "namespace": "aws-hyperpod"},
    "spec": {
        "selector": {"matchLabels": {"app": "hma"}},
        "template": {
            "metadata": {"labels": {"app": "hma"}},
            "spec": {"containers": [{"name": "hma", "image": "hma:1"}]},
        },
    },
}
