import { expect, test } from "vitest";
import type { TokenAsked } from "../../api/schema";
import type { Scope } from "../../api/session";
import { t } from "../../texts";
import { type Flaws, flawsOf, given, reachOf } from "./wish";

test.each<[Scope[], TokenAsked["kind"], Scope[], string]>([
  [["operate", "read"], "person", ["read", "operate"], "from the least to the most"],
  [
    ["read", "propose", "approve", "operate"],
    "agent",
    ["read", "propose"],
    "an agent decides nothing, also if ticked before",
  ],
  [[], "agent", [], "nothing ticked"],
])("%j for a %s are %j: %s", (ticked, kind, scopes) => {
  expect(given(ticked, kind)).toEqual(scopes);
});

const wish: TokenAsked = {
  kind: "agent",
  name: "training-assistant",
  scopes: ["read"],
  days: 30,
  reach: { paths: [], kinds: [] },
};

test.each<[Partial<TokenAsked>, Flaws, string]>([
  [{}, {}, "as it should be"],
  [{ name: "" }, { name: t.tokens.form.nameBad }, "nobody"],
  [{ name: "a <b@example.com>" }, { name: t.tokens.form.nameBad }, "signs that end a name in a trailer"],
  [{ name: "a\nb" }, { name: t.tokens.form.nameBad }, "two lines"],
  [{ name: "x".repeat(201) }, { name: t.tokens.form.nameBad }, "too long"],
  [{ reach: { paths: ["clusters/team-a/**"], kinds: [] } }, {}, "a folder"],
  [
    { reach: { paths: ["clusters/**", "/etc/*"], kinds: [] } },
    { reach: t.tokens.form.reachBad("/etc/*") },
    "a pattern that leads elsewhere",
  ],
  [{ scopes: [] }, { scopes: t.tokens.form.scopesBad }, "able to do nothing"],
])("%j has the flaws %j: %s", (more, flaws) => {
  expect(flawsOf({ ...wish, ...more })).toEqual(flaws);
});

test.each<[string, Parameters<typeof reachOf>[1], TokenAsked["reach"], string]>([
  ["", [], { paths: [], kinds: [] }, "all of them"],
  [" ,  ", [], { paths: [], kinds: [] }, "commas alone are no pattern"],
  ["clusters/a/**, clusters/b/**", [], { paths: ["clusters/a/**", "clusters/b/**"], kinds: [] }, "two folders"],
  ["", ["Storage"], { paths: [], kinds: ["Storage"] }, "a kind, wherever it is"],
])("%j and %j reach %j: %s", (text, kinds, reach) => {
  expect(reachOf(text, kinds)).toEqual(reach);
});
