/** One clock for the whole page, however many moments it shows. */
import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const told of listeners) told();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Real milliseconds since 1970, renewed every so many. */
export function useWorldNow(every = 10_000): number {
  const snapshot = useCallback(() => Math.floor(Date.now() / every) * every, [every]);
  return useSyncExternalStore(subscribe, snapshot);
}
