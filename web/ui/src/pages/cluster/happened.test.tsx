/** What drifted and what happened. */
import { expect, test } from "vitest";
import type { EntryView } from "../../api/schema";
import { AT, clusterView, documentView } from "../../testing/cluster";
import { serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { Drift } from "./drift";
import { Timeline } from "./timeline";

const DRIFT = "GET /api/v1/clusters/prod/drift";
const TIMELINE = "GET /api/v1/clusters/prod/timeline";
const nothing = { items: [], gone: [], unmanaged: [], unknown: [], parts: [], next: null };
const drifted = (then: string, action: object) => ({ then, action });
const seen = (key: string, message = "") => ({ key, message });

test("nothing drifted", async () => {
  serve({ [DRIFT]: nothing });
  const { page } = show(<Drift view={clusterView()} />);
  await until(() => expect(page.getElement().textContent).toContain(t.drift.none));
});

test("what drifted says what becomes of it, and what is not ours or not seen is told apart", async () => {
  const action = {
    digest: "d",
    key: "hyperpod.InstanceGroup/prod/gpu",
    verb: "update",
    name: "gpu",
    changes: [{ path: "/count", op: "replace", before: 7, after: 2 }],
    needs: [],
    notes: [],
    stage: "compute",
    cost: "inPlace",
    summary: "gpu",
  };
  serve({
    [DRIFT]: {
      ...nothing,
      items: [drifted("restored", action), drifted("held", { ...action, digest: "e" })],
      gone: [seen("iam.Role/prod/node", "it was adopted")],
      unmanaged: [seen("ec2.Subnet/prod/other")],
      unknown: [seen("eks.Cluster/prod", "access denied")],
    },
  });
  const { page } = show(<Drift view={clusterView()} />);
  await until(() => expect(page.getElement().textContent).toContain(t.drift.restored));
  const text = page.getElement().textContent ?? "";
  for (const one of [
    t.drift.held,
    t.drift.gone,
    "iam.Role/prod/node: it was adopted",
    t.drift.unmanaged,
    "ec2.Subnet/prod/other",
    "eks.Cluster/prod: access denied",
  ]) {
    expect(text).toContain(one);
  }
});

test.each([
  [{ suspend: false }, {}, { op: "add", path: "/spec/suspend", value: true }],
  [{ suspend: true }, { suspend: true }, { op: "replace", path: "/spec/suspend", value: false }],
])("everything is held, or goes on, by one field: %j", async (desired, spec, step) => {
  const service = serve({
    [DRIFT]: nothing,
    "GET /api/v1/clusters/prod/documents/Cluster/prod": documentView("Cluster", "prod", spec),
    "POST /api/v1/changes": { id: "01j" },
  });
  const view = clusterView({ desired: { ...clusterView().desired, ...desired } });
  const { page, whole } = show(<Drift view={view} />);
  page.findButton()?.click();
  await until(() => expect(service.asked.some(({ path }) => path.includes("/documents/"))).toBe(true));
  await until(() => {
    whole.findModal()?.findFooter()?.findButton(`[class*="primary"]`)?.click();
    expect(service.asked.at(-1)?.body).toMatchObject({ edits: [{ kind: "Cluster", name: "prod", patch: [step] }] });
  });
});

function entry(id: string, more: Partial<EntryView> = {}): EntryView {
  return {
    id,
    kind: "op",
    at: AT,
    revision: "a".repeat(40),
    say: "said",
    asked: { by: "", email: "" },
    approved: [],
    detail: {},
    ...more,
  };
}

test("an entry says who asked and who let it pass, in people's words, with the journal's own at hand", async () => {
  const said = "created hyperpod.InstanceGroup/prod/gpu";
  const asked = { change: "01j", proposed_by: "agent", email: "", by: "" } as EntryView["asked"];
  serve({ [TIMELINE]: { items: [entry("1", { say: said, asked, approved: ["somebody"] })], next: null } });
  const { page } = show(<Timeline cluster="prod" />);
  await until(() => expect(page.find("ol")?.getElement().textContent).toContain("created instance group gpu"));
  const text = page.find("ol")?.getElement().textContent ?? "";
  expect(text).toContain(t.timeline.asked("agent"));
  expect(text).toContain(t.timeline.approved("somebody"));
  expect(page.find(`ol [title="${said}"]`)).not.toBeNull();
});

test("a kind is asked for, and earlier entries by the cursor", async () => {
  const service = serve({
    [TIMELINE]: ({ path }) =>
      path.includes("cursor=more") ? { items: [entry("2")], next: null } : { items: [entry("1")], next: "more" },
  });
  const { page } = show(<Timeline cluster="prod" />);
  await until(() => expect(page.findAll("ol > li")).toHaveLength(1));
  page
    .findAllButtons()
    .find((one) => one.getElement().textContent === t.timeline.more)
    ?.click();
  await until(() => expect(page.findAll("ol > li")).toHaveLength(2));
  page.findSegmentedControl()?.findSegmentById("hold")?.click();
  await until(() => expect(service.asked.at(-1)?.path).toContain("kind=hold&kind=order"));
});
