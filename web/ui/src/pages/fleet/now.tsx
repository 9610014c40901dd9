/** What goes on with a cluster now, the most pressing first. */
import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { SummaryView } from "../../api/schema";
import { short } from "../../parts/commits";
import { Reason, Said } from "../../parts/said";
import { t } from "../../texts";

export function Now({ line }: { readonly line: SummaryView }) {
  const { condition, reason, message, stage, progress, held, failed_ops, suspended, revision, head } = line;
  const isNext = head != null && revision != null && head.commit !== revision.commit;
  const isQuiet = condition === "Ready" && held === 0 && failed_ops === 0 && !suspended && !isNext;
  if (isQuiet) return <Box color="text-body-secondary">{t.fleet.now.quiet}</Box>;
  return (
    <>
      {held > 0 && <StatusIndicator type="warning">{t.fleet.now.held(held)}</StatusIndicator>}
      {failed_ops > 0 && <StatusIndicator type="error">{t.fleet.now.failed(failed_ops)}</StatusIndicator>}
      {suspended && <StatusIndicator type="stopped">{t.fleet.now.suspended}</StatusIndicator>}
      {condition === "Reconciling" && stage != null && <Working stage={stage} progress={progress ?? null} />}
      {condition === "Stalled" && reason !== "" && (
        <div>
          <Reason reason={reason} />
        </div>
      )}
      {condition !== "Ready" && message && <Aside text={withoutStage(message, stage)} />}
      {isNext && <Aside text={t.fleet.now.next(short(head.commit))} />}
    </>
  );
}

/** A message says its stage first, where there is one; that stands above it already. */
function withoutStage(message: string, stage: string | null | undefined): string {
  return stage != null && message.startsWith(`${stage}: `) ? message.slice(stage.length + 2) : message;
}

function Working({ stage, progress }: { readonly stage: string; readonly progress: string | null }) {
  return <div title={stage}>{t.fleet.now.stage(t.stages[stage] ?? stage, progress)}</div>;
}

function Aside({ text }: { readonly text: string }) {
  return (
    <Box variant="small" color="text-body-secondary" display="block">
      <Said text={text} />
    </Box>
  );
}
