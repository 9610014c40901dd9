import { expect, test } from "vitest";
import type { ActionView } from "../../api/schema";
import { serve, show } from "../../testing/service";
import { t } from "../../texts";
import { Cost } from "./cost";

const group = { type: "hyperpod.InstanceGroup", verb: "update", cost: "inPlace" };
const count = (before: unknown, after: unknown) => [{ path: "/count", before, after }];

test.each<[object, string, string]>([
  [{ ...group, changes: count(4, 1) }, t.plan.nodesGone(3), "fewer: the group stays, three of its nodes do not"],
  [{ ...group, changes: count(1, 0) }, t.plan.nodesGone(1), "none is left"],
  [{ ...group, changes: count(1, null) }, t.plan.nodesGone(1), "a count that is not written is none"],
  [{ ...group, changes: count(1, 4) }, "In place", "more: nothing that runs is touched"],
  [{ ...group, changes: [{ path: "/labels/team", before: 4, after: 1 }] }, "In place", "a label that is a number"],
  [{ ...group, verb: "delete", cost: "delete", changes: [] }, "Is deleted", "the whole group says so itself"],
  [
    { type: "eks.Addon", verb: "update", cost: "rolling", changes: count(4, 1) },
    "Node by node",
    "another kind of thing",
  ],
])("%j: %s (%s)", (action, said) => {
  serve({});
  const { page } = show(<Cost action={action as ActionView} />);
  expect(page.getElement().textContent).toBe(said);
});
