/** One word for how a pod is: what its containers say is nearer to the cause than its phase. */
import type { StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { PodView } from "../api/schema";
import { t } from "../texts";

const PHASES: Readonly<Record<string, StatusIndicatorProps.Type>> = {
  Running: "success",
  Succeeded: "stopped",
  Pending: "pending",
  Failed: "error",
};
const EARLY = new Set(["ContainerCreating", "PodInitializing"]);

export function phaseSign(pod: PodView): { readonly type: StatusIndicatorProps.Type; readonly text: string } {
  if (pod.deleting) return { type: "in-progress", text: t.pods.deleting };
  const waits = pod.containers.find(({ state, reason }) => state === "waiting" && reason !== "" && !EARLY.has(reason));
  if (waits !== undefined) return { type: "error", text: waits.reason };
  if (
    pod.phase === "Running" &&
    pod.containers.some(({ init, ready, state }) => !init && !ready && state !== "terminated")
  ) {
    return { type: "warning", text: pod.phase };
  }
  return { type: PHASES[pod.phase] ?? "info", text: pod.reason || pod.phase };
}
