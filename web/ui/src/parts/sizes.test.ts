import { expect, test } from "vitest";
import { sizeText } from "./sizes";

test.each([
  [0, "0 B", "nothing"],
  [999, "999 B", "bytes are told whole"],
  [1000, "0.977 KiB", "no more than three digits"],
  [1024, "1 KiB", "exactly one"],
  [13_407_731_712, "12.5 GiB", "a checkpoint"],
  [1024 ** 5 * 2048, "2,050 PiB", "there is no larger unit"],
])("%i bytes are %s: %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
