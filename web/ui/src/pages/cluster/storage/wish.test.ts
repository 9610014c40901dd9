import { expect, test } from "vitest";
import { added, flawsOf, foldersTo, mounting, NEW, removed, type StorageForm } from "./wish";

test.each<[Partial<StorageForm>, readonly string[], string]>([
  [{ name: "shared" }, [], "a name is enough"],
  [{}, ["name"], "there is none"],
  [{ name: "Shared" }, ["name"], "Kubernetes takes small letters"],
  [{ name: "data" }, ["taken"], "it is there already"],
  [{ name: "x", bucket: "NO" }, [], "what is not shown is not judged"],
  [{ name: "x", isOwn: false }, ["bucket"], "which bucket?"],
  [{ name: "x", isOwn: false, bucket: "a..b" }, ["bucket"], "two dots"],
  [{ name: "x", isOwn: false, bucket: "10.0.0.1" }, ["bucket"], "an address"],
  [{ name: "x", isOwn: false, bucket: "example-data" }, [], "all of a bucket"],
  [{ name: "x", isOwn: false, bucket: "example-data", prefix: "sets" }, ["prefix"], "no slash at the end"],
  [{ name: "x", isOwn: false, bucket: "example-data", prefix: "/sets/" }, ["prefix"], "a slash in front"],
  [{ name: "x", isOwn: false, bucket: "example-data", prefix: "sets/", region: "usw2" }, ["region"], "no Region"],
  [{ name: "x", namespace: "a_b" }, ["namespace"], "no namespace has such a name"],
])("%j is wrong in %j: %s", (change, flaws) => {
  expect([...flawsOf({ ...NEW, ...change }, ["data"])]).toEqual(flaws);
});

test.each<[Partial<StorageForm>, object, string]>([
  [{}, { s3: {} }, "the cluster's own"],
  [{ bucket: "left-over" }, { s3: {} }, "what was written before one chose otherwise is not sent"],
  [
    { isOwn: false, bucket: "example-data", prefix: "sets/", region: "us-east-1", namespace: "training" },
    { s3: { bucket: "example-data", prefix: "sets/", region: "us-east-1" }, namespace: "training" },
    "part of another bucket",
  ],
  [{ isReadOnly: true, mayDelete: true }, { s3: {}, readOnly: true }, "who only reads deletes nothing"],
  [{ mayDelete: true, mayOverwrite: true }, { s3: {}, mountOptions: ["allow-delete", "allow-overwrite"] }, "rights"],
])("%j is written as %j: %s", (change, spec) => {
  const document = { apiVersion: "instantstart/v1", kind: "Storage", metadata: { name: "shared" }, spec };
  expect(added("prod", { ...NEW, name: "shared", ...change })).toEqual({ edit: "put", cluster: "prod", document });
});

test("to delete a Storage names it", () => {
  expect(removed("prod", "shared")).toEqual({ edit: "remove", cluster: "prod", kind: "Storage", name: "shared" });
});

test("the lines of a pod name the claim, and say that it only reads", () => {
  expect(mounting("shared", false)).toContain("claimName: shared\n");
  expect(mounting("shared", false)).not.toContain("readOnly");
  expect(mounting("shared", true)).toContain("          readOnly: true\n  volumes:");
});

test.each([
  ["", [["shared", ""]], "the Storage itself"],
  [
    "models/llm/",
    [
      ["shared", ""],
      ["models", "models/"],
      ["llm", "models/llm/"],
    ],
    "two folders down",
  ],
  [
    "models",
    [
      ["shared", ""],
      ["models", "models/"],
    ],
    "as somebody wrote it in the address",
  ],
])("the way to %j is %j: %s", (path, folders) => {
  expect(foldersTo("shared", path).map(({ name, path: to }) => [name, to])).toEqual(folders);
});
