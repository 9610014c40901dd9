/** What each form of a group sends: only what became different; what is fixed stands there as fixed. */
import { expect, test } from "vitest";
import { documentView, groupView } from "../../../testing/cluster";
import { problem, serve, show, until } from "../../../testing/service";
import { t } from "../../../texts";
import { AddGroup } from "./add";
import { Labels } from "./labels";
import { Remove } from "./remove";
import { Scale } from "./scale";

const GROUP = "GET /api/v1/clusters/prod/documents/InstanceGroup/gpu";
const CHANGES = "POST /api/v1/changes";
const written = documentView("InstanceGroup", "gpu", {
  instanceType: "ml.p5.48xlarge",
  count: 2,
  labels: { team: "a" },
});
const none = () => {};

type Shown = ReturnType<typeof show>;
const modal = ({ whole }: Shown) => whole.findModal();
const text = (shown: Shown) => modal(shown)?.getElement().textContent ?? "";
const propose = (shown: Shown) => modal(shown)?.findFooter()?.findButton(`[class*="primary"]`)?.click();
const sent = (service: ReturnType<typeof serve>) => service.asked.filter(({ method }) => method === "POST");

test("scaling sends the count on the revision that was shown, and the change is opened", async () => {
  const service = serve({ [GROUP]: written, [CHANGES]: { id: "01j" } });
  const shown = show(<Scale cluster="prod" group={groupView()} onClose={none} />);
  await until(() => expect(service.asked.some(({ path }) => path.endsWith("/InstanceGroup/gpu"))).toBe(true));
  propose(shown);
  await until(() => expect(text(shown)).toContain(t.groups.scale.same));
  modal(shown)?.findContent().findInput()?.setInputValue("-1");
  await until(() => expect(text(shown)).toContain(t.machines.countBad));
  modal(shown)?.findContent().findInput()?.setInputValue("1");
  await until(() => expect(text(shown)).toContain(t.groups.scale.fewer));
  expect(sent(service)).toHaveLength(0);
  modal(shown)?.findContent().findTextarea()?.setTextareaValue("less to do");
  propose(shown);
  await until(() => expect(shown.router.state.location.pathname).toBe("/changes/01j"));
  expect(sent(service)[0]?.body).toEqual({
    title: t.groups.scale.change("gpu", 2, 1),
    why: "less to do",
    base: written.revision,
    direct: false,
    edits: [
      {
        edit: "patch",
        cluster: "prod",
        kind: "InstanceGroup",
        name: "gpu",
        patch: [{ op: "replace", path: "/spec/count", value: 1 }],
      },
    ],
  });
});

test("type, zone and capacity are shown as fixed, with the way out, and have no field", async () => {
  serve({ [GROUP]: written });
  const shown = show(<Scale cluster="prod" group={groupView()} onClose={none} />);
  for (const one of [t.groups.fixed.title, "ml.p5.48xlarge", "usw2-az2", "On demand", t.groups.fixed.text]) {
    expect(text(shown)).toContain(one);
  }
  expect(modal(shown)?.findContent().findAllInputs()).toHaveLength(1);
});

test("what two wrote is shown with both values, and the form stays", async () => {
  const conflict = {
    path: "clusters/prod/gpu.yaml",
    document: "InstanceGroup/gpu",
    field: "/spec/count",
    base: 2,
    yours: 4,
    theirs: 3,
    by: "somebody@example.com",
    at: "",
    commit: "",
  };
  serve({
    [GROUP]: written,
    [CHANGES]: () => problem(409, "Conflicts", "others changed the same", { conflicts: [conflict] }),
  });
  const shown = show(<Scale cluster="prod" group={groupView()} onClose={none} />);
  modal(shown)?.findContent().findInput()?.setInputValue("4");
  propose(shown);
  await until(() => expect(modal(shown)?.find("table tbody tr")?.getElement().textContent).toContain("/spec/count"));
  const row = modal(shown)?.find("table tbody tr")?.getElement().textContent ?? "";
  for (const one of ["2", "4", "3", "somebody@example.com"]) expect(row).toContain(one);
  expect(modal(shown)?.findContent().findInput()?.findNativeInput().getElement().value).toBe("4");
});

test("only the label that is another is sent", async () => {
  const service = serve({ [GROUP]: written, [CHANGES]: { id: "01j" } });
  const shown = show(<Labels cluster="prod" group={groupView()} onClose={none} />);
  await until(() => expect(modal(shown)?.findContent().findAllInputs()).toHaveLength(2));
  propose(shown);
  await until(() => expect(text(shown)).toContain(t.groups.labels.same));
  modal(shown)?.findContent().findAllInputs()[1]?.setInputValue("b");
  propose(shown);
  await until(() => expect(sent(service)).toHaveLength(1));
  expect(sent(service)[0]?.body).toMatchObject({
    edits: [{ patch: [{ op: "replace", path: "/spec/labels/team", value: "b" }] }],
  });
});

test("deleting says how many nodes go, and sends the name", async () => {
  const service = serve({ [CHANGES]: { id: "01j" } });
  const shown = show(<Remove cluster="prod" group={groupView()} onClose={none} />);
  expect(text(shown)).toContain(t.groups.remove.text(2));
  propose(shown);
  await until(() => expect(sent(service)).toHaveLength(1));
  expect(sent(service)[0]?.body).toMatchObject({
    edits: [{ edit: "remove", cluster: "prod", kind: "InstanceGroup", name: "gpu" }],
  });
});

test.each([
  ["", t.groups.add.nameBad],
  ["gpu", t.groups.add.nameTaken],
])("a new group called %j is not sent", async (name, flaw) => {
  const service = serve({});
  const shown = show(<AddGroup cluster="prod" taken={["gpu"]} onClose={none} />);
  modal(shown)?.findContent().findInput()?.setInputValue(name);
  propose(shown);
  await until(() => expect(text(shown)).toContain(flaw));
  expect(sent(service)).toHaveLength(0);
});
