import { expect, test } from "vitest";
import { inWords } from "./said";

test.each([
  ["hyperpod.InstanceGroup/prod/gpu is created", "instance group gpu is created", "the last name is the thing's own"],
  [
    "needs eks.Cluster/prod, iam.Role/prod-x.",
    "needs EKS cluster prod, role prod-x.",
    "several, with what stands after",
  ],
  ["batch.Job/prod/train waits", "batch.Job/prod/train waits", "a kind that has no word here"],
  ["see https://example.com/A/b", "see https://example.com/A/b", "an address is no key"],
  ["nothing of ours", "nothing of ours", "plain words"],
])("%s", (said, words, why) => {
  expect(inWords(said), why).toBe(words);
});
