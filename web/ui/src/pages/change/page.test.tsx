import { Route, Routes } from "react-router";
import { expect, test, vi } from "vitest";
import type { ChangeView as Change } from "../../api/schema";
import { person, problem, serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { deedsOf } from "./deeds";
import { Component } from "./page";

const ID = "01jnh3x2aaaaaaaaaaaaaaaaaa";
const HEAD = "a".repeat(40);
const AT = "2026-03-01T09:00:00Z";

function change(more: Partial<Change> = {}): Change {
  return {
    id: ID,
    state: "open",
    title: "Delete the spare group",
    proposed_by: "training-assistant",
    kind: "agent",
    on_behalf_of: "researcher@example.com",
    base: "b".repeat(40),
    head: HEAD,
    opened_at: AT,
    updated_at: AT,
    clusters: ["prod"],
    approvals: 0,
    objections: 0,
    comments: 0,
    why: "It has been idle for a week.",
    files: [],
    events: [],
    reviews: [],
    checks: [{ name: "policy", state: "waiting", says: ["delete of spare needs an approval"] }],
    mergeable: false,
    plan: "d".repeat(64),
    looked_at: AT,
    conflicts: [],
    losses: [],
    findings: [],
    ...more,
  };
}

const PLAN = {
  change: ID,
  base: HEAD,
  head: HEAD,
  commit: HEAD,
  digest: "d".repeat(64),
  looked_at: AT,
  clusters: [],
  reach: [],
  missing: ["delete of spare needs an approval"],
  conflicts: [],
  problems: [],
};

function open(found: Change, answers: Parameters<typeof serve>[0] = {}) {
  const service = serve({
    [`GET /api/v1/changes/${ID}`]: found,
    [`GET /api/v1/changes/${ID}/plan`]: PLAN,
    ...answers,
  });
  const routes = (
    <Routes>
      <Route path="/changes/:change" element={<Component />} />
    </Routes>
  );
  return { service, ...show(routes, { path: `/changes/${ID}` }) };
}

const REVIEW = { who: person(["read", "propose", "approve"]), may: () => true };

test.each([
  ["what is open and unmet cannot be merged", change(), true, { merge: t.change.notMergeable, approve: null }],
  ["what is met can", change({ mergeable: true }), true, { merge: null }],
  [
    "what cannot be laid over the branch has no plan to approve",
    change({ plan: null }),
    true,
    { approve: expect.any(String) },
  ],
  [
    "what its plan refuses cannot be approved, and why is told",
    change({ checks: [{ name: "plan", state: "failed", says: ["prod: the zone is fixed"] }] }),
    true,
    { approve: t.change.refused("prod: the zone is fixed") },
  ],
  ["who lacks the scope is told", change(), false, { approve: t.common.missingScope("approve") }],
  ["what was merged can be taken back", change({ state: "merged" }), true, { revert: null }],
  ["what was closed is over", change({ state: "closed" }), true, {}],
])("%s", (_, found, may, deeds) => {
  const all = deedsOf(found, { ...REVIEW, may: () => may });
  expect(all).toMatchObject(deeds);
  if (found.state !== "open") expect(Object.keys(all)).toEqual(Object.keys(deeds));
});

test("a change says who asked, for whom and why, and what it waits for", async () => {
  const { page } = open(change());
  await vi.waitFor(() => expect(page.getElement().textContent).toContain("It has been idle for a week."));
  for (const text of [t.change.facts.agent("training-assistant"), "researcher@example.com", "needs an approval"]) {
    expect(page.getElement().textContent).toContain(text);
  }
});

test("an approval names the head and the plan that was seen", async () => {
  const post = `POST /api/v1/changes/${ID}/reviews`;
  const { page, whole, service } = open(change(), { [post]: change({ mergeable: true, approvals: 1 }) });
  await vi.waitFor(() => expect(buttonOf(page, t.change.actions.approve)).toBeDefined());
  buttonOf(page, t.change.actions.approve)?.click();
  whole.findModal()?.findFooter()?.findButton(`[class*="primary"]`)?.click();
  await vi.waitFor(() => expect(service.asked.some(({ method }) => method === "POST")).toBe(true));
  expect(service.asked.find(({ method }) => method === "POST")?.body).toEqual({
    verdict: "approve",
    text: "",
    plan: "d".repeat(64),
  });
});

test("who asks for changes says which", async () => {
  const { page, whole, service } = open(change());
  await vi.waitFor(() => expect(page.findButtonDropdown()).not.toBeNull());
  page.findButtonDropdown()?.openDropdown();
  page.findButtonDropdown()?.findItemById("object")?.click();
  whole.findModal()?.findFooter()?.findButton(`[class*="primary"]`)?.click();
  expect(whole.findModal()?.getElement().textContent).toContain(t.change.asks.wordsBad);
  expect(service.asked.filter(({ method }) => method === "POST")).toEqual([]);
});

test("a refusal stays in the question, with both values where others wrote the same", async () => {
  const conflict = {
    path: "clusters/prod/gpu.yaml",
    document: "InstanceGroup/gpu",
    field: "/spec/count",
    base: 2,
    yours: 4,
    theirs: 3,
    by: "somebody",
    at: AT,
    commit: HEAD,
  };
  const { page, whole } = open(change({ mergeable: true }), {
    [`POST /api/v1/changes/${ID}/merge`]: () =>
      problem(409, "Conflict", "others changed the same", { way_out: "rebase it", conflicts: [conflict] }),
  });
  await vi.waitFor(() => expect(buttonOf(page, t.change.actions.merge)).toBeDefined());
  buttonOf(page, t.change.actions.merge)?.click();
  whole.findModal()?.findFooter()?.findButton(`[class*="primary"]`)?.click();
  await vi.waitFor(() => expect(whole.findModal()?.getElement().textContent).toContain("rebase it"));
  const cells = () => whole.findModal()?.find("table tbody tr")?.getElement().textContent ?? "";
  await until(() => expect(cells()).toContain("/spec/count"));
  for (const text of ["2", "4", "3"]) expect(cells()).toContain(text);
});

function buttonOf(page: ReturnType<typeof show>["page"], text: string) {
  return page.findAllButtons().find((button) => button.getElement().textContent === text);
}
