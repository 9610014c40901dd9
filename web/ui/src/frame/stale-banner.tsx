/** Says that what is shown may be old, and since when; nothing while all is fresh. */
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type Query, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useLiveness } from "../live/live";
import { exact } from "../parts/times";
import { t } from "../texts";

const PATIENCE = 3000; // milliseconds: a restart of the service is no news

export function StaleBanner() {
  const { state, since, problem } = useLiveness();
  const lostSince = usePatiently(state === "lost" ? since : null);
  const oldSince = useOldestShown();
  if (lostSince === null && oldSince === null && problem === null) return null;
  return (
    <SpaceBetween size="xs">
      {lostSince !== null && (
        <Alert type="warning" header={t.frame.lost(exact(lostSince))}>
          {t.frame.lostWay}
        </Alert>
      )}
      {lostSince === null && oldSince !== null && <Alert type="warning">{t.frame.oldData(exact(oldSince))}</Alert>}
      {problem !== null && (
        <Alert type="warning" header={t.frame.blind}>
          {problem}
        </Alert>
      )}
    </SpaceBetween>
  );
}

/** A moment, once it is a while ago. */
function usePatiently(since: number | null): number | null {
  const [shown, setShown] = useState<number | null>(null);
  useEffect(() => {
    if (since === null) {
      setShown(null);
      return;
    }
    const timer = setTimeout(() => setShown(since), Math.max(0, since + PATIENCE - Date.now()));
    return () => clearTimeout(timer);
  }, [since]);
  return shown;
}

/** When the oldest of the shown data were read that could not be read again; null: there are none. */
function useOldestShown(): number | null {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (changed) => cache.subscribe(changed),
    () => {
      const old = cache.findAll({ type: "active", predicate: isOld }).map((query) => query.state.dataUpdatedAt);
      return old.length > 0 ? Math.min(...old) : null;
    },
  );
}

function isOld({ state }: Query): boolean {
  return state.data !== undefined && state.status === "error";
}
