import { expect, test } from "vitest";
import { t } from "../../../texts";
import { stepsOf } from "./patch";
import { type Flaws, flawsOf, settingSteps, type Wish, wishOf } from "./wish";

const words = t.settings.flaws;
const ROLE = "arn:aws:iam::111122223333:role/researcher";
const entry = { principal: ROLE, policy: "AmazonEKSViewPolicy", namespaces: "" };
const model = {
  kubernetesVersion: "1.33",
  hyperpod: { nodeRecovery: "Automatic", provisioning: "Continuous", tags: { team: "a" } },
  endpoint: { public: true, private: true, publicCidrs: ["0.0.0.0/0"] },
  logging: ["api", "audit", "authenticator", "controllerManager", "scheduler"],
  dependencies: { addons: { "aws-fsx-csi-driver": { enabled: true, values: {} } } },
  access: [{ principal: ROLE, policy: "AmazonEKSViewPolicy" }],
};
const now = wishOf(model);
const written = { spec: { kubernetesVersion: "1.33", hyperpod: { tags: { team: "a" } }, access: model.access } };

test.each<[string, Partial<Wish>, object[]]>([
  ["nothing", {}, []],
  ["the version", { version: "1.34" }, [{ op: "replace", path: "/spec/kubernetesVersion", value: "1.34" }]],
  ["a field beside others", { recovery: "None" }, [{ op: "add", path: "/spec/hyperpod/nodeRecovery", value: "None" }]],
  [
    "one tag of several",
    {
      tags: [
        { key: "team", value: "a" },
        { key: "x/y", value: "" },
      ],
    },
    [{ op: "add", path: "/spec/hyperpod/tags/x~1y", value: "" }],
  ],
  ["a tag that goes", { tags: [] }, [{ op: "remove", path: "/spec/hyperpod/tags/team" }]],
  [
    "two fields of what is not written yet come one after the other",
    { isPrivate: false, cidrs: "203.0.113.0/24" },
    [
      { op: "add", path: "/spec/endpoint", value: { private: false } },
      { op: "add", path: "/spec/endpoint/publicCidrs", value: ["203.0.113.0/24"] },
    ],
  ],
  ["the same logs in another order", { logging: [...now.logging].toReversed() }, []],
  [
    "the version of an add-on that nobody wrote",
    { addons: now.addons.map((one) => (one.name === "vpc-cni" ? { ...one, version: "v1.19.2" } : one)) },
    [{ op: "add", path: "/spec/dependencies", value: { addons: { "vpc-cni": { version: "v1.19.2" } } } }],
  ],
  ["an entry that goes", { access: [] }, [{ op: "remove", path: "/spec/access/0" }]],
  [
    "an entry beside it",
    { access: [entry, { ...entry, policy: "AmazonEKSEditPolicy", namespaces: "a, b" }] },
    [
      {
        op: "add",
        path: "/spec/access/-",
        value: { principal: ROLE, policy: "AmazonEKSEditPolicy", namespaces: ["a", "b"] },
      },
    ],
  ],
  [
    "an entry's namespaces",
    { access: [{ ...entry, namespaces: "a" }] },
    [{ op: "add", path: "/spec/access/0/namespaces", value: ["a"] }],
  ],
])("only what became different is a step: %s", (_, more, steps) => {
  expect(settingSteps(written, now, { ...now, ...more })).toEqual(steps);
});

test.each<[Partial<Wish>, Flaws]>([
  [{}, {}],
  [{ version: "1.34" }, {}],
  [{ version: "1.35" }, { version: words.version }],
  [{ version: "1.32" }, { version: words.version }],
  [{ tags: [{ key: "aws:x", value: "" }] }, { tags: words.tags }],
  [
    {
      tags: [
        { key: "x", value: "" },
        { key: "x", value: "1" },
      ],
    },
    { tags: words.twice },
  ],
  [
    { addons: [{ name: "coredns", version: "", enabled: false }] },
    { addons: words.needed("vpc-cni, coredns, kube-proxy") },
  ],
  [{ addons: [{ name: "x", version: "1.2", enabled: true }] }, { addons: words.addons }],
  [{ isPublic: false, isPrivate: false }, { isPublic: words.nobody }],
  [{ cidrs: "everywhere" }, { cidrs: words.cidrs }],
  [{ isPublic: false, cidrs: "everywhere" }, {}],
  [{ access: [{ ...entry, principal: "researcher" }] }, { access: words.principal }],
  [{ access: [entry, entry] }, { access: words.twice }],
  [{ script: "../x.sh" }, { script: words.script }],
])("what is wrong with %j", (more, flaws) => {
  expect(flawsOf({ ...now, ...more }, now)).toEqual(flaws);
});

test.each<[object, readonly string[], unknown, object[]]>([
  [{ a: { b: 1 } }, ["a", "b"], 1, []],
  [{ a: { b: 1 } }, ["a", "b"], undefined, [{ op: "remove", path: "/a/b" }]],
  [{}, ["a", "b"], undefined, []],
  [{ a: null }, ["a", "b"], 1, [{ op: "replace", path: "/a", value: { b: 1 } }]],
])("in %j the field %j as %j", (document, path, value, steps) => {
  const before = structuredClone(document);
  expect(stepsOf(document, [{ path, value }])).toEqual(steps);
  expect(document).toEqual(before); // what is shown stays as it was read
});
