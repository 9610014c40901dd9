import { expect, test } from "vitest";
import type { AuthorView } from "../api/schema";
import { serve, show } from "../testing/service";
import { WrittenBy } from "./written-by";

const commit = {
  commit: "f".repeat(40),
  name: "",
  email: "",
  at: "2026-03-01T09:00:00Z",
  subject: "Scale gpu",
  approved_by: [],
};

test.each<[Partial<AuthorView>, string[], string[], string]>([
  [{ name: "Engineer" }, ["Engineer, "], ["approved"], "who commits by hand is the one"],
  [
    { name: "InstantStart", proposed_by: "alice@example.com", approved_by: ["bob@example.com", "carol@example.com"] },
    ["alice@example.com, ", "approved by bob@example.com, carol@example.com"],
    ["InstantStart"],
    "a merge is ours; who wanted it and who let it pass is told",
  ],
  [{ name: "InstantStart", proposed_by: "alice@example.com" }, ["alice@example.com"], ["approved"], "none was needed"],
])("%j: %j, not %j (%s)", (more, found, missing) => {
  serve({});
  const text = show(<WrittenBy of={{ ...commit, ...more }} />).page.getElement().textContent;
  for (const one of found) expect(text).toContain(one);
  for (const one of missing) expect(text).not.toContain(one);
});
