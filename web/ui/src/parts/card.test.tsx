import { expect, test, vi } from "vitest";
import { asProblem } from "../api/problems";
import { serve, show } from "../testing/service";
import { t } from "../texts";
import { Card } from "./card";

const refetch = vi.fn();
const at = "2026-03-01T10:00:00Z";

test("while nothing is read it says so, and a failure offers another try", () => {
  serve({});
  const { page } = show(
    <>
      <Card title="First" query={{ data: undefined, error: null, refetch }}>
        {() => "never"}
      </Card>
      <Card title="Second" query={{ data: undefined, error: asProblem(new Error("broke")), refetch }}>
        {() => "never"}
      </Card>
    </>,
  );
  const [first, second] = page.findAllContainers();
  expect(first?.findContent().getElement().textContent).toBe(t.common.loading);
  second?.findContent().findAlert()?.findActionSlot()?.findButton()?.click();
  expect(refetch).toHaveBeenCalledOnce();
});

test("a source that cannot be seen is told, above what was seen before", () => {
  serve({});
  const parts = [
    { name: "aws", observed_at: at, unknown_since: null, message: "" },
    { name: "pods", observed_at: at, unknown_since: at, message: "no route to the cluster" },
    { name: "nodes", observed_at: null, unknown_since: null, message: "" },
  ];
  const { page } = show(
    <Card title="Nodes" query={{ data: { parts, count: 7 }, error: null, refetch }}>
      {({ count }) => `${count} nodes`}
    </Card>,
  );
  const text = page.findContainer()?.findContent().getElement().textContent ?? "";
  expect(text).toContain("Pods: not seen since");
  expect(text).toContain("no route to the cluster");
  expect(text).toContain(t.common.unseen("Nodes"));
  expect(text).not.toContain("AWS");
  expect(text).toContain("7 nodes");
});
