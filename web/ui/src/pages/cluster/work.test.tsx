/** What a cluster works at and waits for: stages, held actions, ops, with the orders that a person gives. */
import { expect, test } from "vitest";
import type { ClusterView, HeldView, OpView, ProgressView } from "../../api/schema";
import { AT, clusterView } from "../../testing/cluster";
import { person, problem, serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { alike, Held } from "./held";
import { Ops } from "./ops";
import { Stages } from "./stages";

const ORDER = "POST /api/v1/orders";
const words = t.cluster;

function stage(more: Partial<ProgressView>): ProgressView {
  return { stage: "compute", state: "Ready", reason: "", message: "", since: AT, waits_for: [], ...more };
}

function held(more: Partial<HeldView> = {}): HeldView {
  return {
    key: "hyperpod.InstanceGroup/prod/gpu",
    action: "0123456789ab",
    subject: "0123456789abcdef",
    reason: "NeedsApproval",
    message: "deletes the group gpu",
    way: "approve",
    who: "anybody but the author",
    order: "approve",
    since: AT,
    ...more,
  };
}

function op(more: Partial<OpView> = {}): OpView {
  return {
    op: "01j00000000000000000000000",
    call: "UpdateCluster",
    key: "hyperpod.Cluster/prod",
    phase: "failed",
    attempt: 3,
    since: AT,
    next: null,
    reason: "ServerError",
    msg: "the service said no",
    ...more,
  };
}

const text = (page: { getElement(): Element }) => page.getElement().textContent ?? "";

test.each<[string, Partial<ProgressView>, string[], string[]]>([
  ["ready stages say no more than that", { message: "old news" }, ["Instance groups", "Ready"], ["old news"]],
  [
    "how far it is, and how long that takes mostly",
    { state: "Progressing", done: 3, all: 6, expected: { least: 600, most: 1200 } as ProgressView["expected"] },
    ["3 of 6", "10 minutes", "20 minutes"],
    [],
  ],
  [
    "what it waits for",
    {
      state: "Progressing",
      waits_for: [
        { key: "hyperpod.InstanceGroup/prod/gpu", name: "gpu", progress: "1/2", message: "no capacity", held: true },
      ] as ProgressView["waits_for"],
    },
    ["Waits for", "gpu", "(1/2)", "no capacity", "a person's word is missing"],
    [],
  ],
  ["what failed, and why", { state: "Failed", message: "no such role" }, ["Failed", "no such role", "Try again"], []],
  ["a stage without a word of ours", { stage: "quantum" }, ["quantum"], []],
])("stages: %s", (_, more, found, missing) => {
  serve({});
  const { page } = show(<Stages view={clusterView({ stages: [stage(more)] })} />);
  for (const one of found) expect(text(page)).toContain(one);
  for (const one of missing) expect(text(page)).not.toContain(one);
});

test("nothing was applied yet", () => {
  serve({});
  expect(text(show(<Stages view={clusterView()} />).page)).toContain(words.stages.none);
});

test("a failed stage is tried again with a reason, and only by who may", async () => {
  const service = serve({ [ORDER]: { id: "1" } });
  const view = clusterView({ stages: [stage({ state: "Failed" })] });
  const reader = show(<Stages view={view} />, { who: person(["read"]) });
  expect(reader.page.findButton()?.isDisabled()).toBe(true);
  const { page, whole } = show(<Stages view={view} />);
  page.findButton()?.click();
  answer(whole, "");
  expect(text(whole)).toContain(words.orders.whyBad);
  expect(service.asked.filter(({ method }) => method === "POST")).toHaveLength(0);
  answer(whole, "the role is there now ");
  await until(() =>
    expect(service.asked.at(-1)?.body).toEqual({
      cluster: "prod",
      do: "retry",
      subject: "compute",
      why: "the role is there now",
    }),
  );
  await until(() => expect(whole.findModal()).toBeNull());
});

test("what waits for the same word is one thing, and one refusal does not give the others twice", async () => {
  const all = [held(), held({ key: "hyperpod.InstanceGroup/prod/cpu", subject: "fedc" }), held({ order: null })];
  expect(alike(all).map((group) => group.length)).toEqual([2, 1]);
  const refusals = [problem(409, "NothingHeld", "it is not held")];
  const service = serve({
    [ORDER]: ({ body }) => ((body as { subject: string }).subject === "fedc" && refusals.pop()) || { id: "1" },
  });
  const { page, whole } = show(<Held view={clusterView({ held: all })} />);
  expect(text(page)).toContain(words.held.seeChange);
  page.findButton()?.click();
  answer(whole, "nobody uses them");
  await until(() => expect(text(whole)).toContain("it is not held"));
  answer(whole, "nobody uses them");
  await until(() => expect(whole.findModal()).toBeNull());
  const subjects = service.asked.filter(({ method }) => method === "POST").map(({ body }) => body);
  expect(subjects).toMatchObject([{ subject: "0123456789abcdef" }, { subject: "fedc" }, { subject: "fedc" }]);
});

test("held things can be let go only by who may approve", () => {
  serve({});
  const { page } = show(<Held view={clusterView({ held: [held()] })} />, { who: person(["read", "operate"]) });
  expect(page.findButton()?.isDisabled()).toBe(true);
  expect(text(page)).toContain("anybody but the author");
});

test.each<[string, Partial<ClusterView>, string, object]>([
  ["failed", { failed_ops: [op()] }, "retry", {}],
  ["unknown", { open_ops: [op({ phase: "unknown" })] }, "resolve", { outcome: "happened" }],
])("an op that is %s is answered by a person", async (_, more, order, outcome) => {
  const service = serve({ [ORDER]: { id: "1" } });
  const { page, whole } = show(<Ops view={clusterView(more)} />);
  expect(text(page)).toContain("the service said no");
  expect(text(page)).toContain(words.failed.attempt(3));
  page.findButton()?.click();
  answer(whole, "looked at it");
  await until(() =>
    expect(service.asked.at(-1)?.body).toMatchObject({ do: order, subject: op().op, why: "looked at it", ...outcome }),
  );
});

test("what is merely under way asks nobody for anything", () => {
  serve({});
  const { page } = show(<Ops view={clusterView({ open_ops: [op({ phase: "submitted" })] })} />);
  expect(page.findButton()).toBeNull();
});

function answer(whole: ReturnType<typeof show>["whole"], why: string) {
  const modal = whole.findModal();
  modal?.findContent().findTextarea()?.setTextareaValue(why);
  modal?.findFooter()?.findButton(`[class*="primary"]`)?.click();
}
