import { expect, test } from "vitest";
import type { TokenMade, TokenView } from "../../api/schema";
import { json, person, problem, serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { Component } from "./page";

const TOKENS = "GET /api/v1/tokens?limit=500";
const day = 86_400_000;
const agent: TokenView = {
  id: "01j",
  name: "training-assistant",
  kind: "agent",
  scopes: ["read"],
  reach: { paths: ["clusters/team-a/**"], kinds: ["Storage"] },
  created: new Date(Date.now() - day).toISOString(),
  created_by: "platform-engineer@example.com",
  expires: new Date(Date.now() + 3 * day + 60_000).toISOString(),
};
const made: TokenMade = { ...agent, token: `is_${"a".repeat(43)}` };

test("who may not make tokens is told which scope they need, and asks for none", async () => {
  const service = serve({});
  const { page } = show(<Component />, { who: person(["read", "propose"]) });
  expect(page.findAlert()?.findContent().getElement().textContent).toBe(t.common.missingScope("operate"));
  expect(service.asked.filter(({ path }) => path.includes("tokens"))).toEqual([]);
});

test("a token tells how long it still lives, and one that is over says so", async () => {
  const over = { ...agent, id: "01k", expires: new Date(Date.now() - day).toISOString() };
  serve({ [TOKENS]: { items: [agent, over], next: null } });
  const { page } = show(<Component />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(2));
  expect(page.findTable()?.findRows()[0]?.getElement().textContent).toContain("in 3 days");
  expect(page.findTable()?.findRows()[1]?.getElement().textContent).toContain(t.tokens.over);
  expect(page.findTable()?.findRows()[0]?.getElement().textContent).toContain(
    t.tokens.reaches("clusters/team-a/**; Storage"),
  );
});

test("only what the form says is sent, and the token is shown", async () => {
  const service = serve({ [TOKENS]: { items: [], next: null }, "POST /api/v1/tokens": () => json(made, 201) });
  const { page, whole } = show(<Component />);
  await until(() => expect(page.getElement().textContent).toContain(t.tokens.empty.title));
  page.findContainer()?.findContent().findButton()?.click();
  const submit = () => whole.findModal()?.findFooter()?.findAllButtons()[1]?.click();
  submit();
  await until(() => expect(whole.findModal()?.getElement().textContent).toContain(t.tokens.form.nameBad));
  whole.findModal()?.findContent().findInput()?.setInputValue("training-assistant");
  submit();
  await until(() => expect(whole.findModal()?.getElement().textContent).toContain(made.token));
  expect(service.asked.filter(({ method }) => method === "POST").map(({ body }) => body)).toEqual([
    { kind: "agent", name: "training-assistant", scopes: ["read"], days: 30, reach: { paths: [], kinds: [] } },
  ]);
});

test("what the API finds wrong stands at its field", async () => {
  const flaw = { where: "body/name", expected: "another name", found: "str" };
  const wrong = () => problem(422, "InvalidRequest", "it has not the form", { errors: [flaw] });
  serve({ [TOKENS]: { items: [], next: null }, "POST /api/v1/tokens": wrong });
  const { page, whole } = show(<Component />);
  await until(() => expect(page.getElement().textContent).toContain(t.tokens.empty.title));
  page.findContainer()?.findContent().findButton()?.click();
  whole.findModal()?.findContent().findInput()?.setInputValue("x");
  whole.findModal()?.findFooter()?.findAllButtons()[1]?.click();
  const field = () => whole.findModal()?.findContent().findAllFormFields()[1];
  await until(() => expect(field()?.findError()?.getElement().textContent).toBe("another name"));
});

test("a token is revoked after a question, and the list read again", async () => {
  let items = [agent];
  const service = serve({
    [TOKENS]: () => ({ items, next: null }),
    "DELETE /api/v1/tokens/01j": () => {
      items = [];
      return new Response(null, { status: 204 });
    },
  });
  const { page, whole } = show(<Component />);
  await until(() => expect(page.findTable()?.findRows()).toHaveLength(1));
  page.findTable()?.findRows()[0]?.findButton()?.click();
  expect(service.asked.some(({ method }) => method === "DELETE")).toBe(false);
  whole.findModal()?.findFooter()?.findAllButtons()[1]?.click();
  await until(() => expect(page.getElement().textContent).toContain(t.tokens.empty.title));
});
