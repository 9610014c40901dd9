/** A new cluster as its form asks for it: what is wrong with it, and the documents that it makes. */
import type { OfferingsView } from "../../api/schema";
import { type MachineFlaws, type Machines, flawsOf as machineFlaws, specOf } from "../../parts/machines/machine";
import type { Edit } from "../../parts/proposal";
import { t } from "../../texts";

export interface Wish {
  readonly name: string;
  readonly account: string;
  readonly region: string;
  readonly version: string;
  readonly group: string;
  readonly machines: Machines;
  readonly storage: "own" | "bucket" | "none";
  readonly bucket: string;
}

export interface Flaws {
  readonly name?: string;
  readonly account?: string;
  readonly region?: string;
  readonly version?: string;
  readonly group?: string;
  readonly bucket?: string;
  readonly machines: MachineFlaws;
}

export type Document = { readonly [field: string]: unknown };

const NAME = /^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$/;
export const REGION = /^[a-z]{2,5}(-[a-z]{2,12})+-[0-9]$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const GROUP = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;

export function flawsOf(wish: Wish, taken: readonly string[], offers: OfferingsView | undefined): Flaws {
  const found: { -readonly [Name in keyof Flaws]: Flaws[Name] } = { machines: machineFlaws(wish.machines, offers) };
  if (!NAME.test(wish.name)) found.name = t.create.nameBad;
  else if (taken.includes(wish.name)) found.name = t.create.nameTaken;
  if (!/^\d{12}$/.test(wish.account)) found.account = t.create.accountBad;
  if (!REGION.test(wish.region)) found.region = t.create.regionBad;
  if (!/^1\.\d{2}$/.test(wish.version)) found.version = t.create.versionBad;
  if (!GROUP.test(wish.group)) found.group = t.groups.add.nameBad;
  if (wish.storage === "bucket" && !BUCKET.test(wish.bucket)) found.bucket = t.create.storage.bucketBad;
  return found;
}

/** Whether a step of the wizard, from 0, may be left. */
export function isFine(flaws: Flaws, step: number): boolean {
  if (step === 0) return !(flaws.name || flaws.account || flaws.region || flaws.version);
  if (step === 1) return !flaws.group && Object.keys(flaws.machines).length === 0;
  return step !== 2 || !flaws.bucket;
}

export function documentsOf(wish: Wish): Document[] {
  const { name, account, region, version, group, machines, storage, bucket } = wish;
  const document = (kind: string, called: string, spec: object): Document => ({
    apiVersion: "instantstart/v1",
    kind,
    metadata: { name: called },
    spec,
  });
  return [
    document("Cluster", name, { account, region, kubernetesVersion: version }),
    document("InstanceGroup", group, specOf(machines)),
    ...(storage === "none" ? [] : [document("Storage", "s3", { s3: storage === "bucket" ? { bucket } : {} })]),
  ];
}

export function editsOf(wish: Wish): Edit[] {
  return documentsOf(wish).map((document) => ({ edit: "put", cluster: wish.name, document }));
}

/** Documents of plain maps, texts and numbers, as YAML. */
export function yamlOf(documents: readonly Document[]): string {
  return documents.map((document) => linesOf(document, 0).join("\n")).join("\n---\n");
}

function linesOf(map: object, depth: number): string[] {
  const indent = "  ".repeat(depth);
  return Object.entries(map).flatMap(([key, value]) => {
    if (typeof value !== "object" || value === null) return [`${indent}${key}: ${scalar(value)}`];
    if (Object.keys(value).length === 0) return [`${indent}${key}: {}`];
    return [`${indent}${key}:`, ...linesOf(value, depth + 1)];
  });
}

/** A text that YAML would take for a number is quoted: an account and a version are texts. */
function scalar(value: unknown): string {
  return typeof value === "string" && /^[\d.]*$|[:#]\s|^[\s"'&*!|>%@`[{]/.test(value)
    ? JSON.stringify(value)
    : String(value);
}
