/** What somebody wants stored where, what is wrong with it, and the document that says it. */
import type { Edit } from "../../../parts/proposal";

export interface StorageForm {
  readonly name: string;
  readonly isOwn: boolean;
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  readonly namespace: string;
  readonly isReadOnly: boolean;
  readonly mayDelete: boolean;
  readonly mayOverwrite: boolean;
}

export const NEW: StorageForm = {
  name: "",
  isOwn: true,
  bucket: "",
  prefix: "",
  region: "",
  namespace: "",
  isReadOnly: false,
  mayDelete: false,
  mayOverwrite: false,
};

export type Flaw = "name" | "taken" | "bucket" | "prefix" | "region" | "namespace";

const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const ADDRESS = /^\d+\.\d+\.\d+\.\d+$/;
const PREFIX = /^[A-Za-z0-9!_.*'()-][A-Za-z0-9!_.*'()/-]{0,1000}\/$/;
const REGION = /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]$/;

/** `taken`: names of the storages that are there. What it overlooks is found when the change is planned. */
export function flawsOf(form: StorageForm, taken: readonly string[]): ReadonlySet<Flaw> {
  const { name, isOwn, bucket, prefix, region, namespace } = form;
  const flaws = new Set<Flaw>();
  if (!NAME.test(name)) flaws.add("name");
  else if (taken.includes(name)) flaws.add("taken");
  if (!isOwn && (!BUCKET.test(bucket) || bucket.includes("..") || ADDRESS.test(bucket))) flaws.add("bucket");
  if (!isOwn && prefix !== "" && !PREFIX.test(prefix)) flaws.add("prefix");
  if (!isOwn && region !== "" && !REGION.test(region)) flaws.add("region");
  if (namespace !== "" && !NAME.test(namespace)) flaws.add("namespace");
  return flaws;
}

/** Only what differs from what a Storage has by itself. */
export function added(cluster: string, form: StorageForm): Edit {
  const { name, isOwn, bucket, prefix, region, namespace, isReadOnly, mayDelete, mayOverwrite } = form;
  const s3 = isOwn ? {} : { bucket, ...(prefix && { prefix }), ...(region && { region }) };
  const options = isReadOnly
    ? []
    : [...(mayDelete ? ["allow-delete"] : []), ...(mayOverwrite ? ["allow-overwrite"] : [])];
  const spec = {
    s3,
    ...(namespace && { namespace }),
    ...(isReadOnly && { readOnly: true }),
    ...(options.length > 0 && { mountOptions: options }),
  };
  const document = { apiVersion: "instantstart/v1", kind: "Storage", metadata: { name }, spec };
  return { edit: "put", cluster, document };
}

export function removed(cluster: string, name: string): Edit {
  return { edit: "remove", cluster, kind: "Storage", name };
}

/** What stands in a pod that mounts a claim. */
export function mounting(claim: string, isReadOnly: boolean): string {
  return [
    "spec:",
    "  containers:",
    "    - name: main",
    "      volumeMounts:",
    `        - name: ${claim}`,
    "          mountPath: /s3",
    ...(isReadOnly ? ["          readOnly: true"] : []),
    "  volumes:",
    `    - name: ${claim}`,
    "      persistentVolumeClaim:",
    `        claimName: ${claim}`,
    "",
  ].join("\n");
}

export interface Folder {
  readonly name: string;
  /** "" is the Storage's own. */
  readonly path: string;
}

/** The folders from the top down to a path: `models/llm/` is the Storage, models, llm. */
export function foldersTo(storage: string, path: string): readonly Folder[] {
  const names = path.split("/").filter((name) => name !== "");
  return [
    { name: storage, path: "" },
    ...names.map((name, index) => ({ name, path: `${names.slice(0, index + 1).join("/")}/` })),
  ];
}
