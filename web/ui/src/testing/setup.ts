/** What jsdom lacks and the pages use, and an end to what a test put on the page. */
import { cleanup } from "@testing-library/react";
import { afterEach, expect, vi } from "vitest";

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

// React says so once, in whatever test comes by it first, and everybody reads over it.
const errors = vi.spyOn(globalThis.console, "error");

afterEach(() => {
  cleanup();
  const said = errors.mock.calls.map((words) => words.join(" "));
  errors.mockClear();
  expect(said.filter((text) => /unique "key"|the same key/.test(text))).toEqual([]);
  vi.unstubAllGlobals();
  globalThis.localStorage.clear();
});
