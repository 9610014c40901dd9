/** A cluster that is Ready, as the API tells it; a test says what is different. */
import type { ClusterView, GroupView, NodeView } from "../api/schema";

export const AT = "2026-03-01T09:00:00Z";

export function clusterView({ desired, ...more }: Partial<ClusterView> = {}): ClusterView {
  const author = {
    commit: "f".repeat(40),
    name: "Engineer",
    email: "engineer@example.com",
    at: AT,
    subject: "Scale",
    approved_by: [],
  };
  return {
    cluster: "prod",
    condition: "Ready",
    reason: "Ready",
    message: "",
    at: AT,
    started: AT,
    doubt: "",
    problem: "",
    drift: 0,
    held: [],
    failed_ops: [],
    open_ops: [],
    orders: [],
    parts: [],
    stages: [],
    things: [],
    revision: author,
    head: author,
    instances: { desired: 2, there: 2, ready: 2 },
    gpus: { desired: 16, there: 16, ready: 16, used: 8, idle: 8 },
    ...more,
    desired: {
      account: "111122223333",
      region: "us-west-2",
      kubernetes_version: "1.33",
      node_recovery: "Automatic",
      adopts: false,
      deletion_protection: true,
      suspend: false,
      documents: 2,
      gpus: 16,
      groups: [],
      instance_types: {},
      instances: 2,
      operations: 0,
      problems: [],
      storages: [],
      zones: [],
      ...desired,
    },
  };
}

export function groupView(more: Partial<GroupView> = {}): GroupView {
  return {
    name: "gpu",
    nodes: { desired: 2, there: 2, ready: 2 },
    gpus: { desired: 16, ready: 16, used: 8 },
    instance_type: "ml.p5.48xlarge",
    zone: "usw2-az2",
    held: false,
    health: "healthy",
    message: "",
    reason: "",
    planned: [],
    desired: {
      name: "gpu",
      instance_type: "ml.p5.48xlarge",
      count: 2,
      capacity: "onDemand",
      labels: { team: "training" },
      deep_health_checks: [],
    } as unknown as GroupView["desired"],
    ...more,
  };
}

export function nodeView(number: number, more: Partial<NodeView> = {}): NodeView {
  const id = `i-0a1b2c3d4e5f6${String(number).padStart(4, "0")}`;
  return {
    id,
    instance: id,
    group: "gpu",
    instance_type: "ml.p5.48xlarge",
    logical: "",
    zone: "us-west-2b",
    zone_id: "usw2-az2",
    gpus: 8,
    gpus_used: 8,
    pods: 1,
    machine: { status: "Running" } as unknown as NodeView["machine"],
    node: { ready: true, takes_pods: true, faults: [], kubelet: "v1.33.1" } as unknown as NodeView["node"],
    ...more,
  };
}

/** The answer with a document: as it is written, and with defaults. */
export function documentView(kind: string, name: string, spec: object, defaults: object = spec) {
  const document = { apiVersion: "instantstart/v1", kind, metadata: { name }, spec };
  return {
    kind,
    name,
    path: `clusters/prod/${name}.yaml`,
    where: `clusters/prod/${name}.yaml:1`,
    blob: "b".repeat(40),
    revision: "c".repeat(40),
    document,
    model: { ...document, spec: defaults },
    text: "",
  };
}
