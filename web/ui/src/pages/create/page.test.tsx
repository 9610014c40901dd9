import { expect, test } from "vitest";
import { serve, show, until } from "../../testing/service";
import { t } from "../../texts";
import { Component } from "./page";

const words = t.create;

function open() {
  const service = serve({
    "GET /api/v1/clusters": { items: [], next: null },
    "GET /api/v1/offerings": { account: "111122223333", region: "us-west-2", kubernetes_versions: [], parts: [] },
  });
  const shown = show(<Component />, { path: "/clusters/new" });
  const button = (name: string) =>
    shown.whole.findAllButtons().find((one) => one.getElement().textContent === name && !one.isDisabled());
  const place = () => shown.router.state.location.pathname;
  return { ...shown, service, button, place };
}

test("the page has one heading of the first level, in every step", async () => {
  const { page } = open();
  await until(() => expect(page.findWizard()).not.toBeNull());
  const first = [...page.getElement().querySelectorAll("h1:not([aria-level])")].map((one) => one.textContent);
  expect(first).toEqual([words.title]);
  expect(page.find("h1[aria-level='2']")?.getElement().textContent).toContain(words.steps.cluster.title);
});

test("who typed nothing leaves at once", async () => {
  const { button, place, service } = open();
  await until(() => expect(button(t.common.cancel)).toBeDefined());
  button(t.common.cancel)?.click();
  await until(() => expect(place()).toBe("/"));
  expect(service.asked.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("who typed something is asked before it is lost, and leaves nothing behind", async () => {
  const { page, whole, button, place, service } = open();
  await until(() => expect(page.findInput()).not.toBeNull());
  page.findInput()?.setInputValue("research");
  button(t.common.cancel)?.click();
  await until(() => expect(whole.findModal()?.getElement().textContent).toContain(words.leave.text));
  expect(place()).toBe("/clusters/new");
  whole.findModal()?.findFooter()?.findAll("button")[0]?.click(); // no
  await until(() => expect(whole.findModal()).toBeNull());
  expect(page.findInput()?.getInputValue()).toBe("research");
  button(t.common.cancel)?.click();
  await until(() => expect(button(words.leave.yes)).toBeDefined());
  button(words.leave.yes)?.click();
  await until(() => expect(place()).toBe("/"));
  expect(service.asked.filter(({ method }) => method !== "GET")).toEqual([]);
});
