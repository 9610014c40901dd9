import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 688px)"; // Cloudscape's own width for phones

function subscribe(listener: () => void): () => void {
  const media = globalThis.matchMedia?.(NARROW);
  media?.addEventListener("change", listener);
  return () => media?.removeEventListener("change", listener);
}

/** Whether there is room for one column only. */
export function usePhone(): boolean {
  return useSyncExternalStore(subscribe, () => globalThis.matchMedia?.(NARROW).matches ?? false);
}
