import { expect, test } from "vitest";
import { linesOf, pairsOf } from "./diff-lines";

const UNIFIED = `--- a/clusters/prod/gpu.yaml
+++ b/clusters/prod/gpu.yaml
@@ -4,5 +4,6 @@
 spec:
-  count: 2
+  count: 4
+  # for the long run
   zone: usw2-az2
---- kept
\\ No newline at end of file
`;

test.each([
  ["the names at the head are no lines", 0, { kind: "hunk", text: "@@ -4,5 +4,6 @@" }],
  ["a line that stays has both numbers", 1, { kind: "same", text: "spec:", old: 4, new: 4 }],
  ["one that goes has its old", 2, { kind: "remove", text: "  count: 2", old: 5 }],
  ["one that comes has its new", 3, { kind: "add", text: "  count: 4", new: 5 }],
  ["numbers go on apart", 5, { kind: "same", text: "  zone: usw2-az2", old: 6, new: 7 }],
  ["a document's own dashes are its text", 6, { kind: "remove", text: "--- kept", old: 7 }],
])("%s", (_, index, line) => {
  expect(linesOf(UNIFIED)[index]).toEqual(line);
});

test("what git says of the last line is none", () => {
  expect(linesOf(UNIFIED)).toHaveLength(7);
});

test("what goes stands beside what comes in its place", () => {
  const pairs = pairsOf(linesOf(UNIFIED));
  expect(pairs.map((pair) => [pair.old?.text, pair.new?.text])).toEqual([
    ["@@ -4,5 +4,6 @@", "@@ -4,5 +4,6 @@"],
    ["spec:", "spec:"],
    ["  count: 2", "  count: 4"],
    [undefined, "  # for the long run"],
    ["  zone: usw2-az2", "  zone: usw2-az2"],
    ["--- kept", undefined],
  ]);
});
