import { expect, test } from "vitest";
import type { NodeView } from "../../api/schema";
import { nodeView } from "../../testing/cluster";
import { person, serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { healthOf, Nodes } from "./nodes";
import { nameOf, Reboot } from "./reboot";

const NODES = "GET /api/v1/clusters/prod/nodes";
const words = t.nodes;

test.each<[Partial<NodeView>, string, string]>([
  [{}, words.ready, "it works"],
  [{ node: null }, words.provisioning, "Kubernetes does not have it"],
  [{ node: { ready: null } as NodeView["node"] }, words.silent, "not heard of: not well, and not ill"],
  [{ node: { ready: false } as NodeView["node"] }, words.notReady, "it says so"],
  [{ node: { ready: true, takes_pods: false } as NodeView["node"] }, words.cordoned, "cordoned"],
])("%j is %s: %s", (more, said) => {
  expect(healthOf(nodeView(1, more)).text).toBe(said);
});

test("of many nodes only some are made, and each says which it is of how many", async () => {
  const items = Array.from({ length: 500 }, (_, number) => nodeView(number));
  serve({
    [NODES]: { items: items.slice(0, 250), next: "more" },
    [`${NODES}?limit=500&cursor=more`]: { items: items.slice(250), next: null },
  });
  const { page } = show(<Nodes cluster="prod" />);
  await until(() => expect(page.findHeader()?.getElement().textContent).toContain("(500)"));
  const table = page.find("table[aria-rowcount]")?.getElement();
  expect(table?.getAttribute("aria-rowcount")).toBe("501");
  expect(page.findTable()?.findRows().length).toBeLessThan(80);
  expect(page.findTable()?.findRows()[0]?.getElement().getAttribute("aria-rowindex")).toBe("2");
});

test("all that the filter shows are marked and rebooted by one change, with what that stops", async () => {
  const items = [nodeView(1), nodeView(2), nodeView(3, { instance: "", logical: "gpu-3" })];
  const service = serve({ [NODES]: { items, next: null }, "POST /api/v1/changes": { id: "01j" } });
  const { page, whole } = show(<Nodes cluster="prod" />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(3));
  const button = (text: string) => page.findAllButtons().find((one) => one.getElement().textContent?.startsWith(text));
  expect(button(words.reboot.action)?.isDisabled()).toBe(true);
  button(words.marking.markAll(2))?.click(); // the third is not a machine yet
  button(words.reboot.selected(2))?.click();
  await until(() => expect(whole.findModal()?.getElement().textContent).toContain("2 pods on them are stopped"));
  expect(whole.findModal()?.getElement().textContent).toContain("holding 16 GPUs");
  whole.findModal()?.findFooter()?.findButton(`[class*="primary"]`)?.click();
  await until(() => expect(service.asked.some(({ method }) => method === "POST")).toBe(true));
  const body = service.asked.find(({ method }) => method === "POST")?.body;
  expect(body).toMatchObject({
    edits: [
      { edit: "put", document: { kind: "Operation", spec: { reboot: { nodes: [items[0]?.id, items[1]?.id] } } } },
    ],
  });
});

test("who may not propose reboots nothing", async () => {
  serve({ [NODES]: { items: [nodeView(1)], next: null } });
  const { page } = show(<Nodes cluster="prod" />, { who: person(["read"]) });
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  for (const button of page.findTable()?.findRows()[0]?.findAllButtons() ?? []) expect(button.isDisabled()).toBe(true);
});

test.each<[Partial<NodeView>, string]>([
  [{ pods: 0 }, "No pods run on it now."],
  [{ pods: null }, "how many is not known now"],
  [{ pods: 3, gpus_used: 8 }, "3 pods on it are stopped, holding 8 GPUs"],
])("what a reboot means for %j", (more, said) => {
  serve({});
  const { whole } = show(<Reboot cluster="prod" nodes={[nodeView(1, more)]} onClose={() => {}} />);
  expect(whole.findModal()?.getElement().textContent).toContain(said);
});

test("an Operation's name is of the node and the moment, so it is never one that was used", () => {
  expect(nameOf("i-0a", Date.parse("2026-03-01T10:00:00Z"))).toBe("reboot-i-0a-20260301t100000z");
});
