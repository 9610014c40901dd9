/** What forms of a cluster propose: only what is different from what is written. */
import type { Edit } from "../../../parts/proposal";

export interface Label {
  readonly key: string;
  readonly value: string;
}

type Step = { readonly op: string; readonly path: string; readonly value?: unknown };

export function scaled(cluster: string, name: string, count: number): Edit {
  return patch(cluster, "InstanceGroup", name, [{ op: "replace", path: "/spec/count", value: count }]);
}

/** null: nothing is different. */
export function labelled(
  cluster: string,
  name: string,
  before: Readonly<Record<string, string>> | undefined,
  after: readonly Label[],
): Edit | null {
  const wanted = Object.fromEntries(after.map(({ key, value }) => [key, value]));
  if (before === undefined) {
    if (after.length === 0) return null;
    return patch(cluster, "InstanceGroup", name, [{ op: "add", path: "/spec/labels", value: wanted }]);
  }
  const steps: Step[] = [];
  for (const key of Object.keys(before)) {
    if (!(key in wanted)) steps.push({ op: "remove", path: `/spec/labels/${escaped(key)}` });
  }
  for (const [key, value] of Object.entries(wanted)) {
    if (before[key] === value) continue;
    steps.push({ op: key in before ? "replace" : "add", path: `/spec/labels/${escaped(key)}`, value });
  }
  return steps.length === 0 ? null : patch(cluster, "InstanceGroup", name, steps);
}

export function suspended(cluster: string, isWritten: boolean, value: boolean): Edit {
  return patch(cluster, "Cluster", cluster, [{ op: isWritten ? "replace" : "add", path: "/spec/suspend", value }]);
}

export function added(cluster: string, name: string, spec: Record<string, unknown>): Edit {
  const document = { apiVersion: "instantstart/v1", kind: "InstanceGroup", metadata: { name }, spec };
  return { edit: "put", cluster, document };
}

/** `name`: never used before; it happens once. */
export function rebooted(cluster: string, name: string, nodes: readonly string[], expires: string, why: string): Edit {
  const spec = { expires, ...(why && { reason: why }), reboot: { nodes } };
  return {
    edit: "put",
    cluster,
    document: { apiVersion: "instantstart/v1", kind: "Operation", metadata: { name }, spec },
  };
}

function patch(cluster: string, kind: string, name: string, steps: readonly Step[]): Edit {
  return { edit: "patch", cluster, kind, name, patch: steps.map((step) => ({ ...step })) };
}

/** A key in a JSON pointer. */
function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

const NAME = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;
const KEY = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/;

export function isName(text: string): boolean {
  return NAME.test(text);
}

export function keyFlaw(label: Label, all: readonly Label[]): "bad" | "twice" | null {
  if (!KEY.test(label.key)) return "bad";
  return all.filter(({ key }) => key === label.key).length > 1 ? "twice" : null;
}

export function isLabelValue(text: string): boolean {
  return VALUE.test(text);
}
