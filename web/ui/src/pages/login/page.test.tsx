import { expect, test } from "vitest";
import { person, problem, serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { codeOf } from "./code";
import { Component } from "./page";

const CODE = "a".repeat(43);

test.each<[string, string | null, string]>([
  [`http://localhost:3099/login#${CODE}`, CODE, "a whole link"],
  [`#${CODE}`, CODE, "its fragment"],
  [`  ${CODE}\n`, CODE, "the code, as it was copied"],
  [`is_${CODE}`, `is_${CODE}`, "a token"],
  ["", null, "nothing"],
  ["http://localhost:3099/login", null, "a link without a code"],
  ["too-short", null, "too short for one"],
])("%j is the code %j: %s", (text, code) => {
  expect(codeOf(text)).toBe(code);
});

test("a link's code is used once, leaves the address, and leads to where one wanted to go", async () => {
  const service = serve({ "POST /api/v1/session": person() });
  const { router } = show(<Component />, { path: `/login#${CODE}` });
  await until(() => expect(router.state.location.pathname).toBe("/"));
  expect(service.asked).toEqual([{ method: "POST", path: "/api/v1/session", body: { code: CODE } }]);
  expect(router.state.location.hash).toBe("");
});

test("a code that is over is told, with the way to a new one", async () => {
  const over = problem(401, "LinkOver", "this link was used already", { way_out: "run instantstart login-link" });
  serve({ "POST /api/v1/session": () => over });
  const { page } = show(<Component />, { path: `/login#${CODE}` });
  await until(() => expect(page.findAlert()?.findHeader()?.getElement().textContent).toBe(t.login.failed));
  expect(page.findAlert()?.findContent().getElement().textContent).toContain("run instantstart login-link");
  expect(page.findInput()).not.toBeNull();
});

test("what is no code is not sent", async () => {
  const service = serve({});
  const { page } = show(<Component />, { path: "/login" });
  page.findInput()?.setInputValue("nonsense");
  page.findForm()?.findActions()?.findButton()?.click();
  await until(() => expect(page.findFormField()?.findError()?.getElement().textContent).toBe(t.login.codeBad));
  expect(service.asked).toEqual([]);
});
