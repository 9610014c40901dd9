/** A cluster's settings as a form has them: from its document, what is wrong with them, and what becomes different. */
import { t } from "../../../texts";
import type { Label } from "../groups/edits";
import { type Change, pointerOf, type Step, same, stepsOf } from "./patch";

export interface AddonWish {
  readonly name: string;
  /** Empty: the one that EKS recommends. */
  readonly version: string;
  readonly enabled: boolean;
}

export interface AccessWish {
  readonly principal: string;
  readonly policy: string;
  /** Names with a comma between them; empty: the whole cluster. */
  readonly namespaces: string;
}

export interface Wish {
  readonly version: string;
  readonly recovery: string;
  readonly tags: readonly Label[];
  readonly addons: readonly AddonWish[];
  readonly logging: readonly string[];
  readonly isPublic: boolean;
  readonly isPrivate: boolean;
  readonly cidrs: string;
  readonly access: readonly AccessWish[];
  readonly script: string;
}

export type Flaws = Readonly<Partial<Record<keyof Wish, string>>>;
type Fields = Readonly<Record<string, unknown>>;

/** Installed without being named (schemas/documents/dependencies.py; a test holds them equal). */
export const USUAL_ADDONS = [
  "vpc-cni",
  "coredns",
  "kube-proxy",
  "eks-pod-identity-agent",
  "cert-manager",
  "aws-mountpoint-s3-csi-driver",
];
export const NEEDED_ADDONS = ["vpc-cni", "coredns", "kube-proxy"];
export const LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"] as const;
export const POLICIES = [
  "AmazonEKSClusterAdminPolicy",
  "AmazonEKSAdminPolicy",
  "AmazonEKSEditPolicy",
  "AmazonEKSViewPolicy",
] as const;

/** `spec`: with defaults, as the API's `model` has it. */
export function wishOf(spec: Fields): Wish {
  const hyperpod = fields(spec.hyperpod);
  const endpoint = fields(spec.endpoint);
  const addons = fields(fields(spec.dependencies).addons);
  const names = [...new Set([...USUAL_ADDONS, ...Object.keys(addons)])];
  return {
    version: text(spec.kubernetesVersion),
    recovery: text(hyperpod.nodeRecovery),
    tags: Object.entries(fields(hyperpod.tags)).map(([key, value]) => ({ key, value: text(value) })),
    addons: names.map((name) => {
      const { version, enabled } = fields(addons[name]);
      return { name, version: text(version), enabled: enabled !== false };
    }),
    logging: list(spec.logging).map(text),
    isPublic: endpoint.public !== false,
    isPrivate: endpoint.private !== false,
    cidrs: list(endpoint.publicCidrs).join(", "),
    access: list(spec.access).map((entry) => {
      const { principal, policy, namespaces } = fields(entry);
      return { principal: text(principal), policy: text(policy), namespaces: list(namespaces).join(", ") };
    }),
    script: text(spec.lifecycleScript),
  };
}

const ADDON = /^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/;
const ADDON_VERSION = /^(?:v[0-9]+\.[0-9]+\.[0-9]+(?:-[a-z0-9.]+)?)?$/;
const TAG = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/u;
const RESERVED = /^(?:aws:|instantstart:)|^SageMaker$/i;
const CIDR = /^\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}$/;
const PRINCIPAL = /^arn:aws[a-z-]*:iam::[0-9]{12}:(?:role|user)\/[A-Za-z0-9_+=,.@/-]{1,512}$/;
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SCRIPT = /^(?:(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?$/;

export function flawsOf(wish: Wish, now: Wish): Flaws {
  const words = t.settings.flaws;
  const found: { -readonly [Field in keyof Flaws]: Flaws[Field] } = {};
  const [minor, before] = [minorOf(wish.version), minorOf(now.version)];
  if (minor === null || before === null || minor < before || minor > before + 1) found.version = words.version;
  if (wish.tags.some(({ key, value }) => !TAG.test(key) || RESERVED.test(key) || value.length > 256)) {
    found.tags = words.tags;
  } else if (isTwice(wish.tags.map(({ key }) => key))) found.tags = words.twice;
  if (wish.addons.some(({ name, version }) => !ADDON.test(name) || !ADDON_VERSION.test(version))) {
    found.addons = words.addons;
  } else if (isTwice(wish.addons.map(({ name }) => name))) found.addons = words.twice;
  else if (wish.addons.some(({ name, enabled }) => NEEDED_ADDONS.includes(name) && !enabled)) {
    found.addons = words.needed(NEEDED_ADDONS.join(", "));
  }
  if (!wish.isPublic && !wish.isPrivate) found.isPublic = words.nobody;
  if (wish.isPublic && (parts(wish.cidrs).length === 0 || parts(wish.cidrs).some((one) => !CIDR.test(one)))) {
    found.cidrs = words.cidrs;
  }
  if (wish.access.some((one) => !PRINCIPAL.test(one.principal))) found.access = words.principal;
  else if (wish.access.some(({ namespaces }) => parts(namespaces).some((one) => !NAMESPACE.test(one)))) {
    found.access = words.namespaces;
  } else if (isTwice(wish.access.map(idOf))) found.access = words.twice;
  if (!SCRIPT.test(wish.script)) found.script = words.script;
  return found;
}

/** `document`: as it is written. Only what the form made different is a step. */
export function settingSteps(document: object, now: Wish, wish: Wish): Step[] {
  const changes: Change[] = [];
  const set = (path: readonly string[], before: unknown, value: unknown) => {
    if (!same(before, value)) changes.push({ path: ["spec", ...path], value });
  };
  set(["kubernetesVersion"], now.version, wish.version);
  set(["hyperpod", "nodeRecovery"], now.recovery, wish.recovery);
  const [tagsNow, tags] = [now.tags, wish.tags].map((all) => new Map(all.map(({ key, value }) => [key, value])));
  for (const key of new Set([...(tagsNow?.keys() ?? []), ...(tags?.keys() ?? [])])) {
    set(["hyperpod", "tags", key], tagsNow?.get(key), tags?.get(key));
  }
  for (const before of now.addons) {
    if (!wish.addons.some(({ name }) => name === before.name)) {
      changes.push({ path: ["spec", "dependencies", "addons", before.name], value: undefined });
    }
  }
  for (const { name, version, enabled } of wish.addons) {
    const before = now.addons.find((one) => one.name === name);
    const place = ["dependencies", "addons", name];
    if (before === undefined) {
      changes.push({ path: ["spec", ...place], value: { ...(version && { version }), ...(!enabled && { enabled }) } });
      continue;
    }
    set([...place, "version"], before.version || undefined, version || undefined);
    set([...place, "enabled"], before.enabled, enabled);
  }
  set(["logging"], sorted(now.logging), sorted(wish.logging));
  set(["endpoint", "public"], now.isPublic, wish.isPublic);
  set(["endpoint", "private"], now.isPrivate, wish.isPrivate);
  if (wish.isPublic) set(["endpoint", "publicCidrs"], parts(now.cidrs), parts(wish.cidrs));
  else if (now.isPublic) changes.push({ path: ["spec", "endpoint", "publicCidrs"], value: undefined });
  set(["lifecycleScript"], now.script || undefined, wish.script || undefined);
  return [...stepsOf(document, changes), ...accessSteps(document, now.access, wish.access)];
}

/** Entry by entry, so that somebody else's stay as they are. */
function accessSteps(document: object, now: readonly AccessWish[], wish: readonly AccessWish[]): Step[] {
  const at = (index: number | string, ...more: string[]) => pointerOf(["spec", "access", index, ...more]);
  const gone = now.flatMap((one, index) => (wish.some((other) => idOf(other) === idOf(one)) ? [] : [index]));
  const stay = now.filter((_, index) => !gone.includes(index));
  const added = wish.filter((one) => !now.some((other) => idOf(other) === idOf(one)));
  const steps: Step[] = gone.toReversed().map((index) => ({ op: "remove", path: at(index) }));
  stay.forEach((before, index) => {
    const names = parts(wish.find((one) => idOf(one) === idOf(before))?.namespaces ?? "");
    const written = parts(before.namespaces);
    if (same(names, written)) return;
    const op = names.length === 0 ? "remove" : written.length === 0 ? "add" : "replace";
    steps.push({ op, path: at(index, "namespaces"), ...(names.length > 0 && { value: names }) });
  });
  const made = added.map(({ principal, policy, namespaces }) => {
    const names = parts(namespaces);
    return { principal, policy, ...(names.length > 0 && { namespaces: names }) };
  });
  const spec = fields((document as Fields).spec);
  if (made.length > 0 && spec.access === undefined) return [{ op: "add", path: "/spec/access", value: made }];
  return [...steps, ...made.map((value): Step => ({ op: "add", path: at("-"), value }))];
}

function idOf({ principal, policy }: AccessWish): string {
  return `${principal} ${policy}`;
}

/** Texts with commas or spaces between them. */
export function parts(written: string): string[] {
  return written.split(/[\s,]+/).filter(Boolean);
}

export function minorOf(version: string): number | null {
  const found = /^1\.(\d{2})$/.exec(version);
  return found === null ? null : Number(found[1]);
}

function sorted(names: readonly string[]): string[] {
  return LOGS.filter((name) => names.includes(name));
}

function isTwice(names: readonly string[]): boolean {
  return new Set(names).size < names.length;
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}
