/** What jsdom lacks and the pages use, and an end to what a test put on the page. */
import { cleanup } from "@testing-library/react";
import { afterEach, vi } from "vitest";

class NoObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

globalThis.ResizeObserver ??= NoObserver;
globalThis.IntersectionObserver ??= NoObserver as unknown as typeof IntersectionObserver;
globalThis.matchMedia ??= (query: string) =>
  ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;

// What pages load when it is needed is loaded before: a load that the end of one file cuts off would stay failed for
// all files after it. One process runs them all, so this happens once.
await import("@cloudscape-design/components/cards");
const ours = import.meta.glob(["../parts/*.tsx", "../pages/**/*.tsx", "!../**/*.test.tsx"]);
await Promise.all(Object.values(ours).map((load) => load()));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  globalThis.localStorage.clear();
});
