import { expect, test } from "vitest";
import type { ClusterView } from "../../../api/schema";
import { clusterView, documentView } from "../../../testing/cluster";
import { person, serve, show, until } from "../../../testing/service";
import { t } from "../../../texts";
import { Deletion, isApplied } from "./deletion";
import { ruleText } from "./policy";
import { Settings } from "./settings";

const DOCUMENT = "GET /api/v1/clusters/prod/documents/Cluster/prod";
const spec = { account: "111122223333", region: "us-west-2", kubernetesVersion: "1.33" };
const model = {
  ...spec,
  network: { vpcCidr: "10.192.0.0/16" },
  hyperpod: { nodeRecovery: "Automatic", provisioning: "Continuous", tags: {} },
  endpoint: { public: true, private: true, publicCidrs: ["0.0.0.0/0"] },
  dependencies: { addons: {} },
  logging: ["api"],
};
const policy = {
  revision: "c".repeat(40),
  path: "clusters/policy.yaml",
  blob: null,
  problems: [],
  spec: {
    approvals: {
      requireFor: ["replace", "delete"],
      rules: [{ paths: ["clusters/prod/**"], costs: [], approvers: ["lead@example.com"], count: 1 }],
      expireAfter: "7d",
    },
    drift: { counts: "restore" },
    directCommit: { paths: [] },
    blastRadius: { maxClusters: 5, maxNodes: 16, maxDeletes: 50, maxGpus: 128, maxRunningJobs: 4 },
    pruneGuard: { maxDeleteShare: 0.5, maxDeletes: 20 },
  },
};
const answers = {
  [DOCUMENT]: documentView("Cluster", "prod", spec, model),
  "GET /api/v1/policy": policy,
  "POST /api/v1/changes": { id: "01j" },
};

type Shown = ReturnType<typeof show>;
const button = ({ page }: Shown, text: string) =>
  page.findAllButtons().find((one) => one.getElement().textContent?.startsWith(text));
const propose = ({ whole }: Shown) => whole.findModal()?.findFooter()?.findButton(`[class*="primary"]`)?.click();
const edits = (service: ReturnType<typeof serve>) =>
  (service.asked.find(({ method }) => method === "POST")?.body as { edits: object[] } | undefined)?.edits;

test("what can be changed, what is fixed and who must approve are told", async () => {
  serve(answers);
  const { page } = show(<Settings view={clusterView()} />);
  await until(() => expect(page.getElement().textContent).toContain("10.192.0.0/16"));
  const text = page.getElement().textContent ?? "";
  for (const one of [
    "1.33",
    t.settings.recoveries.Automatic ?? "",
    t.settings.fixed.text,
    "7 days",
    "1 of lead@example.com",
    t.policy.builtIn,
    t.policy.way("clusters/policy.yaml"),
  ]) {
    expect(text).toContain(one);
  }
});

test("a setting that is changed is the only one that is sent, on the revision that was read", async () => {
  const service = serve(answers);
  const shown = show(<Settings view={clusterView()} />);
  await until(() => expect(button(shown, t.settings.change)?.isDisabled()).toBe(false));
  button(shown, t.settings.change)?.click();
  const content = () => shown.whole.findModal()?.findContent();
  await until(() => expect(content()?.findRadioGroup()).not.toBeNull());
  propose(shown);
  expect(edits(service)).toBeUndefined();
  content()?.findRadioGroup()?.findInputByValue("None")?.click();
  await until(() => expect(content()?.getElement().textContent).toContain("hyperpod.nodeRecovery: Automatic → None"));
  propose(shown);
  await until(() => expect(shown.router.state.location.pathname).toBe("/changes/01j"));
  expect(service.asked.find(({ method }) => method === "POST")?.body).toMatchObject({
    base: "c".repeat(40),
    edits: [{ kind: "Cluster", patch: [{ op: "add", path: "/spec/hyperpod", value: { nodeRecovery: "None" } }] }],
  });
});

test("who may not propose sees everything and changes nothing", async () => {
  serve(answers);
  const shown = show(<Settings view={clusterView()} />, { who: person(["read"]) });
  await until(() => expect(shown.page.getElement().textContent).toContain("1.33"));
  for (const one of [t.settings.change, t.settings.suspension.title, t.deletion.unprotect]) {
    expect(button(shown, one)?.isDisabled()).toBe(true);
  }
});

const open = (more: Partial<ClusterView> = {}) =>
  clusterView({ desired: { ...clusterView().desired, deletion_protection: false }, ...more });
const newer = { ...clusterView().head, commit: "a".repeat(40) } as ClusterView["head"];

test("a protected cluster is not deleted: first the protection goes, by one field", async () => {
  const service = serve(answers);
  const shown = show(<Deletion view={clusterView()} />);
  expect(button(shown, t.deletion.remove)).toBeUndefined();
  button(shown, t.deletion.unprotect)?.click();
  await until(() => {
    propose(shown);
    expect(edits(service)).toMatchObject([
      { kind: "Cluster", patch: [{ op: "add", path: "/spec/deletionProtection", value: false }] },
    ]);
  });
});

test.each<[Partial<ClusterView>, boolean, string]>([
  [{}, true, "what is written is applied"],
  [{ condition: "Reconciling" }, false, "it is on its way"],
  [{ head: newer }, false, "a newer commit is not applied yet"],
  [{ revision: null }, false, "nothing was ever applied"],
])("unprotected and %j may be deleted: %s (%s)", (more, may) => {
  serve({});
  expect(isApplied(open(more))).toBe(may);
  const shown = show(<Deletion view={open(more)} />);
  expect(button(shown, t.deletion.remove)?.isDisabled()).toBe(!may);
});

test("before it is deleted stands what is destroyed and what stays, and its name has to be written", async () => {
  const service = serve(answers);
  const group = { name: "gpu", count: 2, instance_type: "ml.p5.48xlarge" } as ClusterView["desired"]["groups"][number];
  const storage = { name: "s3", bucket: "data" } as ClusterView["desired"]["storages"][number];
  const desired = { ...open().desired, groups: [group], storages: [storage] };
  const shown = show(<Deletion view={open({ desired })} />);
  button(shown, t.deletion.remove)?.click();
  const text = () => shown.whole.findModal()?.getElement().textContent ?? "";
  for (const one of ["gpu: 2 × ml.p5.48xlarge", t.deletion.busy(8), t.deletion.eks, "s3 (data)"]) {
    expect(text()).toContain(one);
  }
  shown.whole.findModal()?.findContent().findInput()?.setInputValue("production");
  propose(shown);
  await until(() => expect(text()).toContain(t.deletion.typeBad));
  expect(edits(service)).toBeUndefined();
  shown.whole.findModal()?.findContent().findInput()?.setInputValue("prod");
  propose(shown);
  await until(() => expect(edits(service)).toEqual([{ edit: "removeCluster", cluster: "prod" }]));
});

test("what was taken over is let go", () => {
  serve({});
  const shown = show(<Deletion view={open({ desired: { ...open().desired, adopts: true } })} />);
  button(shown, t.deletion.remove)?.click();
  expect(shown.whole.findModal()?.getElement().textContent).toContain(t.deletion.released);
});

test.each([
  [
    { paths: ["clusters/a/**"], costs: [], approvers: [], count: 2 },
    "2 of anybody but the author: files: clusters/a/**, before a change of them is merged",
  ],
  [{ paths: [], costs: ["delete"], approvers: ["a", "b"], count: 1 }, "1 of a, b: actions: deleting; all files"],
])("the rule %j in words", (rule, said) => {
  expect(ruleText(rule)).toBe(said);
});
