import { expect, test } from "vitest";
import { added, isLabelValue, isName, keyFlaw, type Label, labelled, rebooted, scaled, suspended } from "./edits";

const group = (patch: object[]) => ({ edit: "patch", cluster: "prod", kind: "InstanceGroup", name: "gpu", patch });

test("scaling touches the count and nothing else", () => {
  expect(scaled("prod", "gpu", 4)).toEqual(group([{ op: "replace", path: "/spec/count", value: 4 }]));
});

test.each<[string, Record<string, string> | undefined, Label[], object | null]>([
  [
    "the first label brings the map",
    undefined,
    [{ key: "team", value: "a" }],
    group([{ op: "add", path: "/spec/labels", value: { team: "a" } }]),
  ],
  [
    "a new one stands beside the others",
    { team: "a" },
    [
      { key: "team", value: "a" },
      { key: "x", value: "" },
    ],
    group([{ op: "add", path: "/spec/labels/x", value: "" }]),
  ],
  [
    "one with another value",
    { team: "a" },
    [{ key: "team", value: "b" }],
    group([{ op: "replace", path: "/spec/labels/team", value: "b" }]),
  ],
  [
    "one that goes",
    { team: "a", x: "1" },
    [{ key: "x", value: "1" }],
    group([{ op: "remove", path: "/spec/labels/team" }]),
  ],
  [
    "a slash of a key is no step of the path",
    {},
    [{ key: "example.com/team", value: "a" }],
    group([{ op: "add", path: "/spec/labels/example.com~1team", value: "a" }]),
  ],
  ["nothing is different", { team: "a" }, [{ key: "team", value: "a" }], null],
  ["nothing was and is", undefined, [], null],
])("labels: %s", (_, before, after, edit) => {
  expect(labelled("prod", "gpu", before, after)).toEqual(edit);
});

test("a field that is not written is added, one that is gets another value", () => {
  expect(suspended("prod", false, true)).toMatchObject({
    kind: "Cluster",
    patch: [{ op: "add", path: "/spec/suspend", value: true }],
  });
  expect(suspended("prod", true, false)).toMatchObject({ patch: [{ op: "replace", value: false }] });
});

test("new documents say what they are", () => {
  expect(added("prod", "gpu", { count: 1 })).toMatchObject({
    edit: "put",
    document: { kind: "InstanceGroup", metadata: { name: "gpu" }, spec: { count: 1 } },
  });
  expect(rebooted("prod", "reboot-1", ["i-0a"], "2026-03-01T12:00:00Z", "")).toMatchObject({
    document: { kind: "Operation", spec: { expires: "2026-03-01T12:00:00Z", reboot: { nodes: ["i-0a"] } } },
  });
});

test.each([
  ["gpu", true],
  ["gpu-2", true],
  ["-gpu", false],
  ["", false],
  ["g".repeat(64), false],
])("a group's name: %s", (name, fits) => {
  expect(isName(name)).toBe(fits);
});

test.each<[string, string, ReturnType<typeof keyFlaw>]>([
  ["team", "", null],
  ["example.com/team", "", null],
  ["", "", "bad"],
  ["a b", "", "bad"],
  ["twin", "", "twice"],
])("a label's key: %s", (key, value, flaw) => {
  const twin = { key: "twin", value: "1" };
  expect(keyFlaw({ key, value }, [twin, { key, value }])).toBe(flaw);
});

test.each([
  ["", true],
  ["a.b", true],
  ["a b", false],
  ["-a", false],
])("a label's value: %s", (value, fits) => {
  expect(isLabelValue(value)).toBe(fits);
});
