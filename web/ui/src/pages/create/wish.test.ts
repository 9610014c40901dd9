import { expect, test } from "vitest";
import { MACHINES } from "../../parts/machines/machine";
import { documentsOf, flawsOf, isFine, type Wish, yamlOf } from "./wish";

const WISH: Wish = {
  name: "research",
  account: "111122223333",
  region: "us-west-2",
  version: "1.33",
  group: "workers",
  machines: { ...MACHINES, type: "ml.p5.48xlarge", count: "4" },
  storage: "own",
  bucket: "",
};

test.each<[string, Partial<Wish>, number]>([
  ["a name with capitals", { name: "Research" }, 0],
  ["a name that is taken", { name: "prod" }, 0],
  ["an account of 11 digits", { account: "11112222333" }, 0],
  ["a zone for a Region", { region: "us-west-2a" }, 0],
  ["a version without its minor", { version: "1" }, 0],
  ["a group without a name", { group: "" }, 1],
  ["a type that is none of HyperPod", { machines: { ...WISH.machines, type: "p5.48xlarge" } }, 1],
  ["half a machine", { machines: { ...WISH.machines, count: "1.5" } }, 1],
  ["a training plan without its ARN", { machines: { ...WISH.machines, capacity: "trainingPlan" } }, 1],
  ["an existing bucket without a name", { storage: "bucket" }, 2],
])("%s is found at its step", (_, more, step) => {
  const flaws = flawsOf({ ...WISH, ...more }, ["prod"], undefined);
  expect([0, 1, 2].map((one) => isFine(flaws, one))).toEqual([0, 1, 2].map((one) => one !== step));
});

test("only what was decided is written", () => {
  expect(yamlOf(documentsOf(WISH))).toBe(`apiVersion: instantstart/v1
kind: Cluster
metadata:
  name: research
spec:
  account: "111122223333"
  region: us-west-2
  kubernetesVersion: "1.33"
---
apiVersion: instantstart/v1
kind: InstanceGroup
metadata:
  name: workers
spec:
  instanceType: ml.p5.48xlarge
  count: 4
---
apiVersion: instantstart/v1
kind: Storage
metadata:
  name: s3
spec:
  s3: {}`);
});

test("no storage, no document; spot and a zone are said", () => {
  const machines = { ...WISH.machines, capacity: "spot" as const, zone: "usw2-az2" };
  const documents = documentsOf({ ...WISH, storage: "none", machines });
  expect(documents).toHaveLength(2);
  expect(documents[1]?.spec).toEqual({
    instanceType: "ml.p5.48xlarge",
    count: 4,
    zone: "usw2-az2",
    capacity: { spot: {} },
  });
});
