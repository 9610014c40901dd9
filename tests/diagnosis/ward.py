"""A cluster with a Kubernetes API and a scripted HyperPod, in which troubles are planted; and what diagnoses say of
them through the agents' face. Every command that a finding names is held against what it is a command of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reconciler.live.kube.kinds import Gvk
from tests.api.livebox import GPU_TYPE, LiveBox, node
from tests.diagnosis import runnable
from tests.live.aws_server import Answer
from tests.mcp_face.facebox import ask

SUBJECTS = ("cluster_creation", "node_health", "nccl", "stuck_deletion", "pending_pods")
CONFIDENCE = ("certain", "likely", "possible")
STEPS = ("investigate", "restart", "replace", "decide")
JOB = Gvk("batch/v1", "Job")
Finding = dict[str, Any]


@dataclass(kw_only=True)
class Ward:
    live: LiveBox
    reader: str = ""
    _asked: dict[str, list[Finding]] = field(default_factory=dict[str, list[Finding]])

    def diagnosed(self, subject: str, **focus: Any) -> list[Finding]:
        found: list[Finding] = self.told(subject, **focus)["findings"]
        return found

    def told(self, subject: str, **focus: Any) -> dict[str, Any]:
        """The whole answer, after each finding was found to be one."""
        if not self.reader:
            self.reader = self.live.api.token("read", kind="agent", name="reader")
        told = ask(self.live.api, f"diagnose_{subject}", token=self.reader, cluster="prod", **focus)
        assert not told.error, told.text
        assert told.data["looked_at"] and not told.data.get("findings_left_out")
        for found in told.data["findings"]:
            assert found["confidence"] in CONFIDENCE and found["step"] in STEPS, found
            assert found["says_untrusted"] and found["next_step"] and found["evidence"], found
            assert all(each["source"] and each["text_untrusted"] for each in found["evidence"]), found
            assert runnable.problem(found["command_untrusted"]) == "", found["command_untrusted"]
        sure = [CONFIDENCE.index(one["confidence"]) for one in told.data["findings"]]
        assert sure == sorted(sure), "the surest first"
        return told.data

    def once(self, subject: str) -> list[Finding]:
        """Asked when the first test of a file wants to know; nothing is planted after that."""
        if subject not in self._asked:
            self._asked[subject] = self.diagnosed(subject)
        return self._asked[subject]

    def of(self, subject: str, about: str) -> list[Finding]:
        """What was found about one thing."""
        return [one for one in self.once(subject) if one["subject_untrusted"] == about]

    def job(self, name: str, namespace: str = "default") -> dict[str, Any]:
        """A Job, and what its pods say of their owner."""
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/x:1"}]}}
        meta = {"name": name, "namespace": namespace}
        self.live.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}},
        )
        uid = self.live.kube.get(JOB, namespace, name)["metadata"]["uid"]
        return {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": True}

    def events(self, *told: dict[str, Any]) -> None:
        """Of HyperPod."""
        self.live.says["ListClusterEvents"] = lambda _: Answer(json={"Events": list(told)})


def hyperpod_event(text: str, at: float, *, level: str = "Error", instance: str = "", group: str = "") -> Finding:
    """`at`: epoch seconds."""
    about = {"InstanceId": instance} if instance else {"InstanceGroupName": group} if group else {}
    kind = "Instance" if instance else "InstanceGroup" if group else "Cluster"
    return {
        "EventId": f"{abs(hash((text, at))):032x}",
        "ClusterName": "prod",
        "ResourceType": kind,
        "EventTime": at,
        "EventLevel": level,
        "Description": text,
        **about,
    }


def kube_event(
    name: str, message: str, reason: str = "FailedScheduling", *, kind: str = "Pod", namespace: str = "default"
) -> Finding:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason.lower()}", "namespace": namespace},
        "involvedObject": {"kind": kind, "name": name, "namespace": namespace},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "firstTimestamp": "2026-03-01T10:00:00Z",
        "lastTimestamp": "2026-03-01T10:00:00Z",
        "count": 3,
    }


def gpu_node(instance: str, *, efa: int = 1, kind: str = GPU_TYPE, zone: str = "us-west-2b") -> Finding:
    """A node as `livebox.node`, with EFA."""
    made = node(instance)
    made["metadata"]["labels"] |= {"node.kubernetes.io/instance-type": kind, "topology.kubernetes.io/zone": zone}
    if efa:
        for amounts in (made["status"]["capacity"], made["status"]["allocatable"]):
            amounts["vpc.amazonaws.com/efa"] = str(efa)
    return made
