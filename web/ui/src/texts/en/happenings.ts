import { counted } from "./common";

/** The events of a cluster. */
export const happenings = {
  title: "Events",
  text: "What Kubernetes and HyperPod say happened, newest first. Their messages are shown as they came.",
  none: "Nothing happened, as far as they tell.",
  noneText: "Kubernetes keeps its events for an hour; HyperPod tells of clusters that provision continuously.",
  noMatch: "No event is like this.",
  more: "Show earlier",
  filters: "Which are shown",
  level: "Level",
  anyLevel: "Every level",
  levels: { error: "Error", warning: "Warning", info: "Information" },
  source: "Source",
  anySource: "Both",
  sources: { kubernetes: "Kubernetes", hyperpod: "HyperPod" },
  group: "Instance group",
  anyGroup: "All groups",
  node: "Node",
  nodeHint: "i-0a1b2c3d4e5f60001",
  nodeBad: "An instance id is wanted: i- and 8 or 17 digits and letters a to f.",
  count: (count: number) => counted(count, "time"),
  since: "since",
  logs: "Logs",
};
