import { expect, test } from "vitest";
import type { StorageWish, ThingView } from "../../../api/schema";
import { rowsOf, signOf } from "./rows";

const wish = (name: string) => ({ name }) as StorageWish;
const thing = (name: string, more: Partial<ThingView> = {}) =>
  ({ key: `Storage/prod/${name}`, type: "k8s.Storage", presence: "present", health: "healthy", ...more }) as ThingView;

test("each Storage is one row, with what was seen of it; one that nobody asks for comes last", () => {
  const bucket = { ...thing("x"), key: "s3.Bucket/prod/lifecycle", type: "s3.Bucket" };
  const rows = rowsOf("prod", [wish("shared"), wish("new")], [bucket, thing("old"), thing("shared")]);
  expect(rows.map(({ name, wish: asked, thing: seen }) => [name, asked !== null, seen?.key])).toEqual([
    ["shared", true, "Storage/prod/shared"],
    ["new", true, undefined],
    ["old", false, "Storage/prod/old"],
  ]);
});

test.each<[ThingView | null, boolean, string, string, string]>([
  [thing("a"), true, "success", "Mounted", "as it should be"],
  [null, true, "warning", "Not seen", "nobody has looked"],
  [thing("a", { presence: "unknown", health: "" }), true, "warning", "Not seen", "Kubernetes is away"],
  [
    thing("a", { presence: "absent", health: "", planned: "create" }),
    true,
    "pending",
    "Not there yet, create planned",
    "it will be made",
  ],
  [
    thing("a", { health: "deleting", planned: "delete" }),
    false,
    "in-progress",
    "Is deleted, delete planned, No document asks for it",
    "it goes",
  ],
  [
    thing("a", { planned: "delete", held: true }),
    false,
    "warning",
    "Mounted, delete planned, held, No document asks for it",
    "somebody must say so",
  ],
])("%j asked %s is %s, %s: %s", (seen, isAsked, type, text) => {
  expect(signOf({ name: "a", wish: isAsked ? wish("a") : null, thing: seen })).toEqual({ type, text });
});
