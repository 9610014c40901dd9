export const locale = "en";

/** "1 node", "4 nodes". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export const common = {
  product: "InstantStart",
  cancel: "Cancel",
  close: "Close",
  more: "Show more",
  done: "Done",
  none: "None",
  unknown: "Not known",
  loading: "Reading …",
  retry: "Try again",
  reload: "Load the page again",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Could not be copied",
  never: "Never",
  justNow: "just now",
  noMatch: "Nothing matches",
  clearFilter: "Clear the filter",
  preferences: { title: "Preferences", columns: "Columns", confirm: "Apply" },
  // A part of an answer that cannot be seen now.
  stale: (what: string, since: string) => `${what}: not seen since ${since}. What is shown was seen before.`,
  unseen: (what: string) => `${what}: not seen yet, so what depends on it is not known.`,
  approved: (names: string) => `approved by ${names}`,
  missingScope: (scope: string) => `You need the scope ${scope} for this.`,
  /** By the name that the API gives a source. */
  parts: {
    look: "AWS and Kubernetes",
    "hyperpod-nodes": "HyperPod's nodes",
    "hyperpod-events": "HyperPod's events",
    "kubernetes-events": "Kubernetes' events",
    journal: "Journal",
    aws: "AWS",
    nodes: "Nodes",
    pods: "Pods",
    instances: "Instances",
  } as Record<string, string>,
};

export const conditions: Record<string, string> = {
  Ready: "Ready",
  Reconciling: "Working on it",
  Stalled: "Stalled",
  Superseded: "Superseded",
  Gone: "Deleted",
  Unknown: "Not applied yet",
};

export const scopes = {
  read: { name: "Read", means: "Sees everything except secrets." },
  propose: { name: "Propose", means: "Opens and edits changes." },
  approve: { name: "Approve", means: "Lets held actions and changes pass." },
  operate: { name: "Operate", means: "Gives orders to the engine, and makes tokens." },
};

/** Stages, by their names in the journal. */
export const stages = {
  validate: "Validation",
  network: "Network",
  "control-plane": "Control plane",
  dependencies: "Dependencies",
  compute: "Instance groups",
  features: "Features",
  storage: "Storage",
  workloads: "Workloads",
  operations: "Operations",
} as Record<string, string>;
