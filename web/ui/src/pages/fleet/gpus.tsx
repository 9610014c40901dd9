/** GPUs of a cluster: how many of those that could work do, and how many are not there yet. */
import Box from "@cloudscape-design/components/box";
import type { SummaryView } from "../../api/schema";
import { Meter } from "../../parts/meter";
import { t } from "../../texts";

export function Gpus({ gpus: { desired, ready, used, idle } }: { readonly gpus: SummaryView["gpus"] }) {
  if (desired === 0 && !ready) return <Box color="text-body-secondary">{t.fleet.gpus.none}</Box>;
  if (used == null || ready == null) {
    return (
      <>
        {desired != null && <div>{t.fleet.gpus.wanted(desired)}</div>}
        <Box variant="small" color="text-body-secondary" display="block">
          {t.fleet.gpus.unknown}
        </Box>
      </>
    );
  }
  const missing = Math.max(0, (desired ?? ready) - ready);
  const rest = [idle ? t.fleet.gpus.idle(idle) : "", missing > 0 ? t.fleet.gpus.missing(missing) : ""].filter(Boolean);
  return (
    <>
      <div>{t.fleet.gpus.used(used, ready)}</div>
      <Meter part={used} all={Math.max(ready, desired ?? 0)} />
      {rest.length > 0 && (
        <Box variant="small" color="text-body-secondary" display="block">
          {rest.join(", ")}
        </Box>
      )}
    </>
  );
}
