/** Colours and density: a person's choice, kept in this browser; without one, the system's colours. */
import { colorBackgroundLayoutMain } from "@cloudscape-design/design-tokens";
import { applyDensity, applyMode, Density, Mode } from "@cloudscape-design/global-styles";
import { useSyncExternalStore } from "react";

export type ModeChoice = "system" | "light" | "dark";
export type DensityChoice = "comfortable" | "compact";

export interface Look {
  readonly mode: ModeChoice;
  readonly density: DensityChoice;
}

const KEPT = "instantstart-look";
const dark = () => globalThis.matchMedia?.("(prefers-color-scheme: dark)");

export function keptLook(): Look {
  let told: Partial<Look> = {};
  try {
    told = JSON.parse(globalThis.localStorage.getItem(KEPT) ?? "{}") as Partial<Look>;
  } catch {
    // nothing that can be read is kept
  }
  return {
    mode: told.mode === "light" || told.mode === "dark" ? told.mode : "system",
    density: told.density === "compact" ? "compact" : "comfortable",
  };
}

export function applyLook({ mode, density }: Look): void {
  const isDark = mode === "dark" || (mode === "system" && dark()?.matches === true);
  applyMode(isDark ? Mode.Dark : Mode.Light);
  applyDensity(density === "compact" ? Density.Compact : Density.Comfortable);
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
}

let current: Look = { mode: "system", density: "comfortable" };
const listeners = new Set<() => void>();

/** Once, before anything is drawn: the kept look, and from then on the system's colours where none were chosen. */
export function beginLook(): void {
  current = keptLook();
  document.body.style.backgroundColor = colorBackgroundLayoutMain;
  applyLook(current);
  dark()?.addEventListener("change", () => applyLook(current));
}

export function changeLook(change: Partial<Look>): void {
  current = { ...current, ...change };
  applyLook(current);
  try {
    globalThis.localStorage.setItem(KEPT, JSON.stringify(current));
  } catch {
    // it holds until the page is closed
  }
  for (const told of listeners) told();
}

export function useLook(): Look {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
