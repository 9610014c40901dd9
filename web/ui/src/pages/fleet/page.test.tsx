import { expect, test } from "vitest";
import type { SummaryView } from "../../api/schema";
import { person, problem, serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { Component } from "./page";

function line(cluster: string, more: Partial<SummaryView> = {}): SummaryView {
  return {
    cluster,
    condition: "Ready",
    reason: "",
    message: "",
    account: "111122223333",
    region: "us-west-2",
    kubernetes_version: "1.33",
    groups: 1,
    storages: 0,
    instance_types: { "ml.p5.48xlarge": 4 },
    zones: ["usw2-az2"],
    instances: { desired: 4, there: 4, ready: 4 },
    gpus: { desired: 32, there: 32, ready: 32, used: 24, idle: 8 },
    held: 0,
    failed_ops: 0,
    drift: 0,
    suspended: false,
    parts: [],
    ...more,
  };
}

const FLEET = "GET /api/v1/clusters?limit=500";
const at = {
  approved_by: [],
  commit: "f".repeat(40),
  name: "Engineer",
  email: "engineer@example.com",
  at: "2026-03-01T09:00:00Z",
  subject: "Scale",
};

test("an empty fleet leads to the first cluster", async () => {
  serve({ [FLEET]: { items: [], next: null } });
  const { page, router } = show(<Component />);
  await until(() => expect(page.getElement().textContent).toContain(t.fleet.empty.title));
  page.findButton(`[href="/clusters/new"]`)?.click();
  await until(() => expect(router.state.location.pathname).toBe("/clusters/new"));
});

test("who may not propose is offered no new cluster", async () => {
  serve({ [FLEET]: { items: [], next: null } });
  const { page } = show(<Component />, { who: person(["read"]) });
  await until(() => expect(page.getElement().textContent).toContain(t.fleet.empty.title));
  expect(page.findButton(`[href="/clusters/new"]`)).toBeNull();
});

test("all pages of the list are read, and filtered here", async () => {
  const service = serve({
    [FLEET]: { items: [line("prod"), line("research", { region: "eu-west-1" })], next: "more" },
    [`${FLEET}&cursor=more`]: { items: [line("staging")], next: null },
  });
  const { page } = show(<Component />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(3));
  expect(service.asked.filter(({ path }) => path.includes("cursor=more"))).toHaveLength(1);
  page.findPropertyFilter()?.findNativeInput().focus();
  page.findPropertyFilter()?.setInputValue("eu-west");
  page.findPropertyFilter()?.findNativeInput().keydown({ key: "Enter", keyCode: 13 });
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  expect(page.findTable()?.findBodyCell(1, 1)?.getElement().textContent).toContain("research");
});

test.each<[string, Partial<SummaryView>, number, string[]]>([
  ["ready and quiet", {}, 3, [t.fleet.now.quiet]],
  [
    "under way",
    { condition: "Reconciling", stage: "compute", progress: "3/6", message: "compute: waits" },
    3,
    ["Instance groups: 3/6", "waits"],
  ],
  [
    "held",
    { condition: "Stalled", held: 2, message: "an approval is missing" },
    3,
    [t.fleet.now.held(2), "an approval is missing"],
  ],
  ["a newer revision", { revision: at, head: { ...at, commit: "a".repeat(40) } }, 3, [t.fleet.now.next("aaaaaaaa")]],
  ["GPUs in use", {}, 4, ["24 of 32", "8 idle"]],
  [
    "GPUs not there yet",
    { gpus: { desired: 32, there: 16, ready: 16, used: 16, idle: 0 } },
    4,
    ["16 of 16", "16 not ready"],
  ],
  ["nobody knows their use", { gpus: { desired: 32 } }, 4, ["32 wanted", t.fleet.gpus.unknown]],
  ["nobody knows of drift", { drift: null }, 6, [t.common.unknown]],
  ["drift", { drift: 2 }, 6, ["2 things"]],
])("a line tells: %s", async (_, more, column, texts) => {
  serve({ [FLEET]: { items: [line("prod", more)], next: null } });
  const { page } = show(<Component />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  const cell = page.findTable()?.findBodyCell(1, column)?.getElement().textContent ?? "";
  for (const text of texts) expect(cell).toContain(text);
});

test("what cannot be read is told, with the way out", async () => {
  serve({ [FLEET]: () => problem(403, "MissingScope", "you do not hold read", { way_out: "ask for a new link" }) });
  const { page } = show(<Component />);
  await until(() => expect(page.findAlert()?.findHeader()?.getElement().textContent).toBe(t.problems.statuses[403]));
  expect(page.findAlert()?.findContent().getElement().textContent).toContain("ask for a new link");
});
