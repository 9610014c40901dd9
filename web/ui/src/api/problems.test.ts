import { expect, test } from "vitest";
import { json, problem } from "../testing/service";
import { asProblem, flawOf, isPassing, ofResponse, unreachable } from "./problems";

test("problem details are taken as they are, with what is left out as null", async () => {
  const told = await ofResponse(problem(409, "Conflict", "somebody was faster", { way_out: "look again" }));
  expect([told.status, told.reason, told.detail, told.way_out, told.errors]).toEqual([
    409,
    "Conflict",
    "somebody was faster",
    "look again",
    null,
  ]);
});

test.each([
  [new Response("<html>", { status: 502, statusText: "Bad Gateway" }), "a proxy's page"],
  [json({ message: "no" }, 500), "JSON of somebody else"],
  [new Response("", { status: 503 }), "nothing"],
])("%o is an unexpected answer: %s", async (response) => {
  const told = await ofResponse(response);
  expect([told.reason, told.status]).toEqual(["UnexpectedAnswer", response.status]);
});

test.each<[unknown, boolean, string]>([
  [unreachable(new TypeError("failed")), true, "the service is away"],
  [asProblem(new Error("broke")), false, "the page's own mistake"],
])("%o passes: %s (%s)", (error, passes) => {
  expect(isPassing(asProblem(error))).toBe(passes);
});

test.each<[string, string, string | undefined, string]>([
  ["body/days", "days", "a number. At most 366", "as the framework writes it"],
  ["/days", "days", "a number. At most 366", "as a JSON pointer"],
  ["body/spec/days", "days", undefined, "another field of that name"],
  ["body/spec/days", "spec/days", "a number. At most 366", "a field within"],
])("a flaw at %s is of the field %s: %s (%s)", async (where, field, text) => {
  const flaw = { where, expected: "a number", found: "str", hint: "At most 366" };
  expect(flawOf(await ofResponse(problem(422, "InvalidRequest", "", { errors: [flaw] })), field)).toBe(text);
});
