"""Documents as people write them, and a repository with many of them, made by fast-import."""

from __future__ import annotations

from pathlib import Path

from reconciler.config_repo.setup import init_repository
from tests.config_repo.gitbox import run

FILES = 20  # documents of one cluster, one a file


def cluster_document(name: str, *, suspended: bool = False) -> str:
    return f"""# The {name} cluster of the platform team. Ask before you change the region.
apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: {name}
spec:
  account: "111122223333"
  region: us-west-2
  kubernetesVersion: "1.33"
  suspend: {str(suspended).lower()}
  dependencies:
    chart:
      repository: https://charts.example/hyperpod
      path: helm_chart/HyperPodHelmChart
      commit: {"0a1b2c3d4e" * 4}
  hyperpod:
    tags:
      team: platform
      costCenter: "4711"
"""


def group_document(name: str, number: int = 0, count: int = 4) -> str:
    return f"""---
# Workers for the training team; grown and shrunk by the weekly plan.
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: {name}
spec:
  instanceType: {("ml.g5.8xlarge", "ml.p5.48xlarge", "ml.m5.2xlarge")[number % 3]}
  count: {count}
  zone: usw2-az{number % 3 + 1}
  volume:
    sizeGiB: 500
  labels:
    team: training
    purpose: large-models
    example.com/owner: platform
  taints:
    - key: nvidia.com/gpu
      value: "true"
      effect: NoSchedule
    - key: example.com/dedicated
      value: training
      effect: PreferNoSchedule
"""


def storage_document(name: str) -> str:
    return f"""---
apiVersion: instantstart/v1
kind: Storage
metadata:
  name: {name}
spec:
  s3: {{}}
"""


def documents(cluster: str, *, suspended: bool = False) -> dict[str, bytes]:
    """Twenty files of one cluster, by path in the repository."""
    texts = {"cluster": cluster_document(cluster, suspended=suspended), "shared": storage_document("shared")}
    texts |= {f"group-{n}": group_document(f"group-{n}", n) for n in range(FILES - len(texts))}
    return {f"clusters/{cluster}/{name}.yaml": text.encode() for name, text in texts.items()}


def make_repository(path: Path, clusters: int, *, suspended: bool = False) -> None:
    """A packed bare repository with that many clusters."""
    init_repository(path, {"README.md": b"x"})
    parts = [b"commit refs/heads/main\ncommitter x <x@example.com> 1790000000 +0000\ndata 1\nx\n"]
    for number in range(clusters):
        for name, data in documents(f"c{number}", suspended=suspended).items():
            parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data))
    run(path, "fast-import", "--quiet", "--force", stdin=b"".join(parts))
    run(path, "gc", "-q")
