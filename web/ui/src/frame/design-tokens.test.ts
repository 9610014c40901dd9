import { readFileSync } from "node:fs";
import * as tokens from "@cloudscape-design/design-tokens";
import { expect, test } from "vitest";

// With tokens of another release every own colour falls back to its light value, in dark mode too, and nobody is told.
test("design tokens belong to the components that are installed", () => {
  const inside = "node_modules/@cloudscape-design/components/internal";
  const css = ["base-component", "base-theme"]
    .map((folder) => {
      try {
        return readFileSync(`${inside}/${folder}/styles.scoped.css`, "utf8");
      } catch {
        return "";
      }
    })
    .join("");
  const names = Object.values(tokens).flatMap((value) => /^var\((--[a-z0-9-]+)/.exec(String(value))?.[1] ?? []);
  expect(names.length).toBeGreaterThan(400);
  expect(names.filter((name) => !css.includes(`${name}:`))).toEqual([]);
});
